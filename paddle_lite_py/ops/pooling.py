"""Pooling."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..core.symbolic import is_symbolic
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .convolution import channels_first, paddings, tuple_of
from .max_window import max_of_windows
from .types import Ints, Padding, TensorLike
from .windows import Windows, gathered, indices, lowest, window_sum, windows

__all__ = [
    *("avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "max_pool1d", "max_pool2d", "max_pool3d"),
    *("max_unpool1d", "max_unpool2d", "max_unpool3d"),
]


@op(name="max_pool", windows=True)
def _max(x: Any, /, n: int, kernel: Any, stride: Any, padding: Any, ceil: bool, first: bool) -> Any:
    return max_of_windows(x, windows(x, n, kernel, stride, padding, ceil, first))


@op(name="max_pool_with_index", windows=True)
def _max_index(x: Any, /, n: int, kernel: Any, stride: Any, padding: Any, ceil: bool, first: bool) -> Any:
    """Return the largest elements, and where in its image each stands."""
    x = x if first else jnp.moveaxis(x, -1, 1)
    return largest(*gathered(x, *indices(windows(x, n, kernel, stride, padding, ceil, True)), lowest(x.dtype)), first)


def largest(elements: Any, flat: Any, first: bool = True) -> tuple[Any, ...]:
    """Return the largest of each window's elements, and its flat index (int32)."""
    best = jnp.argmax(elements, axis=-1)[..., None]
    flat = jnp.broadcast_to(jnp.asarray(flat, jnp.int32), elements.shape)
    out = [jnp.take_along_axis(a, best, axis=-1)[..., 0] for a in (elements, flat)]
    return tuple(out if first else [jnp.moveaxis(a, 1, -1) for a in out])


def _max_pool(n: int, x: Any, kernel: Any, stride: Any, padding: Any, mask: bool, ceil: bool, data_format: str) -> Any:
    fn: Any = _max_index if mask else _max
    return fn(x, n, kernel, stride, padding, ceil, channels_first(data_format, n))


