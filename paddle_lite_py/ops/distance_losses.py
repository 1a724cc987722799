"""Losses of pairs and triplets."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .losses import reduce, same_shapes
from .types import Array

__all__ = [
    *("cosine_embedding_loss", "cosine_similarity", "hinge_embedding_loss", "margin_ranking_loss", "npair_loss"),
    *("pairwise_distance", "triplet_margin_loss", "triplet_margin_with_distance_loss"),
]


@op
def cosine_similarity(x1: Array, x2: Array, /, axis: int = 1, eps: float = 1e-8) -> Any:
    """Compute the cosine similarity along a dimension: `x1 . x2 / max(|x1| * |x2|, eps)`.

    Returns:
        The similarities: the broadcast shape without the dimension `axis`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[3.0, 0.0]]), paddle.to_tensor([[0.0, 2.0]])
        >>> paddle.nn.functional.cosine_similarity(x, y).tolist()
        [0.0]
    """
    norms = jnp.sqrt(jnp.maximum(jnp.sum(x1 * x1, axis) * jnp.sum(x2 * x2, axis), eps * eps))
    return jnp.sum(x1 * x2, axis) / norms


@op(name="cosine_embedding_loss")
def _cosine_embedding(a: Any, b: Any, label: Any, /, margin: float, reduction: str) -> Any:
    tiny = 1e-12
    cos = jnp.sum(a * b, -1) / jnp.sqrt((jnp.sum(a * a, -1) + tiny) * (jnp.sum(b * b, -1) + tiny))
    loss = jnp.where(label == 1, 1 - cos, jnp.where(label == -1, jnp.maximum(cos - margin, 0), 0))
    return reduce(loss, reduction)


@call_cached("input1", "input2", "label")
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, label: Tensor, margin: float = 0, reduction: str = "mean", name: str | None = None
) -> Any:
    """Compute `1 - cos(input1, input2)` where `label` is 1, `max(0, cos(input1, input2) - margin)` where it is -1.

    Returns:
        The loss: 0-D for "mean" and "sum", [N] for "none".

    Raises:
        ValueError: if margin is not in [-1, 1] or label does not fit the inputs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[3.0, 0.0]]), paddle.to_tensor([[0.0, 2.0]])
        >>> paddle.nn.functional.cosine_embedding_loss(x, y, paddle.to_tensor([1])).tolist()
        1.0
    """
    if not -1 <= margin <= 1:
        raise ValueError(f"cosine_embedding_loss: margin is {margin}; expected a number from -1 to 1")
    if label.ndim != 1:
        raise ValueError(f"cosine_embedding_loss: label has {label.ndim} dimensions; expected 1")
    fn: Any = _cosine_embedding
    return fn(input1, input2, label, margin, reduction)


def _norm(d: Any, p: float, keepdim: bool = False) -> Any:
    return jnp.linalg.norm(d, p, axis=-1, keepdims=keepdim)


@op
def pairwise_distance(x: Array, y: Array, /, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False) -> Any:
    """Compute the p-norm distance `|x - y + epsilon|_p` along the last dimension.

    Returns:
        The distances, without the last dimension unless `keepdim`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([3.0, 4.0]), paddle.zeros([2])
        >>> paddle.nn.functional.pairwise_distance(x, y, epsilon=0.0).tolist()
        5.0
    """
    return _norm(x - y + epsilon, p, keepdim)


@op
def margin_ranking_loss(
    input: Array, other: Array, label: Array, /, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """Compute `max(0, -label * (input - other) + margin)`, where `label` is 1 if `input` should rank higher, else -1.

    Returns:
        The loss: 0-D for "mean" and "sum", the broadcast shape for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y, label = paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), paddle.to_tensor([1.0])
        >>> paddle.nn.functional.margin_ranking_loss(x, y, label).tolist()
        2.0
    """
    return reduce(jnp.maximum(-label * (input - other) + margin, 0), reduction)


@op
def hinge_embedding_loss(input: Array, label: Array, /, margin: float = 1.0, reduction: str = "mean") -> Any:
    """Compute the hinge embedding loss: `input` where `label` is 1, `max(0, margin - input)` where it is -1.

    Returns:
        The loss: 0-D for "mean" and "sum", the shape of `input` for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label = paddle.to_tensor([0.5, 0.5]), paddle.to_tensor([1.0, -1.0])
        >>> paddle.nn.functional.hinge_embedding_loss(x, label, margin=2.0, reduction="none").tolist()
        [0.5, 1.5]
    """
    loss = jnp.where(label == 1, input, 0) + jnp.where(label == -1, jnp.maximum(margin - input, 0), 0)
    return reduce(loss, reduction)


@op(amp="black")
def triplet_margin_loss(
    input: Array,
    positive: Array,
    negative: Array,
    /,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """Compute the triplet loss `max(0, d(input, positive) - d(input, negative) + margin)`.

    Arguments:
        p: order of the norm used as the distance d. Default: 2.
        swap: replace `d(input, negative)` by `d(positive, negative)` where that is smaller. Default: False.

    Returns:
        The loss: 0-D for "mean" and "sum", [N] for "none".

    Source: Schroff et al., FaceNet, 2015.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])
        >>> round(float(paddle.nn.functional.triplet_margin_loss(x, y, x)), 3)
        6.0
    """
    same_shapes(input=input, positive=positive, negative=negative)
    near, far = _norm(input - positive + epsilon, p), _norm(input - negative + epsilon, p)
    far = jnp.minimum(far, _norm(positive - negative + epsilon, p)) if swap else far
    return reduce(jnp.maximum(near - far + margin, 0), reduction)


@op(name="triplet_hinge")
def _triplet(near: Any, far: Any, /, margin: float, reduction: str) -> Any:
    return reduce(jnp.maximum(near - far + margin, 0), reduction)


@call_cached("input", "positive", "negative")
def triplet_margin_with_distance_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Compute the triplet loss of `triplet_margin_loss()` with a custom distance function.

    Returns:
        The loss: 0-D for "mean" and "sum", the shape that the distance returns for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[0.0]]), paddle.to_tensor([[3.0]])
        >>> loss = paddle.nn.functional.triplet_margin_with_distance_loss
        >>> loss(x, y, x, lambda a, b: (a - b).abs().sum(-1)).tolist()
        4.0
    """
    same_shapes(input=input, positive=positive, negative=negative)
    distance: Any = distance_function or pairwise_distance
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    fn: Any = _triplet
    return fn(near, far, margin, reduction)


