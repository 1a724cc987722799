"""Losses over many classes, grouped in a tree or in clusters by frequency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.no_effect import DENSE, ONE_PROCESS, no_effect
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .bounds import expect_within
from .dynamic import concrete, fresh
from .on_host import HostResult, on_host
from .random import randperm

__all__ = ["adaptive_log_softmax_with_loss", "class_center_sample", "hsigmoid_loss"]

# Scores of nodes are clamped to this.
_MOST = 40.0


def _path(label: Any, num_classes: int) -> tuple[Any, Any]:
    """Return the nodes from the root to each class of a complete binary tree [n, longest], and the turns; -1 pads."""
    code = label.reshape(-1, 1).astype(jnp.int64) + num_classes
    down = jnp.arange((2 * num_classes - 1).bit_length() - 1)
    above = code >> (down + 1)
    return jnp.where(above > 0, above - 1, -1), (code >> down) & 1


@op(name="hsigmoid_loss", amp="black")
def _hsigmoid(
    x: Any, label: Any, weight: Any, bias: Any = None, table: Any = None, code: Any = None, /, *, num_classes: int
) -> Any:
    nodes, turns = _path(label, num_classes) if table is None else (table, code)
    there, at = nodes >= 0, jnp.maximum(nodes, 0)
    score = jnp.einsum("nd,nkd->nk", x, weight[at])
    score = score if bias is None else score + bias.reshape(-1)[at]
    score = score + jax.lax.stop_gradient(jnp.clip(score, -_MOST, _MOST) - score)
    score = jnp.where(there, score, 0)
    # A path shorter than the longest adds log 2 for each missing node.
    return jnp.sum(jax.nn.softplus(score) - jnp.where(there, turns, 0) * score, -1, keepdims=True)


@no_effect(is_sparse=DENSE)
def hsigmoid_loss(
    input: Tensor,
    label: Tensor,
    num_classes: int,
    weight: Tensor,
    bias: Tensor | None = None,
    path_table: Tensor | None = None,
    path_code: Tensor | None = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Compute the hierarchical sigmoid loss: binary decisions along the path from the root to the class's leaf.

    Arguments:
        input: float tensor [N, D].
        label: integer tensor [N] or [N, 1].
        num_classes: int, number of leaves of the default tree, a complete binary one.
        weight: float tensor [num_classes - 1, D], one row per inner node.
        bias: float tensor [num_classes - 1, 1]; None: no bias.
        path_table: integer tensor [N, max_path_length] for a custom tree, the nodes on each sample's path, padded with
            -1.
        path_code: integer tensor with the shape of `path_table`, the decision (0 or 1) at each node.

    Returns:
        The losses [N, 1].

    Raises:
        ValueError: if `num_classes` is below 2, only one of `path_table` and `path_code` is given, or a label is out of
            range.

    Source: Morin and Bengio, Hierarchical Probabilistic Neural Network Language Model, 2005.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label, w = paddle.zeros([1, 3]), paddle.to_tensor([1]), paddle.zeros([3, 3])
        >>> round(paddle.nn.functional.hsigmoid_loss(x, label, 4, w).item(), 4)
        1.3863
    """
    if num_classes < 2:
        raise ValueError(f"hsigmoid_loss: num_classes is {num_classes}; expected at least 2")
    if (path_table is None) != (path_code is None):
        raise ValueError("hsigmoid_loss: give both of path_table and path_code, or none")
    if path_table is None:
        expect_within(label, 0, num_classes, "label")
    fn: Any = _hsigmoid
    return fn(input, label, weight, bias, path_table, path_code, num_classes=num_classes)


@op(name="adaptive_log_softmax", amp="black")
def _adaptive(x: Any, label: Any, head: Any, tails: list[Any], bias: Any = None, /, *, cutoffs: Any) -> Any:
    logits = x @ head if bias is None else x @ head + bias
    cluster = jnp.searchsorted(jnp.array(cutoffs), label, side="right")
    at = jnp.where(cluster > 0, cutoffs[0] + cluster - 1, label)
    out = _picked(jax.nn.log_softmax(logits), at)
    for i, low in enumerate(cutoffs[:-1]):
        inner = _picked(jax.nn.log_softmax(x @ tails[2 * i] @ tails[2 * i + 1]), label - low)
        out = out + jnp.where(cluster == i + 1, inner, 0)
    return out, -jnp.mean(out)


