"""Fractional pooling: windows of two sizes that alternate at random, so that any output size can be reached."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp

from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .convolution import tuple_of
from .random import rand
from .types import Ints
from .windows import gathered, lowest

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def _axis(u: Any, n: int, size: int, kernel: int | None) -> tuple[Any, Any]:
    """Return the indices of the windows along an axis, and the mask of valid ones."""
    if kernel is None:
        step = n / size
        u = u * min((n // size + 2) / step - 1, (n + 1 - n // size) / step - (size - 1))
    else:
        step = (n - kernel) / (size - 1) if size > 1 else 0.0
    first = (jnp.arange(size + 1) + u) * step
    at = jnp.floor(first).astype(jnp.int32) - jnp.floor(u * step).astype(jnp.int32)
    width = math.ceil(step) + 1 if kernel is None else kernel
    end = at[1:] if kernel is None else at[:-1] + kernel
    found = at[:-1, None] + jnp.arange(width, dtype=jnp.int32)
    return jnp.minimum(found, n - 1), (found < end[:, None]) & (found < n)


@op(name="fractional_max_pool")
def _pool(x: Any, u: Any, /, sizes: Any, kernel: Any) -> Any:
    axes = [_axis(u, n, s, k) for n, s, k in zip(x.shape[2:], sizes, kernel, strict=True)]
    parts, flat = gathered(x, [a for a, _ in axes], [ok for _, ok in axes], lowest(x.dtype))
    best = jnp.argmax(parts, -1, keepdims=True)
    at = jnp.take_along_axis(jnp.broadcast_to(flat, parts.shape), best, -1)
    return jnp.take_along_axis(parts, best, -1)[..., 0], at[..., 0].astype(jnp.int32)


def _fractional(n: int, x: Any, size: Any, kernel: Any, u: Any, mask: bool) -> Any:
    if x.ndim != n + 2:
        raise ValueError(f"x has {x.ndim} dimensions; expected {n + 2}: batch, channels and {n} of space")
    if u is not None and not 0 < u < 1:
        raise ValueError(f"random_u is {u}; expected a number between 0 and 1")
    wanted = (
        tuple_of(size, n, "output_size") if None not in (size if isinstance(size, list | tuple) else [size]) else size
    )
    sizes = [
        a if s is None else s for a, s in zip(x.shape[2:], wanted if wanted is not None else [None] * n, strict=True)
    ]
    kernels = (None,) * n if kernel is None else tuple_of(kernel, n, "kernel_size")
    fn: Any = _pool
    out = fn(x, rand([], "float32") if u is None else u, tuple(sizes), kernels)
    return out if mask else out[0]


@call_cached("x")
def fractional_max_pool2d(
    x: Tensor,
    output_size: Ints,
    kernel_size: Ints | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """Apply 2-D fractional max pooling (Graham, 2014) to `x` [N, C, H, W]: window borders are pseudo-random.

    Arguments:
        output_size: int, or (height, width); None keeps the size of `x`.
        kernel_size: int or (height, width): use overlapping windows of this size; None: disjoint windows.
        random_u: float in (0, 1) that determines the window borders; None: drawn at random.
        return_mask: return the index of each maximum in its flattened channel as well. Default: False.

    Returns:
        The maxima [N, C, H_out, W_out], or (maxima, int32 indices) if `return_mask`.

    Source: Graham, Fractional Max-Pooling, 2014.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(25.0).reshape([1, 1, 5, 5])
        >>> paddle.nn.functional.fractional_max_pool2d(x, 3, random_u=0.3).tolist()
        [[[[6.0, 7.0, 9.0], [11.0, 12.0, 14.0], [21.0, 22.0, 24.0]]]]
    """
    return _fractional(2, x, output_size, kernel_size, random_u, return_mask)


@call_cached("x")
def fractional_max_pool3d(
    x: Tensor,
    output_size: Ints,
    kernel_size: Ints | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """Apply 3-D fractional max pooling to `x` [N, C, D, H, W]; see `fractional_max_pool2d()`.

    Returns:
        The maxima [N, C, D_out, H_out, W_out], or (maxima, int32 indices) if `return_mask`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(8.0).reshape([1, 1, 2, 2, 2])
        >>> paddle.nn.functional.fractional_max_pool3d(x, 1, random_u=0.3).tolist()
        [[[[[7.0]]]]]
    """
    return _fractional(3, x, output_size, kernel_size, random_u, return_mask)