@op
def npair_loss(anchor: Array, positive: Array, labels: Array, /, l2_reg: float = 0.002) -> Any:
    """Compute the N-pair loss: cross-entropy of anchor-positive products, plus L2 regularization of the embeddings.

    Returns:
        A 0-D tensor.

    Source: Sohn, Improved Deep Metric Learning with Multi-class N-pair Loss Objective, 2016.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[10.0, 0.0], [0.0, 10.0]])
        >>> paddle.nn.functional.npair_loss(x, x, paddle.to_tensor([0, 1]), l2_reg=0.0).tolist()
        0.0
    """
    same_shapes(anchor=anchor, positive=positive)
    if anchor.ndim != 2:
        raise ValueError(f"anchor and positive have {anchor.ndim} dimensions; expected 2, [N, C]")
    same = (labels.reshape(-1, 1) == labels.reshape(1, -1)).astype(anchor.dtype)
    target = same / jnp.sum(same, axis=1, keepdims=True)
    ce = -jnp.sum(target * jax.nn.log_softmax(anchor @ positive.T, axis=1), axis=1)
    norms = jnp.mean(jnp.sum(anchor**2, 1)) + jnp.mean(jnp.sum(positive**2, 1))
    return jnp.mean(ce) + norms * (0.25 * l2_reg)
