"""Convolutions: channels last inside, because that is what XLA's CPU kernels want; transposes cancel between layers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..op import op

__all__ = ["conv2d"]


def tuple_of(value: Any, n: int, what: str) -> tuple[int, ...]:
    """An int or list of n ints as a tuple of n."""
    out = (value,) * n if isinstance(value, int) else tuple(value)
    if len(out) != n:
        raise ValueError(f"{what} is {value!r}; expected a number or {n} numbers")
    return out


def paddings(padding: Any, n: int) -> Any:
    """Paddle's padding (a number, n numbers, 2n numbers, pairs, "SAME" or "VALID") as pairs or a string."""
    if isinstance(padding, str):
        return padding.upper()
    if isinstance(padding, int):
        return ((padding, padding),) * n
    if all(isinstance(p, tuple) for p in padding):
        return tuple(padding)[-n:] if len(padding) == n else tuple([p for p in padding if tuple(p) != (0, 0)] or padding[-n:])
    if len(padding) == n:
        return tuple([(p, p) for p in padding])
    return tuple([(padding[2 * i], padding[2 * i + 1]) for i in range(n)])


@op(amp="white")
def conv2d(x: Any, weight: Any, bias: Any = None, /, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
           data_format: str = "NCHW") -> Any:  # fmt: skip
    """2-D convolution; weight is [out, in / groups, height, width]."""
    first = data_format == "NCHW"
    if first:
        x = jnp.transpose(x, (0, 2, 3, 1))
    out = jax.lax.conv_general_dilated(
        x,
        jnp.transpose(weight, (2, 3, 1, 0)),
        tuple_of(stride, 2, "stride"),
        paddings(padding, 2),
        rhs_dilation=tuple_of(dilation, 2, "dilation"),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )
    if bias is not None:
        out = out + bias
    return jnp.transpose(out, (0, 3, 1, 2)) if first else out
