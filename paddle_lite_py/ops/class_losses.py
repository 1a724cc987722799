"""More classification losses, and losses of counts and densities."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..core.no_effect import ONE_PROCESS, no_effect
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .losses import reduce, same_shapes
from .types import Array

__all__ = [
    *("dice_loss", "gaussian_nll_loss", "multi_label_margin_loss", "multi_label_soft_margin_loss", "multi_margin_loss"),
    *("margin_cross_entropy", "poisson_nll_loss"),
]


@op
def dice_loss(input: Array, label: Array, /, epsilon: float = 1e-5) -> Any:
    """Compute the Dice loss `1 - 2 * |intersection| / (|input| + |label|)`, averaged over the batch.

    Arguments:
        input: float tensor [N, ..., C], class probabilities.
        label: integer tensor [N, ..., 1], class indices.
        epsilon: small number added to the denominator for numerical stability. Default: 1e-5.

    Returns:
        A 0-D tensor.

    Source: Milletari et al., V-Net, 2016.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label = paddle.to_tensor([[0.0, 1.0]]), paddle.to_tensor([[1]])
        >>> round(float(paddle.nn.functional.dice_loss(x, label)), 3)
        0.0
    """
    target = jax.nn.one_hot(jnp.squeeze(label, -1), input.shape[-1], dtype=input.dtype)
    axes = tuple(range(1, input.ndim))
    both = jnp.sum(input * target, axis=axes)
    return jnp.mean(1 - 2 * both / (jnp.sum(input, axis=axes) + jnp.sum(target, axis=axes) + epsilon))


@op
def poisson_nll_loss(
    input: Array,
    label: Array,
    /,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    """Compute the Poisson negative log likelihood: `exp(input) - label * input`, reduced.

    Arguments:
        log_input: True: `input` is the logarithm of the rate; False: the rate, and the loss is `input - label *
            log(input + epsilon)`. Default: True.
        full: add the Stirling approximation of `log(label!)` where `label > 1`. Default: False.

    Returns:
        The loss: 0-D for "mean" and "sum", the shape of `input` for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.poisson_nll_loss(paddle.to_tensor([0.0]), paddle.to_tensor([2.0])).tolist()
        1.0
    """
    same_shapes(input=input, label=label)
    loss = jnp.exp(input) - label * input if log_input else input - label * jnp.log(input + epsilon)
    if full:
        big = jnp.maximum(label, 1)
        stirling = big * jnp.log(big) - big + 0.5 * jnp.log(2 * math.pi * big)
        loss = loss + jnp.where(label > 1, stirling, 0)
    return reduce(loss, reduction)


@op
def gaussian_nll_loss(
    input: Array, label: Array, variance: Array, /, full: bool = False, epsilon: float = 1e-6, reduction: str = "mean"
) -> Any:
    """Compute the Gaussian negative log likelihood: `0.5 * (log(var) + (input - label) ** 2 / var)`, reduced.

    Arguments:
        full: add the constant `0.5 * log(2 * pi)`. Default: False.
        epsilon: lower bound of the variance; gradients ignore the clamping. Default: 1e-6.

    Returns:
        The loss: 0-D for "mean" and "sum", the shape of `input` for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> one = paddle.ones([1])
        >>> paddle.nn.functional.gaussian_nll_loss(one, one + 2, one).tolist()
        2.0
    """
    if variance.ndim == input.ndim - 1:
        variance = variance[..., None]
    variance = variance + jax.lax.stop_gradient(jnp.maximum(variance, epsilon) - variance)
    loss = 0.5 * (jnp.log(variance) + jnp.square(input - label) / variance)
    return reduce(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@op(name="multi_label_soft_margin_loss")
def _soft_margin(x: Any, label: Any, weight: Any = None, /, *, reduction: str) -> Any:
    same_shapes(input=x, label=label)
    loss = label * jax.nn.softplus(-x) + (1 - label) * jax.nn.softplus(x)
    return reduce(jnp.mean(loss if weight is None else loss * weight, axis=-1), reduction)


@call_cached("input", "label", "weight")
def multi_label_soft_margin_loss(
    input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """Compute the binary cross-entropy of logits for multi-label targets, averaged over the classes.

    Returns:
        The loss: 0-D for "mean" and "sum", [N] for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label = paddle.to_tensor([[200.0, -200.0]]), paddle.to_tensor([[1.0, 0.0]])
        >>> paddle.nn.functional.multi_label_soft_margin_loss(x, label).tolist()
        0.0
    """
    fn: Any = _soft_margin
    return fn(input, label, weight, reduction=reduction)


@op
def multi_label_margin_loss(input: Array, label: Array, /, reduction: str = "mean") -> Any:
    """Compute the multi-label hinge loss: `max(0, 1 - (input[target] - input[other]))`, summed and divided by C.

    Arguments:
        label: integer tensor [N, C]: in each row the target classes, then -1 as padding.

    Returns:
        The loss: 0-D for "mean" and "sum", [N] for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label = paddle.to_tensor([[0.0, 3.0]]), paddle.to_tensor([[0, -1]])
        >>> paddle.nn.functional.multi_label_margin_loss(x, label).tolist()
        2.0
    """
    valid = jnp.cumsum(label < 0, axis=-1) == 0
    ids = jnp.where(valid, label, 0)
    classes = jnp.arange(input.shape[-1])
    target = jnp.any((ids[..., None] == classes) & valid[..., None], axis=-2)
    score = jnp.take_along_axis(input, ids, axis=-1)
    hinge = jnp.maximum(1 - (score[..., :, None] - input[..., None, :]), 0)
    counted = valid[..., :, None] & ~target[..., None, :]
    return reduce(jnp.sum(jnp.where(counted, hinge, 0), axis=(-1, -2)) / input.shape[-1], reduction)


@op(name="multi_margin_loss")
def _multi_margin(x: Any, label: Any, weight: Any = None, /, *, p: int, margin: float, reduction: str) -> Any:
    score = jnp.take_along_axis(x, label[:, None], axis=1)
    hinge = jnp.maximum(margin - score + x, 0)
    hinge = hinge if weight is None else hinge * jnp.take(weight, label)[:, None]
    other = jnp.arange(x.shape[1]) != label[:, None]
    return reduce(jnp.sum(jnp.where(other, hinge**p, 0), axis=1) / x.shape[1], reduction)


@call_cached("input", "label", "weight")
def multi_margin_loss(
    input: Tensor,
    label: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Compute the multi-class hinge loss `max(0, margin - input[target] + input[other]) ** p`, averaged over classes.

    Arguments:
        weight: float tensor [C], a factor for the hinge of each class; None: 1.

    Returns:
        The loss: 0-D for "mean" and "sum", [N] for "none".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.multi_margin_loss(paddle.to_tensor([[0.0, 3.0]]), paddle.to_tensor([0])).tolist()
        2.0
    """
    fn: Any = _multi_margin
    return fn(input, label, weight, p=p, margin=margin, reduction=reduction)


