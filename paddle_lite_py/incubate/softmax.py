"""Softmax with a mask, in one op."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from ..ops.diagonals import lower_triangle
from ..ops.reduction import mean, sum


@op(amp="black")
def softmax_mask_fuse(x: Any, mask: Any, /) -> Any:
    """softmax(x + mask) along the last axis.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.zeros([1, 1, 1, 2])
        >>> paddle.incubate.softmax_mask_fuse(x, paddle.to_tensor([[[[0.0, -1e9]]]])).tolist()
        [[[[1.0, 0.0]]]]
    """
    return jax.nn.softmax(x + mask, axis=-1)


@op(amp="black")
def softmax_mask_fuse_upper_triangle(x: Any, /) -> Any:
    """softmax(x) along the last axis, without what stands above the diagonal.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.zeros([1, 1, 2, 2])).tolist()
        [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    return jax.nn.softmax(jnp.where(lower_triangle(x.shape), x, -jnp.inf), axis=-1)


def identity_loss(x: Any, reduction: Any = "none") -> Any:
    """Return the loss as it is, its sum or its mean.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.identity_loss(paddle.to_tensor([1.0, 2.0]), "sum").item()
        3.0
    """
    names = {0: "sum", 1: "mean", 2: "none"}
    how = names.get(reduction, reduction)
    if how not in names.values():
        raise ValueError(f"identity_loss: reduction is {reduction!r}; expected 'none', 'sum' or 'mean'")
    chosen: dict[str, Any] = {"sum": sum, "mean": mean}
    return chosen[how](x) if how in chosen else x
