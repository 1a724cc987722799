"""Losses."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp

from ..core.config import by_platform
from ..core.jax_compat.sizes import is_known
from ..core.no_effect import Immaterial, no_effect
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .promote import from_start
from .subgradients import magnitude
from .types import Array, TensorLike

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "kl_div",
    "l1_loss",
    "label_smooth",
    "log_loss",
    "mse_loss",
    "nll_loss",
    "sigmoid_focal_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax_with_cross_entropy",
    "square_error_cost",
]


def same_shapes(**tensors: Any) -> None:
    """Raise a ValueError for shapes that differ in a known size, which a broadcast would hide."""
    shapes = {name: list(x.shape) for name, x in tensors.items()}
    sizes = list(itertools.zip_longest(*shapes.values()))
    if any(len({n for n in size if n is None or is_known(n)}) > 1 for size in sizes):
        raise ValueError("; ".join(f"{name} has the shape {s}" for name, s in shapes.items()) + "; expected one shape")


def reduce(loss: Any, reduction: str) -> Any:
    """Reduce elementwise losses by "mean" or "sum"; "none" returns them unchanged."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is {reduction!r}; expected 'mean', 'sum' or 'none'")
    return jnp.mean(loss) if reduction == "mean" else jnp.sum(loss) if reduction == "sum" else loss


@op(name="cross_entropy", amp="black", keeps=True)
def _cross_entropy(
    x: Any,
    label: Any,
    weight: Any = None,
    /,
    *,
    ignore_index: int,
    reduction: str,
    soft_label: bool,
    axis: int,
    use_softmax: bool,
    label_smoothing: float,
) -> Any:
    axis = from_start(axis, x.ndim)
    # Smoothed labels are shares of the classes, and may be given as such.
    soft_label = soft_label or (label_smoothing > 0 and label.shape == x.shape and label.shape[axis] > 1)
    _fits(x, label, weight, axis, soft_label)
    ids: Any = None if soft_label else jnp.expand_dims(_ids(label, x, axis), axis)
    keep: Any = None if ids is None else ids != ignore_index
    if soft_label or label_smoothing > 0:
        log_p = jax.nn.log_softmax(x, axis=axis) if use_softmax else jnp.log(x)
        loss, w = _soft(log_p, label if ids is None else _one_hot(ids, x, axis), weight, axis, label_smoothing)
    else:
        at = jnp.where(keep, ids, 0)
        loss = _of_class(x, at, axis) if use_softmax else -jnp.log(jnp.take_along_axis(x, at, axis=axis))
        w = None if weight is None else jnp.take(weight, at)
    loss = loss if w is None else loss * w
    loss = loss if keep is None else jnp.where(keep, loss, 0)
    # As in Paddle, only a non-negative ignore_index excludes its rows from the count (not from the weights).
    if reduction == "mean" and ((keep is not None and ignore_index >= 0) or w is not None):
        count: Any = keep if w is None else w if keep is None else jnp.where(keep, w, 0)
        return jnp.sum(loss) / jnp.maximum(jnp.sum(count.astype(x.dtype)), 1e-12)
    kept = label.ndim == x.ndim or label_smoothing > 0  # the class axis is kept with size 1
    return reduce(loss if kept or reduction != "none" else jnp.squeeze(loss, axis), reduction)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _of_class(x: Any, at: Any, axis: int) -> Any:
    """-log softmax(x)[at]; its gradient is one pass over the exponentials, where JAX's adds up two arrays."""
    return _of_class_forward(x, at, axis)[0]


def _of_class_forward(x: Any, at: Any, axis: int) -> Any:
    top = jnp.max(x, axis=axis, keepdims=True)
    raised = jnp.exp(x - top)
    total = jnp.sum(raised, axis=axis, keepdims=True)
    usual = functools.partial(jnp.take_along_axis, axis=axis)
    score = by_platform(usual, x, at, tpu=functools.partial(_score_by_sum, axis=axis))
    return jnp.log(total) - (score - top), (raised, total, at)


def _score_by_sum(x: Any, at: Any, axis: int) -> Any:
    """x[at] as a sum, which is part of the pass over x; to choose elements a TPU copies x to another layout."""
    score = jnp.sum(jnp.where(_is_class(at, x.shape, axis), x, 0), axis=axis, keepdims=True)
    return jnp.where((at >= 0) & (at < x.shape[axis]), score, jnp.nan)