def _picked(log_p: Any, at: Any) -> Any:
    return jnp.take_along_axis(log_p, at[:, None], 1, mode="clip")[:, 0]


def adaptive_log_softmax_with_loss(
    input: Any,
    label: Any,
    head_weight: Any,
    tail_weights: Sequence[Sequence[Any]],
    cutoffs: Sequence[int],
    head_bias: Any = None,
    name: Any = None,
) -> tuple[Any, Any]:
    """Compute the adaptive softmax: frequent classes in the head, the others in clusters.

    Arguments:
        input: float tensor [N, D], or [D] with one label.
        label: integer tensor [N], below the last cutoff.
        head_weight: float tensor [D, cutoffs[0] + clusters].
        head_bias: float tensor [cutoffs[0] + clusters]; None: no bias.
        tail_weights: for each cluster two matrices: [D, projected size], and [projected size, classes of the cluster].
        cutoffs: list of ascending ints, where each group of classes ends; the last one is the number of classes.

    Returns:
        (output, loss): the log probability of each label [N], and the mean negative log likelihood.

    Raises:
        ValueError: if the shapes do not match, or a label is out of range.

    Source: Grave et al., Efficient Softmax Approximation for GPUs, 2017.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label, zeros = paddle.ones([1, 2]), paddle.to_tensor([2]), paddle.zeros
        >>> tail = [zeros([2, 1]), zeros([1, 2])]
        >>> out, loss = adaptive_log_softmax_with_loss(x, label, zeros([2, 2]), [tail], [1, 3])
        >>> round(loss.item(), 4)
        1.3863
    """
    if label.ndim > 1 or input.ndim != label.ndim + 1 or (label.ndim and input.shape[0] != label.shape[0]):
        raise ValueError(
            f"adaptive_log_softmax_with_loss: input of shape {list(input.shape)} and label of shape "
            f"{list(label.shape)}; expected [n, features] and [n]"
        )
    expect_within(label, 0, int(cutoffs[-1]), "label")
    one = not label.ndim
    rows, labels = (input.unsqueeze(0), label.unsqueeze(0)) if one else (input, label)
    fn: Any = _adaptive
    tails = [w for pair in tail_weights for w in pair]
    out, loss = fn(rows, labels, head_weight, tails, head_bias, cutoffs=tuple(cutoffs))
    return (out.squeeze(0) if one else out), loss


def _places_and_classes(given: dict[str, Any]) -> Any:
    label = given["label"]
    return HostResult(tuple(label.shape), label.dtype.np), HostResult(("n",), label.dtype.np)


@on_host(_places_and_classes)
@no_effect(group=ONE_PROCESS)
def class_center_sample(label: Tensor, num_classes: int, num_samples: int, group: Any = None) -> tuple[Tensor, Tensor]:
    """Sample class centers for a loss over many classes: all classes in `label`, and random negative ones.

    Arguments:
        label: integer tensor [N].
        num_samples: int, number of classes to sample; more if `label` has more.

    Returns:
        (remapped_label, sampled): the labels as positions among the sampled classes, and these classes: those of
        `label` in ascending order, then the others.

    Raises:
        ValueError: if `num_samples` exceeds `num_classes`, or a label is out of range.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> place, sampled = paddle.nn.functional.class_center_sample(paddle.to_tensor([3, 1, 3]), 9, 4)
        >>> place.tolist(), sampled.tolist()[:2], sampled.shape
        ([1, 0, 1], [1, 3], paddle.Size([4]))
    """
    if num_samples > num_classes:
        raise ValueError(f"class_center_sample: num_samples is {num_samples}, and there are {num_classes} classes")
    expect_within(label, 0, num_classes, "label")
    values = concrete(label, "class_center_sample()", "all centers")
    found = sorted(set(values.tolist()))
    others = [c for c in randperm(num_classes).tolist() if c not in set(found)]
    sampled = found + others[: max(num_samples - len(found), 0)]
    place = {c: i for i, c in enumerate(found)}
    return tuple(fresh(v).astype(label.dtype) for v in ([place[c] for c in values.tolist()], sampled))
