"""Losses."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..op import op

__all__ = ["cross_entropy", "l1_loss", "mse_loss", "square_error_cost"]


def reduce(loss: Any, reduction: str) -> Any:
    """A loss an element as its mean, its sum, or as it is."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is {reduction!r}; expected 'mean', 'sum' or 'none'")
    return jnp.mean(loss) if reduction == "mean" else jnp.sum(loss) if reduction == "sum" else loss


@op(name="cross_entropy", amp="black")
def _cross_entropy(x: Any, label: Any, weight: Any = None, /, *, ignore_index: int, reduction: str, soft_label: bool, axis: int,
                   use_softmax: bool, label_smoothing: float) -> Any:  # fmt: skip
    log_p = jax.nn.log_softmax(x, axis=axis) if use_softmax else jnp.log(x)
    axis = axis % x.ndim
    classes = x.shape[axis]
    if soft_label or label_smoothing > 0:
        soft = label if soft_label else jax.nn.one_hot(_ids(label, x, axis), classes, axis=axis, dtype=x.dtype)
        soft = soft * (1 - label_smoothing) + label_smoothing / classes
        loss = -jnp.sum(soft * log_p, axis=axis, keepdims=soft_label)
        if soft_label:
            return reduce(loss, reduction)
        ids = _ids(label, x, axis)
    else:
        ids = _ids(label, x, axis)
        safe = jnp.where(ids == ignore_index, 0, ids)
        loss = -jnp.squeeze(jnp.take_along_axis(log_p, jnp.expand_dims(safe, axis), axis=axis), axis)
    keep = ids != ignore_index
    w = keep.astype(x.dtype) if weight is None else jnp.where(keep, jnp.take(weight, jnp.where(keep, ids, 0)), 0)
    loss = jnp.where(keep, loss if weight is None else loss * w, 0)
    if reduction == "mean":
        return jnp.sum(loss) / jnp.maximum(jnp.sum(w), 1e-12)
    loss = reduce(loss, reduction)
    return jnp.expand_dims(loss, axis) if reduction == "none" and label.ndim == x.ndim else loss


def _ids(label: Any, x: Any, axis: int) -> Any:
    return jnp.squeeze(label, axis) if label.ndim == x.ndim else label


def cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: Any = None,
) -> Any:
    """Cross entropy of logits (or probabilities, use_softmax=False) against class ids or soft labels."""
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
def mse_loss(input: Any, label: Any, /, reduction: str = "mean") -> Any:
    """Squared difference."""
    return reduce(jnp.square(input - label), reduction)


@op
def l1_loss(input: Any, label: Any, /, reduction: str = "mean") -> Any:
    """Absolute difference."""
    return reduce(jnp.abs(input - label), reduction)


@op
def square_error_cost(input: Any, label: Any, /) -> Any:
    """Squared difference of each element."""
    return jnp.square(input - label)