@call_cached("x")
def max_pool1d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """Apply 1-D max pooling: the maximum of each window of `x` [N, C, L].

    Returns:
        The maxima [N, C, L_out], or (maxima, int32 indices) if `return_mask`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.max_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[3.0, 2.0]]]
    """
    return _max_pool(1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


@call_cached("x")
def max_pool2d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Apply 2-D max pooling: the maximum of each window of `x` [N, C, H, W].

    Arguments:
        stride: int or two ints, the step between windows. Default: `kernel_size`.
        padding: padding as in `conv2d()`; padded elements are never the maximum. Default: 0.
        return_mask: return the index of each maximum in its flattened channel as well. Default: False.
        ceil_mode: round the output size up instead of down, so that the last window may reach over the edge. Default:
            False.

    Returns:
        The maxima [N, C, H_out, W_out], or (maxima, int32 indices) if `return_mask`.

    Raises:
        ValueError: if an option has a wrong length, or the window exceeds the padded image by a step or more.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> paddle.nn.functional.max_pool2d(x, 2).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
        >>> paddle.nn.functional.max_pool2d(x, 2, return_mask=True)[1].tolist()
        [[[[5, 7], [13, 15]]]]
    """
    return _max_pool(2, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@call_cached("x")
def max_pool3d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Apply 3-D max pooling: the maximum of each window of `x` [N, C, D, H, W].

    Returns:
        The maxima [N, C, D_out, H_out, W_out], or (maxima, int32 indices) if `return_mask`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.max_pool3d(paddle.ones([1, 1, 2, 2, 2]), 2).tolist()
        [[[[[1.0]]]]]
    """
    return _max_pool(3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@op(name="avg_pool", windows=True)
def _avg(
    x: Any, /, n: int, kernel: Any, stride: Any, padding: Any, ceil: bool, exclusive: bool, divisor: Any, first: bool
) -> Any:
    w = windows(x, n, kernel, stride, padding, ceil, first)
    area = math.prod(w.kernel)
    plain = not w.ceil and (not exclusive or not any(map(sum, w.pad)))
    mean = window_sum(x, w) / (area if plain else _sizes(w, exclusive, x))
    return mean * (area / divisor) if divisor else mean


def _sizes(w: Windows, exclusive: bool, x: Any) -> Any:
    """Return the number of elements that each window holds; those of the padding count unless `exclusive`."""
    size: Any = 1
    for i, n in enumerate(w.space):
        low, high = (0, n) if exclusive else (-w.pad[i][0], n + w.pad[i][1])
        start = w.starts(i)
        size = size * _along(jnp.minimum(start + w.kernel[i], high) - jnp.maximum(start, low), w.at + i, x.ndim)
    return size.astype(x.dtype)


def _along(v: Any, axis: int, ndim: int) -> Any:
    return v.reshape([-1 if a == axis else 1 for a in range(ndim)])


def _avg_pool(
    n: int, x: Any, kernel: Any, stride: Any, padding: Any, ceil: bool, exclusive: bool, divisor: Any, data_format: str
) -> Any:
    fn: Any = _avg
    return fn(x, n, kernel, stride, padding, ceil, exclusive, divisor, channels_first(data_format, n))


@call_cached("x")
def avg_pool1d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """Apply 1-D average pooling: the mean of each window of `x` [N, C, L].

    Returns:
        The means [N, C, L_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[2.0, 1.0]]]
    """
    return _avg_pool(1, x, kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL")


@call_cached("x")
def avg_pool2d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: TensorLike | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Apply 2-D average pooling: the mean of each window of `x` [N, C, H, W].

    Arguments:
        exclusive: leave padded elements out of the divisor. Default: True.
        divisor_override: number to divide the sum of a full window by, instead of the number of elements; windows that
            are cut off divide in proportion. None: the number of elements.

    Returns:
        The means [N, C, H_out, W_out], with `H_out = floor((H + 2 * padding - kernel_size) / stride) + 1`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> paddle.nn.functional.avg_pool2d(x, 2).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    return _avg_pool(2, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format)


@call_cached("x")
def avg_pool3d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: TensorLike | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Apply 3-D average pooling: the mean of each window of `x` [N, C, D, H, W].

    Returns:
        The means [N, C, D_out, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.avg_pool3d(paddle.ones([1, 1, 2, 2, 2]), 2).tolist()
        [[[[[1.0]]]]]
    """
    return _avg_pool(3, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format)


@op(name="lp_pool", windows=True)
def _lp(x: Any, /, n: int, p: float, kernel: Any, stride: Any, padding: Any, ceil: bool, first: bool) -> Any:
    if isinstance(padding, bool):  # ceil_mode is the fifth argument in PyTorch
        padding, ceil = 0, padding
    w = windows(x, n, kernel, stride, padding, ceil, first)
    if p == math.inf:
        return max_of_windows(jnp.abs(x), w)
    return window_sum(x**p, w) ** (1 / p)


@call_cached("x")
def lp_pool1d(
    x: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """Apply 1-D power-average pooling: `(sum(x ** norm_type)) ** (1 / norm_type)` over each window.

    Returns:
        The norms [N, C, L_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.lp_pool1d(paddle.to_tensor([[[3.0, 4.0]]]), 2, 2).tolist()
        [[[5.0]]]
    """
    fn: Any = _lp
    return fn(x, 1, norm_type, kernel_size, stride, padding, ceil_mode, channels_first(data_format, 1))


@call_cached("x")
def lp_pool2d(
    x: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Apply 2-D power-average pooling: `(sum(x ** norm_type)) ** (1 / norm_type)` over each window.

    As in Paddle, signs count: with an odd `norm_type` negative powers are added, and a negative sum gives NaN.

    Returns:
        The norms [N, C, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.lp_pool2d(paddle.to_tensor([[[[3.0, 4.0]]]]), 2, [1, 2]).tolist()
        [[[[5.0]]]]
    """
    fn: Any = _lp
    return fn(x, 2, norm_type, kernel_size, stride, padding, ceil_mode, channels_first(data_format, 2))


@op(name="max_unpool")
def _unpool(x: Any, indices: Any, /, size: Any) -> Any:
    n, c = x.shape[:2]
    flat, at = (a.reshape(n, c, math.prod(x.shape[2:])) for a in (x, indices))
    out = jnp.zeros((n, c, math.prod(size)), x.dtype)
    put = jax.vmap(jax.vmap(lambda o, i, v: o.at[i].set(v)))
    return put(out, at, flat).reshape(n, c, *size)


def _max_unpool(n: int, x: Any, where: Any, kernel: Any, stride: Any, padding: Any, data_format: str, size: Any) -> Any:
    if not channels_first(data_format, n):
        raise ValueError(f"max_unpool{n}d: data_format is {data_format!r}; it takes channels before space only")
    if x.ndim != n + 2:
        raise ValueError(f"max_unpool{n}d: x has {x.ndim} dimensions; expected {n + 2}")
    k = tuple_of(kernel, n, "kernel_size")
    steps, pad = k if stride is None else tuple_of(stride, n, "stride"), paddings(padding, n)
    if size is None:
        size = [(a - 1) * s - sum(p) + b for a, s, p, b in zip(x.shape[2:], steps, pad, k, strict=True)]
    fn: Any = _unpool
    return fn(x, where, tuple([a if is_symbolic(a) else int(a) for a in size][-n:]))


@call_cached("x", "indices")
def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    data_format: str = "NCL",
    output_size: Ints | None = None,
    name: str | None = None,
) -> Any:
    """Invert `max_pool1d()`: put each element at the index of its maximum, with zeros elsewhere.

    Returns:
        A tensor [N, C, L_out], whose length is `output_size` or `(L - 1) * stride - 2 * padding + kernel_size`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, i = paddle.to_tensor([[[3.0]]]), paddle.to_tensor([[[1]]], "int32")
        >>> paddle.nn.functional.max_unpool1d(x, i, 2).tolist()
        [[[0.0, 3.0]]]
    """
    return _max_unpool(1, x, indices, kernel_size, stride, padding, data_format, output_size)


@call_cached("x", "indices")
def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    data_format: str = "NCHW",
    output_size: Ints | None = None,
    name: str | None = None,
) -> Any:
    """Invert `max_pool2d()`: put each element at the index of its maximum, with zeros elsewhere.

    Arguments:
        indices: int tensor, the indices that `max_pool2d(..., return_mask=True)` returned.
        output_size: (height, width) of the result; None: `(H - 1) * stride - 2 * padding + kernel_size`.

    Returns:
        A tensor [N, C, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, i = paddle.to_tensor([[[[3.0]]]]), paddle.to_tensor([[[[2]]]], "int32")
        >>> paddle.nn.functional.max_unpool2d(x, i, 2).tolist()
        [[[[0.0, 0.0], [3.0, 0.0]]]]
    """
    return _max_unpool(2, x, indices, kernel_size, stride, padding, data_format, output_size)


@call_cached("x", "indices")
def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    data_format: str = "NCDHW",
    output_size: Ints | None = None,
    name: str | None = None,
) -> Any:
    """Invert `max_pool3d()`: put each element at the index of its maximum, with zeros elsewhere.

    Returns:
        A tensor [N, C, D_out, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, i = paddle.to_tensor([[[[[3.0]]]]]), paddle.to_tensor([[[[[1]]]]], "int32")
        >>> paddle.nn.functional.max_unpool3d(x, i, [1, 1, 2]).tolist()
        [[[[[0.0, 3.0]]]]]
    """
    return _max_unpool(3, x, indices, kernel_size, stride, padding, data_format, output_size)