@op(name="margin_cross_entropy", amp="black")
def _margin(x: Any, label: Any, /, margins: tuple[float, float, float], scale: float) -> Any:
    wanted = jax.nn.one_hot(label.reshape(-1), x.shape[-1], dtype=bool)
    # arccos has no finite derivative at -1 and 1.
    angle = jnp.arccos(jnp.clip(x, -1 + 1e-6, 1 - 1e-6))
    moved = jnp.where(wanted, jnp.cos(margins[0] * angle + margins[1]) - margins[2], x) * scale
    log_p = jax.nn.log_softmax(moved)
    return -jnp.sum(jnp.where(wanted, log_p, 0), -1, keepdims=True), jnp.exp(log_p)


@call_cached("logits", "label")
@no_effect(group=ONE_PROCESS)
def margin_cross_entropy(
    logits: Tensor,
    label: Tensor,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
    group: Any = None,
    return_softmax: bool = False,
    reduction: str | None = "mean",
) -> Any:
    """Compute the softmax cross-entropy of cosines with margins on the target class (ArcFace, CosFace).

    The cosine `cos(t)` of the target becomes `cos(margin1 * t + margin2) - margin3` before scaling.

    Arguments:
        logits: float tensor [N, C], cosines between features and class centers.
        label: integer tensor [N], class indices.
        scale: factor of the cosines. Default: 64.0.
        return_softmax: return the probabilities as well. Default: False.
        reduction: "mean", "sum", or None for one loss per row. Default: "mean".

    Returns:
        The loss, or (loss, softmax): the loss is 0-D, or [N, 1] without reduction; the softmax is [N, C].

    Source: Deng et al., ArcFace: Additive Angular Margin Loss for Deep Face Recognition, 2018.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label = paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([0])
        >>> paddle.nn.functional.margin_cross_entropy(x, label, margin2=0.0, margin3=1.0, scale=1.0).item().__round__(4)
        1.3133
    """
    fn: Any = _margin
    loss, softmax = fn(logits, label, (margin1, margin2, margin3), scale)
    loss = loss if reduction is None else loss.mean() if reduction == "mean" else loss.sum()
    return (loss, softmax) if return_softmax else loss
