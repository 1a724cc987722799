"""Losses of classes beyond cross entropy, and of counts and densities."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..core.no_effect import ONE_PROCESS, no_effect
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .losses import reduce
from .types import Array

__all__ = [
    *("dice_loss", "gaussian_nll_loss", "multi_label_margin_loss", "multi_label_soft_margin_loss", "multi_margin_loss"),
    *("margin_cross_entropy", "poisson_nll_loss"),
]


@op
def dice_loss(input: Array, label: Array, /, epsilon: float = 1e-5) -> Any:
    """1 - 2 |intersection| / (|input| + |label|), mean of the batch; label holds class ids [n, ..., 1].

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
    """Negative log likelihood of counts under Poisson distributions.

    Arguments:
        log_input: input is the logarithm of the expectation.
        full: add Stirling's approximation of log(label!), where label exceeds 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.poisson_nll_loss(paddle.to_tensor([0.0]), paddle.to_tensor([2.0])).tolist()
        1.0
    """
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
    """Negative log likelihood of label under normal distributions with mean `input` and variances.

    Arguments:
        full: add the constant log(2 pi) / 2.
        epsilon: the least variance; the gradient passes it by.

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
    loss = label * jax.nn.softplus(-x) + (1 - label) * jax.nn.softplus(x)
    return reduce(jnp.mean(loss if weight is None else loss * weight, axis=-1), reduction)


@call_cached("input", "label", "weight")
def multi_label_soft_margin_loss(
    input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """Binary cross entropy of logits, mean over the classes; label holds zeros and ones.

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
    """Mean over classes of max(0, 1 - (input of a target - input of any other)).

    Arguments:
        label: in each row the targets, then -1.

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
    """Mean over the other classes of max(0, margin - input of the target + input) ** p.

    Arguments:
        weight: factor of each class in the hinge.

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
    # An arc cosine has no slope at its ends.
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
    """Cross entropy of cosines, where that of the right class is made smaller by margins: cos(m1 t + m2) - m3.

    Arguments:
        logits: cosines [batch, classes]. label: class ids [batch].
        scale: of the cosines.
        return_softmax: return also the probabilities.
        reduction: "mean", "sum", or None for a loss for each row [batch, 1].

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