def _is_class(at: Any, shape: tuple[int, ...], axis: int) -> Any:
    # In 32 bits: the comparison is as large as x, and accelerators emulate 64-bit integers.
    return at.astype(jnp.int32) == jax.lax.broadcasted_iota(jnp.int32, shape, axis)


def _of_class_backward(axis: int, saved: Any, g: Any) -> Any:
    raised, total, at = saved
    return raised * (g / total) - jnp.where(_is_class(at, raised.shape, axis), g, 0), None


_of_class.defvjp(_of_class_forward, _of_class_backward)


def _fits(x: Any, label: Any, weight: Any, axis: int, soft: bool) -> None:
    shape = list(x.shape)
    others = shape[:axis] + shape[axis + 1 :]
    known = [shape] if soft else [others, [*shape[:axis], 1, *shape[axis + 1 :]]]
    if list(label.shape) not in known and all(map(is_known, (*shape, *label.shape))):
        raise ValueError(f"label has the shape {list(label.shape)}; expected {' or '.join(map(str, known))}")
    if weight is not None and weight.shape != (shape[axis],):
        raise ValueError(f"weight has the shape {list(weight.shape)}; expected [{shape[axis]}], one for each class")


def _soft(log_p: Any, label: Any, weight: Any, axis: int, smoothing: float) -> tuple[Any, Any]:
    """Cross entropy against soft labels, and the weight of each label."""
    label = label.astype(log_p.dtype) * (1 - smoothing) + smoothing / log_p.shape[axis]
    loss = -jnp.sum(label * log_p, axis=axis, keepdims=True)
    if weight is None:
        return loss, None
    return loss, jnp.expand_dims(jnp.tensordot(label, weight, ((axis,), (0,))), axis)


def _one_hot(ids: Any, x: Any, axis: int) -> Any:
    return jax.nn.one_hot(jnp.squeeze(ids, axis), x.shape[axis], axis=axis, dtype=x.dtype)


def _ids(label: Any, x: Any, axis: int) -> Any:
    label = label.astype("int64") if jnp.issubdtype(label.dtype, jnp.floating) else label
    return jnp.squeeze(label, axis) if label.ndim == x.ndim else label


@call_cached("input", "label", "weight")
def cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Any:
    """Compute the cross-entropy between logits and class indices or class probabilities.

    Returns:
        The loss: 0-D for "mean" and "sum"; for "none" the shape of `input` without `axis` (size 1 there if `label` has
        it).

    Example:
        >>> import paddle_lite_py as paddle
        >>> logits, label = paddle.to_tensor([[2.0, 0.0], [0.0, 0.0]]), paddle.to_tensor([0, 1])
        >>> paddle.nn.functional.cross_entropy(logits, label).item().__round__(4)
        0.41
        >>> [round(loss, 2) for loss in paddle.nn.functional.cross_entropy(logits, label, reduction="none").tolist()]
        [0.13, 0.69]
    """
    op_fn: Any = _cross_entropy
    return op_fn(
        input,
        label,
        weight,
        ignore_index=ignore_index,
        reduction=reduction,
        soft_label=soft_label,
        axis=axis,
        use_softmax=use_softmax,
        label_smoothing=label_smoothing,
    )


@op
def mse_loss(input: Array, label: Array, /, reduction: str = "mean") -> Any:
    """Compute the mean squared error: `(input - label) ** 2`, reduced.

    Returns:
        The loss: 0-D for "mean" and "sum", the broadcast shape for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[0.2, 0.8]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.functional.mse_loss(x, y).item().__round__(4)
        0.04
    """
    return reduce(jnp.square(input - label), reduction)


@op
def l1_loss(input: Array, label: Array, /, reduction: str = "mean") -> Any:
    """Compute the mean absolute error: `|input - label|`, reduced.

    Returns:
        The loss: 0-D for "mean" and "sum", the broadcast shape for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[0.2, 0.8]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.functional.l1_loss(x, y).item().__round__(4)
        0.2
    """
    return reduce(magnitude(input - label), reduction)


@op
def square_error_cost(input: Array, label: Array, /) -> Any:
    """Compute the elementwise squared error `(input - label) ** 2`, without reduction.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[0.2, 0.8]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.functional.square_error_cost(x, y).astype("float64").numpy().round(4).tolist()
        [[0.04, 0.04]]
    """
    return jnp.square(input - label)


