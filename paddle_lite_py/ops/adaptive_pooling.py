"""Adaptive pooling: the output size is given, and the windows follow from it."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..core.config import by_platform
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .convolution import channels_first, tuple_of
from .pooling import largest
from .types import Ints
from .windows import adaptive, bounds, gathered, lowest

__all__ = [
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    *("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"),
]

TILE = 16  # columns of a product that a GPU computes at once


def _sizes(size: Any, space: Any) -> tuple[Any, ...]:
    """Resolve the output sizes; None keeps the size of `x`."""
    n = len(space)
    given = (size,) * n if size is None else tuple_of(size, n, "output_size")
    return tuple([a if s is None else s for s, a in zip(given, space, strict=True)])


def _in_parts(attrs: dict[str, Any]) -> bool:
    size = attrs["size"]
    return any(s != 1 for s in (size if isinstance(size, tuple) else (size,)))


@op(name="adaptive_avg_pool", windows=_in_parts)
def _avg(x: Any, /, n: int, size: Any, first: bool) -> Any:
    at = 2 if first else 1
    sizes = _sizes(size, x.shape[at : at + n])
    if sizes == (1,) * n:
        return _mean_of_all(x, at, n)
    for i, k in enumerate(sizes):
        x = _mean_along(x, at + i, k)
    return x


def _mean_of_all(x: Any, at: int, n: int) -> Any:
    """Average over n axes from `at` on, keeping them with size 1; a matrix product is up to four times as fast."""
    space, axes = x.shape[at : at + n], tuple(range(at, at + n))
    if not dtypes.is_inexact(x.dtype) or not all(isinstance(a, int) for a in space):
        return jnp.mean(x, axis=axes, keepdims=True)
    ones, wide = jnp.ones(space, x.dtype), jnp.promote_types(x.dtype, jnp.float32)
    total = jnp.tensordot(x, ones, (axes, tuple(range(n))), precision="highest", preferred_element_type=wide)
    return jnp.expand_dims(total / math.prod(space), axes).astype(x.dtype)


def _mean_along(x: Any, axis: int, k: int) -> Any:
    """Average the k windows along one axis: a mean over equal parts, or a product with a weight matrix.

    XLA's GPU compiler fails on some products with fewer columns than its tiles; there, each window is averaged.
    """
    n = x.shape[axis]
    if not isinstance(n, int):
        start, end = bounds(n, k)
        at = jnp.arange(n)[:, None]
        return _weighted(x, axis, ((start <= at) & (at < end)) / (end - start))
    if k == n:
        return x
    if n % k == 0:
        return jnp.mean(x.reshape(*x.shape[:axis], k, n // k, *x.shape[axis + 1 :]), axis=axis + 1)
    if k >= TILE:
        return _by_weights(x, axis, k)
    slices = functools.partial(_by_slices, axis=axis, k=k)
    return by_platform(functools.partial(_by_weights, axis=axis, k=k), x, cuda=slices, gpu=slices)


def _by_weights(x: Any, axis: int, k: int) -> Any:
    n = x.shape[axis]
    (at,), (inside,) = adaptive((n,), (k,))
    weights = np.zeros((n, k))
    np.add.at(weights, (at, np.arange(k)[:, None]), inside / inside.sum(1, keepdims=True))
    return _weighted(x, axis, weights)


def _weighted(x: Any, axis: int, weights: Any) -> Any:
    return jnp.moveaxis(jnp.tensordot(x, jnp.asarray(weights, x.dtype), ((axis,), (0,))), -1, axis)


def _by_slices(x: Any, axis: int, k: int) -> Any:
    n = x.shape[axis]
    windows = [jax.lax.slice_in_dim(x, i * n // k, -(-(i + 1) * n // k), axis=axis) for i in range(k)]
    return jnp.concatenate([jnp.mean(w, axis=axis, keepdims=True) for w in windows], axis)


@op(name="adaptive_max_pool", windows=True)
def _max(x: Any, /, n: int, size: Any) -> Any:
    space = x.shape[2:]
    return largest(*gathered(x, *adaptive(space, _sizes(size, space)), lowest(x.dtype)))


def _check(x: Any, n: int) -> Any:
    if x.ndim != n + 2:
        raise ValueError(f"x has {x.ndim} dimensions; expected {n + 2}: batch, channels and {n} of space")
    return x


@call_cached("x")
def adaptive_avg_pool1d(x: Tensor, output_size: Ints, name: str | None = None) -> Any:
    """Apply 1-D adaptive average pooling to `x` [N, C, L].

    Window i averages the elements from `floor(i * L / output_size)` to `ceil((i + 1) * L / output_size)`.

    Returns:
        The means [N, C, output_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.adaptive_avg_pool1d(paddle.to_tensor([[[1.0, 2.0, 4.0]]]), 2).tolist()
        [[[1.5, 3.0]]]
    """
    fn: Any = _avg
    return fn(_check(x, 1), 1, output_size, True)


@call_cached("x")
def adaptive_avg_pool2d(x: Tensor, output_size: Ints, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Apply 2-D adaptive average pooling to `x` [N, C, H, W]; windows as in `adaptive_avg_pool1d()`.

    Arguments:
        output_size: int, or (height, width); None keeps the size of `x` in that dimension.

    Returns:
        The means [N, C, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.adaptive_avg_pool2d(paddle.arange(4.0).reshape([1, 1, 2, 2]), 1).tolist()
        [[[[1.5]]]]
    """
    fn: Any = _avg
    return fn(_check(x, 2), 2, output_size, channels_first(data_format, 2))


@call_cached("x")
def adaptive_avg_pool3d(x: Tensor, output_size: Ints, data_format: str = "NCDHW", name: str | None = None) -> Any:
    """Apply 3-D adaptive average pooling to `x` [N, C, D, H, W]; windows as in `adaptive_avg_pool1d()`.

    Returns:
        The means [N, C, D_out, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.adaptive_avg_pool3d(paddle.ones([1, 1, 2, 2, 2]), 1).tolist()
        [[[[[1.0]]]]]
    """
    fn: Any = _avg
    return fn(_check(x, 3), 3, output_size, channels_first(data_format, 3))


def _adaptive_max(n: int, x: Any, size: Any, mask: bool) -> Any:
    fn: Any = _max
    out = fn(_check(x, n), n, size)
    return out if mask else out[0]


@call_cached("x")
def adaptive_max_pool1d(x: Tensor, output_size: Ints, return_mask: bool = False, name: str | None = None) -> Any:
    """Apply 1-D adaptive max pooling to `x` [N, C, L]; windows as in `adaptive_avg_pool1d()`.

    Returns:
        The maxima [N, C, output_size], or (maxima, int32 indices) if `return_mask`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.adaptive_max_pool1d(paddle.to_tensor([[[1.0, 2.0, 4.0]]]), 2).tolist()
        [[[2.0, 4.0]]]
    """
    return _adaptive_max(1, x, output_size, return_mask)


@call_cached("x")
def adaptive_max_pool2d(x: Tensor, output_size: Ints, return_mask: bool = False, name: str | None = None) -> Any:
    """Apply 2-D adaptive max pooling to `x` [N, C, H, W]; windows as in `adaptive_avg_pool1d()`.

    Arguments:
        return_mask: return the index of each maximum in its flattened channel as well. Default: False.

    Returns:
        The maxima [N, C, H_out, W_out], or (maxima, int32 indices) if `return_mask`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.adaptive_max_pool2d(paddle.arange(4.0).reshape([1, 1, 2, 2]), 1).tolist()
        [[[[3.0]]]]
    """
    return _adaptive_max(2, x, output_size, return_mask)


@call_cached("x")
def adaptive_max_pool3d(x: Tensor, output_size: Ints, return_mask: bool = False, name: str | None = None) -> Any:
    """Apply 3-D adaptive max pooling to `x` [N, C, D, H, W]; windows as in `adaptive_avg_pool1d()`.

    Returns:
        The maxima [N, C, D_out, H_out, W_out], or (maxima, int32 indices) if `return_mask`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.adaptive_max_pool3d(paddle.ones([1, 1, 2, 2, 2]), 1).tolist()
        [[[[[1.0]]]]]
    """
    return _adaptive_max(3, x, output_size, return_mask)
