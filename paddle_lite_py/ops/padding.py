"""Padding and resizing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp

from ..core.symbolic import has_symbolic, is_symbolic
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .creation import shape_tuple
from .types import Array, Ints

__all__ = ["interpolate", "pad", "pixel_shuffle", "upsample"]

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@op(name="pad")
def _pad(x: Any, /, widths: Any, mode: str, value: float) -> Any:
    if mode == "constant":
        return jnp.pad(x, widths, constant_values=jnp.asarray(value, x.dtype))
    return jnp.pad(x, widths, mode=_MODES[mode])


@call_cached("x")
def pad(
    x: Tensor,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> Any:
    """Pad a tensor at the ends of its dimensions.

    Arguments:
        pad: list of ints. With two per dimension of `x`: (before, after) from the first dimension on. Otherwise the
            spatial dimensions from the last one back: [left, right, top, bottom] for images. Constant padding accepts
            any number of trailing dimensions.
        pad_from_left_axis: with two numbers per dimension, whether they start at the first dimension. Default: True.
        mode: "constant", "reflect", "replicate" or "circular". Default: "constant".

    Returns:
        The padded tensor, in the dtype of `x`.

    Raises:
        ValueError: if `mode` is invalid, or `pad` has a wrong length.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.pad(paddle.ones([1, 1, 2]), [1, 0], data_format="NCL").tolist()
        [[[0.0, 1.0, 1.0]]]
    """
    if mode not in _MODES:
        raise ValueError(f"pad: mode is {mode!r}; expected one of {', '.join(_MODES)}")
    spatial = x.ndim - 2
    given = [pad] * (2 * spatial) if isinstance(pad, int) else _widths(pad)
    if len(given) % 2:
        raise ValueError(f"pad: pad has {len(given)} numbers; expected two, before and after, for each axis")
    pairs = list(zip(given[::2], given[1::2], strict=True))
    if len(given) == 2 * x.ndim and pad_from_left_axis:
        pairs.reverse()
    elif len(given) == 2 * spatial and (data_format or "NC")[1] != "C":
        pairs.insert(0, (0, 0))
    elif len(given) != 2 * spatial and (len(given) > 2 * x.ndim or mode != "constant"):
        expected = f"{2 * x.ndim} (all axes) or {2 * spatial} (spatial axes)"
        raise ValueError(f"pad: pad has {len(given)} numbers; expected {expected}")
    return pad_last(x, pairs, mode, value)


def _widths(pad: Any) -> list[Any]:
    found = pad._static_value("pad") if isinstance(pad, Tensor) else pad
    found = [p._static_value("pad") if isinstance(p, Tensor) else p for p in found]
    return [p if is_symbolic(p) else int(p) for p in found]


def pad_last(x: Tensor, pairs: list[tuple[int, int]], mode: str, value: float = 0.0) -> Any:
    """Pad the last dimensions by pairs (before, after), from the last dimension back."""
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    sizes = [(w, n) for w, n in zip(widths, x.shape, strict=True) if not has_symbolic((*w, n))]
    if mode == "reflect" and any(max(w) >= n for w, n in sizes if max(w)):
        given = [n for pair in pairs for n in pair]
        raise ValueError(f"pad: pad is {given}; mode 'reflect' needs sizes above it, and x is {list(x.shape)}")
    if any(sum(w) + n < 0 for w, n in sizes):
        given = [n for pair in pairs for n in pair]
        raise ValueError(f"pad: pad is {given}; it cuts off more than x has, which is {list(x.shape)}")
    if any(w < 0 for pair, _ in sizes for w in pair):  # elements are cut off, after others were added
        x = pad_last(x, [(max(a, 0), max(b, 0)) for a, b in pairs], mode, value)
        return x[tuple([slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, x.shape, strict=True)])]
    return _pad(x, tuple(widths), mode, value)


def _positions(n: int, size: int, align_corners: bool, half: bool, scale: float | None, middle: bool = False) -> Any:
    """Where each output index lies in the input; `middle`: an output of size 1 samples the middle of x."""
    i = jnp.arange(size, dtype=jnp.float32)
    if align_corners:
        return i * ((n - 1) / (size - 1) if size > 1 else 0.0)
    # As in Paddle, an output of size 1 samples the start of x, except in modes linear and trilinear.
    start = isinstance(size, int) and size == 1 and not middle
    ratio = 0.0 if start else n / size if scale is None else 1 / scale
    return (i + 0.5) * ratio - 0.5 if half else i * ratio


def _linear(x: Any, axis: int, size: int, align_corners: bool, half: bool, scale: float | None, middle: bool) -> Any:
    n = x.shape[axis]
    at = jnp.clip(_positions(n, size, align_corners, half, scale, middle), 0, n - 1)
    low = jnp.floor(at).astype(jnp.int32)
    part = (at - low).astype(x.dtype).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
    high = jnp.minimum(low + 1, n - 1)
    return jnp.take(x, low, axis=axis) * (1 - part) + jnp.take(x, high, axis=axis) * part


def _cubic(x: Any, axis: int, size: int, align_corners: bool, scale: float | None) -> Any:
    n, a = x.shape[axis], -0.75
    at = _positions(n, size, align_corners, True, scale)
    low = jnp.floor(at)
    out: Any = 0
    for k in range(-1, 3):
        d = jnp.abs(at - (low + k))
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        weight = jnp.where(d <= 1, near, far).astype(x.dtype).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        out = out + jnp.take(x, jnp.clip(low + k, 0, n - 1).astype(jnp.int32), axis=axis) * weight
    return out


def _nearest(x: Any, axis: int, size: int, align_corners: bool, scale: float | None) -> Any:
    n = x.shape[axis]
    at = _positions(n, size, align_corners, False, scale)
    at = jnp.floor(at + 0.5) if align_corners else jnp.floor(at)
    return jnp.take(x, jnp.clip(at, 0, n - 1).astype(jnp.int32), axis=axis)


def _area(x: Any, axis: int, size: int) -> Any:
    """Means of adaptive windows, as differences of a running sum."""
    n = x.shape[axis]
    i = jnp.arange(size)
    start, end = (i * n) // size, -((-(i + 1) * n) // size)
    total = jnp.cumsum(x, axis=axis)
    total = jnp.concatenate([jnp.zeros_like(jax.lax.slice_in_dim(total, 0, 1, axis=axis)), total], axis)
    shape = [-1 if a == axis else 1 for a in range(x.ndim)]
    count = (end - start).astype(x.dtype).reshape(shape)
    return (jnp.take(total, end, axis=axis) - jnp.take(total, start, axis=axis)) / count


@op(name="interpolate", amp="float32")
def _interpolate(x: Any, /, size: Any, scale: Any, mode: str, align_corners: bool, half: bool, first: int) -> Any:
    if tuple(size) == tuple(x.shape[first : first + len(size)]):
        return x
    for k, n in enumerate(size):
        axis, s = first + k, None if scale is None else scale[k]
        if mode == "nearest":
            x = _nearest(x, axis, n, align_corners, s)
        elif mode == "bicubic":
            x = _cubic(x, axis, n, align_corners, s)
        elif mode == "area":
            x = _area(x, axis, n)
        else:
            x = _linear(x, axis, n, align_corners, half, s, middle=mode != "bilinear")
    return x


_RANKS = {"linear": (3,), "bilinear": (4,), "trilinear": (5,), "bicubic": (4,), "nearest": (3, 4, 5), "area": (3, 4, 5)}


@call_cached("x")
def interpolate(
    x: Tensor,
    size: Ints | None = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Resize the spatial dimensions of `x` to `size`, or by `scale_factor`.

    Arguments:
        mode: "nearest", "linear", "bilinear", "trilinear", "bicubic" or "area". Default: "nearest".
        align_corners: align the centers of the corner pixels of input and output. Default: False.
        align_mode: 0: pixels are areas with centers at half coordinates; 1: pixels are points at integer coordinates.
            Default: 0.
        recompute_scale_factor: sample by the ratio of input and output size instead of by `scale_factor`.

    Returns:
        A tensor [N, C, *size].

    Raises:
        ValueError: if mode does not fit the number of dimensions, or not exactly one of size and scale_factor is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[[[1.0, 2.0]]]])
        >>> paddle.nn.functional.interpolate(x, scale_factor=[1, 2]).tolist()
        [[[[1.0, 1.0, 2.0, 2.0]]]]
    """
    mode = mode.lower()
    if isinstance(align_mode, bool):  # PyTorch's order: recompute_scale_factor and antialias follow align_corners
        recompute_scale_factor, antialias, data_format = align_mode, bool(data_format), None
        align_mode = 0
    if antialias:
        raise NotImplementedError("interpolate: antialias=True is not available; blur x first where it matters")
    if mode not in _RANKS or x.ndim not in _RANKS[mode]:
        raise ValueError(f"interpolate: mode {mode!r} does not take a tensor of {x.ndim} dimensions")
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: give exactly one of size and scale_factor")
    spatial = x.ndim - 2
    first = 1 if (data_format or "NC").endswith("C") and data_format else 2
    wanted = _whole(scale_factor if size is None else size, spatial)
    if len(wanted) != spatial or any(not is_symbolic(n) and float(n) <= 0 for n in wanted):
        what = "scale_factor" if size is None else "size"
        raise ValueError(f"interpolate: {what} is {wanted}; expected {spatial} numbers above 0")
    if size is not None:
        if recompute_scale_factor:
            raise ValueError("interpolate: recompute_scale_factor needs scale_factor; leave it out, or size")
        sizes, scale = [n if is_symbolic(n) else int(n) for n in _whole(size, spatial)], None
    else:
        scale = [float(s) for s in _whole(scale_factor, spatial)]
        sizes = [_scale(n, s) for n, s in zip(x.shape[first : first + spatial], scale, strict=True)]
    given = None if scale is None or recompute_scale_factor else tuple(scale)
    return _interpolate(x, tuple(sizes), given, mode, align_corners, align_mode == 0 and not align_corners, first)