def _weigh(loss: Any, weight: Any) -> Any:
    return loss if weight is None else loss * weight


@op(name="binary_cross_entropy", amp="black")
def _bce(x: Any, label: Any, weight: Any = None, /, *, reduction: str) -> Any:
    same_shapes(input=x, label=label)
    x = jnp.clip(x, 1e-12, 1 - 1e-7 if x.dtype == jnp.float32 else 1.0)
    return reduce(_weigh(-(label * jnp.log(x) + (1 - label) * jnp.log1p(-x)), weight), reduction)


@call_cached("input", "label", "weight")
def binary_cross_entropy(
    input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """Compute the binary cross-entropy of probabilities: `-(y * log(p) + (1 - y) * log(1 - p))`, reduced.

    Returns:
        The loss: 0-D for "mean" and "sum", the shape of `input` for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[0.2, 0.8]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.functional.binary_cross_entropy(x, y).item().__round__(4)
        0.2231
    """
    return _bce(input, label, weight, reduction=reduction)


@op(name="binary_cross_entropy_with_logits", amp="black")
def _bce_logits(x: Any, label: Any, weight: Any = None, pos_weight: Any = None, /, *, reduction: str) -> Any:
    same_shapes(logit=x, label=label)
    factor = 1 if pos_weight is None else (pos_weight - 1) * label + 1
    loss = (1 - label) * x + factor * jax.nn.softplus(-x)
    return reduce(_weigh(loss, weight), reduction)


@call_cached("logit", "label", "weight", "pos_weight")
def binary_cross_entropy_with_logits(
    logit: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
    name: str | None = None,
) -> Any:
    """Compute the binary cross-entropy of logits: sigmoid and cross-entropy in one stable step.

    Returns:
        The loss: 0-D for "mean" and "sum", the shape of `logit` for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([0.0, 2.0]), paddle.to_tensor([0.0, 1.0])
        >>> paddle.nn.functional.binary_cross_entropy_with_logits(x, y).item().__round__(4)
        0.41
    """
    return _bce_logits(logit, label, weight, pos_weight, reduction=reduction)


@op(name="nll_loss", amp="black")
def _nll(x: Any, label: Any, weight: Any = None, /, *, ignore_index: int, reduction: str) -> Any:
    label = jnp.squeeze(label, 1) if label.ndim == x.ndim else label
    keep = label != ignore_index
    ids = jnp.where(keep, label, 0)
    loss = -jnp.squeeze(jnp.take_along_axis(x, jnp.expand_dims(ids, 1), 1), 1)
    w = keep.astype(x.dtype) if weight is None else jnp.where(keep, jnp.take(weight, ids), 0)
    loss = loss * w
    total = jnp.sum(w)
    return jnp.sum(loss) / jnp.where(total == 0, 1, total) if reduction == "mean" else reduce(loss, reduction)


@call_cached("input", "label", "weight")
def nll_loss(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Compute the negative log likelihood of class indices under log probabilities [N, C, ...].

    Returns:
        The loss: 0-D for "mean" and "sum", the shape of `label` for "none".

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.nll_loss(paddle.to_tensor([[-0.5, -1.0]]), paddle.to_tensor([1])).item()
        1.0
    """
    return _nll(input, label, weight, ignore_index=ignore_index, reduction=reduction)


@op
def kl_div(input: Array, label: Array, /, reduction: str = "mean", log_target: bool = False) -> Any:
    """Compute the Kullback-Leibler divergence `label * (log(label) - input)`; `input` holds log probabilities.

    Where `label` is 0 or negative, the loss is 0, unless `log_target`.

    Returns:
        The loss: 0-D for "mean", "batchmean" and "sum", the broadcast shape for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> p, q = paddle.to_tensor([0.5, 0.5]), paddle.to_tensor([0.25, 0.75])
        >>> paddle.nn.functional.kl_div(p.log(), q, "sum").item().__round__(4)
        0.1308
    """
    same_shapes(input=input, label=label)
    if log_target:
        loss = jnp.exp(label) * (label - input)
    else:
        known = jnp.where(label > 0, label, 1)
        loss = jnp.where(label > 0, label * (jnp.log(known) - input), 0)
    if reduction == "batchmean":
        return jnp.sum(loss) / (input.shape[0] if input.ndim else 1)
    return reduce(loss, reduction)


@op(amp="black")
def smooth_l1_loss(
    input: Array, label: Array, /, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True
) -> Any:
    """Compute the smooth L1 (Huber) loss: quadratic where `|input - label| < delta`, linear elsewhere.

    Returns:
        The loss: 0-D for "mean" and "sum", the shape of `input` for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[0.2, 0.8]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.functional.smooth_l1_loss(x, y).item().__round__(4)
        0.02
    """
    same_shapes(input=input, label=label)
    d = jnp.abs(input - label)
    loss = jnp.where(d < delta, 0.5 * d * d, delta * d - 0.5 * delta * delta)
    return reduce(loss if is_huber else loss / delta, reduction)


@op(amp="black")
def log_loss(input: Array, label: Array, /, epsilon: float = 0.0001) -> Any:
    """Compute the elementwise log loss `-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon)`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[0.2, 0.8]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.functional.log_loss(x, y).astype("float64").numpy().round(4).tolist()
        [[0.223, 0.223]]
    """
    same_shapes(input=input, label=label)
    return -label * jnp.log(input + epsilon) - (1 - label) * jnp.log(1 - input + epsilon)


@op
def soft_margin_loss(input: Array, label: Array, /, reduction: str = "mean") -> Any:
    """Compute the two-class logistic loss `log(1 + exp(-label * input))` for labels of 1 and -1, reduced.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([0.0, 2.0]), paddle.to_tensor([-1.0, 1.0])
        >>> paddle.nn.functional.soft_margin_loss(x, y).item().__round__(4)
        0.41
    """
    same_shapes(input=input, label=label)
    return reduce(jax.nn.softplus(-label * input), reduction)


@op(name="sigmoid_focal_loss", amp="black")
def _focal(logit: Any, label: Any, normalizer: Any = None, /, *, alpha: float, gamma: float, reduction: str) -> Any:
    same_shapes(logit=logit, label=label)
    p = jax.nn.sigmoid(logit)
    ce = (1 - label) * logit + jax.nn.softplus(-logit)
    loss = ce * (1 - (p * label + (1 - p) * (1 - label))) ** gamma
    loss = (alpha * label + (1 - alpha) * (1 - label)) * loss
    return reduce(loss if normalizer is None else loss / normalizer, reduction)


@call_cached("logit", "label", "normalizer")
def sigmoid_focal_loss(
    logit: Tensor,
    label: Tensor,
    normalizer: TensorLike | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Any:
    """Compute the focal loss (Lin et al., 2017): binary cross-entropy that down-weights easy examples.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.sigmoid_focal_loss(paddle.zeros([1]), paddle.ones([1])).item().__round__(4)
        0.0433
    """
    return _focal(logit, label, normalizer, alpha=alpha, gamma=gamma, reduction=reduction)


@op
def label_smooth(label: Array, prior_dist: Array | None = None, /, epsilon: float = 0.1) -> Any:
    """Smooth one-hot labels: `(1 - epsilon) * label + epsilon * prior_dist`, with a uniform prior by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.label_smooth(paddle.to_tensor([[0.0, 1.0]]), epsilon=0.5).tolist()
        [[0.25, 0.75]]
    """
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon is {epsilon}; expected a number from 0 to 1")
    prior = 1 / label.shape[-1] if prior_dist is None else prior_dist
    return (1 - epsilon) * label + epsilon * prior


@call_cached("logits", "label")
@no_effect(numeric_stable_mode=Immaterial("the way that is taken is stable"))
def softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """Compute the unreduced cross-entropy of logits, and the softmax if `return_softmax`.

    Returns:
        The loss, or (loss, softmax); the loss has size 1 along `axis`, the softmax has the shape of `logits`.

    Example:
        >>> import paddle_lite_py as paddle
        >>> logits, label = paddle.zeros([1, 2]), paddle.to_tensor([[1]])
        >>> loss, p = paddle.nn.functional.softmax_with_cross_entropy(logits, label, return_softmax=True)
        >>> loss.shape, p.tolist()
        (paddle.Size([1, 1]), [[0.5, 0.5]])
    """
    from .softmax import softmax

    loss = cross_entropy(logits, label, ignore_index=ignore_index, reduction="none", soft_label=soft_label, axis=axis)
    if loss.ndim < logits.ndim:
        loss = loss.unsqueeze(axis)
    return (loss, softmax(logits, axis=axis)) if return_softmax else loss