def _scale(size: Any, factor: float) -> Any:
    """Return a size times a factor, rounded down; of an unknown one too."""
    if not is_symbolic(size):
        return int(size * factor)
    exact = Fraction(factor).limit_denominator(1 << 20)
    return size * exact.numerator // exact.denominator


def _whole(size: Any, spatial: int) -> list[Any]:
    found = shape_tuple(size)
    return list(found) * spatial if getattr(size, "ndim", isinstance(size, list | tuple)) == 0 else list(found)


def upsample(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: Any = None,
) -> Any:
    """Resize the spatial dimensions of `x`: the same as `interpolate()`.

    Returns:
        A tensor [N, C, *size].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.upsample(paddle.ones([1, 1, 2, 2]), scale_factor=2).shape
        paddle.Size([1, 1, 4, 4])
    """
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


@op
def pixel_shuffle(x: Array, /, upscale_factor: int, data_format: str = "NCHW") -> Any:
    """Rearrange channels into space: [N, C * r * r, H, W] becomes [N, C, H * r, W * r], r = `upscale_factor`.

    Returns:
        A tensor [N, C, H * r, W * r].

    Source: Shi et al., Real-Time Single Image and Video Super-Resolution, 2016.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.pixel_shuffle(paddle.arange(4.0).reshape([1, 4, 1, 1]), 2).tolist()
        [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    r, last = upscale_factor, data_format == "NHWC"
    x = jnp.moveaxis(x, -1, 1) if last else x
    n, c, h, w = x.shape
    if c % (r * r):
        raise ValueError(f"x has {c} channels, which upscale_factor={r} squared does not divide")
    x = x.reshape(n, c // (r * r), r, r, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // (r * r), h * r, w * r)
    return jnp.moveaxis(x, 1, -1) if last else x
