"""Image ops: patches, rearranging channels and space, grid sampling."""

from __future__ import annotations

import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.symbolic import is_symbolic
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .convolution import tuple_of
from .creation import shape_tuple
from .padding import pad as pad_axes
from .types import Array, Ints, Padding
from .windows import Windows

__all__ = [
    *(
        "affine_grid",
        "channel_shuffle",
        "fold",
        "grid_sample",
        "pixel_unshuffle",
        "temporal_shift",
        "unfold",
        "zeropad2d",
    ),
]


def _patches(space: Any, kernel: Any, stride: Any, pads: Any, dilation: Any) -> tuple[Windows, Any]:
    """Return the dilated windows of unfold and fold."""
    k, s, d = (tuple_of(v, 2, n) for v, n in ((kernel, "kernel_sizes"), (stride, "strides"), (dilation, "dilations")))
    if min(k) < 1:
        raise ValueError(f"kernel_sizes is {kernel!r}; expected numbers of at least 1")
    # Four numbers are [top, left, bottom, right].
    p = tuple(pads) if not isinstance(pads, int) and len(pads) == 4 else tuple_of(pads, 2, "paddings") * 2
    pad = ((p[0], p[2]), (p[1], p[3]))
    count = [(n + sum(q) - e * (c - 1) - 1) // b + 1 for n, q, e, c, b in zip(space, pad, d, k, s, strict=True)]
    if min(count) < 1:
        raise ValueError(f"kernel_sizes {list(k)} do not fit into an image of {list(space)} with paddings {list(p)}")
    return Windows(k, s, pad, tuple(space), tuple(count), 2, False), d


@op(name="im2col")  # Tensor.unfold is another op
def unfold(x: Array, /, kernel_sizes: Ints, strides: Ints = 1, paddings: Ints = 0, dilations: Ints = 1) -> Any:
    """Extract sliding patches from images [N, C, H, W] as columns (im2col).

    Arguments:
        paddings: int, (height, width), or (top, left, bottom, right). Default: 0.

    Returns:
        A tensor [N, C * kernel_height * kernel_width, patches].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(9.0).reshape([1, 1, 3, 3])
        >>> paddle.nn.functional.unfold(x, 2).tolist()[0][0]
        [0.0, 1.0, 3.0, 4.0]
    """
    w, d = _patches(x.shape[2:], kernel_sizes, strides, paddings, dilations)
    x = jnp.pad(x, ((0, 0), (0, 0), *w.pad))
    columns = [_at(x, w, (i * d[0], j * d[1])) for i, j in itertools.product(*map(range, w.kernel))]
    count = math.prod(columns[0].shape[2:])
    return jnp.stack(columns, axis=2).reshape(x.shape[0], x.shape[1] * math.prod(w.kernel), count)


def _at(x: Any, w: Windows, offset: tuple[int, int]) -> Any:
    (i, j), (h, v), (a, b) = offset, w.number, w.step
    return x[:, :, i : i + (h - 1) * a + 1 : a, j : j + (v - 1) * b + 1 : b]


@op(name="col2im")
def fold(
    x: Array, /, output_sizes: Ints, kernel_sizes: Ints, strides: Ints = 1, paddings: Ints = 0, dilations: Ints = 1
) -> Any:
    """Combine sliding patches into images (col2im); overlapping elements are summed.

    Arguments:
        output_sizes: int or (height, width) of the images.

    Returns:
        A tensor [N, C, H, W], from `x` [N, C * kernel_height * kernel_width, patches].

    Raises:
        ValueError: if the number of patches does not match the image size.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.fold(paddle.ones([1, 4, 4]), 3, 2).tolist()
        [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]
    """
    size = tuple_of(output_sizes, 2, "output_sizes")
    w, d = _patches(size, kernel_sizes, strides, paddings, dilations)
    area = math.prod(w.kernel)
    if x.shape[1] % area or x.shape[2] != math.prod(w.number):
        raise ValueError(
            f"x is {list(x.shape)}; expected [n, c * {area}, {math.prod(w.number)}] for images of {list(size)}"
        )
    x = x.reshape(x.shape[0], x.shape[1] // area, *w.kernel, *w.number)
    (top, bottom), (left, right) = w.pad
    out = jnp.zeros((*x.shape[:2], size[0] + top + bottom, size[1] + left + right), x.dtype)
    for i, j in itertools.product(*map(range, w.kernel)):
        (h, v), (a, b) = w.number, w.step
        rows, columns = slice(i * d[0], i * d[0] + (h - 1) * a + 1, a), slice(j * d[1], j * d[1] + (v - 1) * b + 1, b)
        out = out.at[:, :, rows, columns].add(x[:, :, i, j])
    return out[:, :, top : top + size[0], left : left + size[1]]


@op
def pixel_unshuffle(x: Array, /, downscale_factor: int, data_format: str = "NCHW") -> Any:
    """Rearrange space into channels: [N, C, H * r, W * r] becomes [N, C * r * r, H, W], r = `downscale_factor`.

    Returns:
        A tensor [N, C * r * r, H, W].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.pixel_unshuffle(paddle.ones([1, 1, 4, 6]), 2).shape
        paddle.Size([1, 4, 2, 3])
    """
    r, last = downscale_factor, data_format == "NHWC"
    x = jnp.moveaxis(x, -1, 1) if last else x
    n, c, h, w = x.shape
    if h % r or w % r:
        raise ValueError(f"x has images of {h} x {w}, which downscale_factor={r} does not divide")
    x = x.reshape(n, c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4).reshape(n, c * r * r, h // r, w // r)
    return jnp.moveaxis(x, 1, -1) if last else x


@op
def channel_shuffle(x: Array, /, groups: int, data_format: str = "NCHW") -> Any:
    """Interleave the channels of `groups` groups: the first of each group, then the second of each, and so on.

    Returns:
        A tensor with the shape of `x`.

    Source: Zhang et al., ShuffleNet, 2017.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.channel_shuffle(paddle.arange(4.0).reshape([1, 4, 1, 1]), 2).flatten().tolist()
        [0.0, 2.0, 1.0, 3.0]
    """
    axis = x.ndim - 1 if data_format == "NHWC" else 1
    c = x.shape[axis]
    if c % groups:
        raise ValueError(f"x has {c} channels, which groups={groups} does not divide")
    return jnp.take(x, np.arange(c).reshape(groups, c // groups).T.ravel(), axis=axis)


@op(name="temporal_shift")
def _temporal_shift(x: Any, /, seg_num: int, shift_ratio: float, last: bool) -> Any:
    x = jnp.moveaxis(x, -1, 1) if last else x
    if x.shape[0] % seg_num:
        raise ValueError(f"x has {x.shape[0]} pictures, which seg_num={seg_num} does not divide")
    c = x.shape[1]
    one, two = int(c * shift_ratio), int(c * 2 * shift_ratio)
    y = jnp.pad(x.reshape(x.shape[0] // seg_num, seg_num, *x.shape[1:]), ((0, 0), (1, 1), *[(0, 0)] * 3))
    parts = [y[:, :-2, :one], y[:, 2:, one:two], y[:, 1:-1, two:]]
    out = jnp.concatenate(parts, axis=2).reshape(x.shape)
    return jnp.moveaxis(out, 1, -1) if last else out


@call_cached("x")
def temporal_shift(
    x: Tensor, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> Any:
    """Shift part of the channels one step backward and part one step forward in time (TSM).

    Arguments:
        x: tensor [N * seg_num, C, H, W].
        shift_ratio: fraction of the channels shifted in each direction. Default: 0.25.

    Returns:
        A tensor with the shape of `x`; shifted-in steps are zeros.

    Source: Lin et al., TSM: Temporal Shift Module, 2018.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(8.0).reshape([2, 4, 1, 1])
        >>> paddle.nn.functional.temporal_shift(x, 2).reshape([2, 4]).tolist()
        [[0.0, 5.0, 2.0, 3.0], [0.0, 0.0, 6.0, 7.0]]
    """
    fn: Any = _temporal_shift
    return fn(x, seg_num, shift_ratio, data_format == "NHWC")


@call_cached("x")
def zeropad2d(x: Tensor, padding: Padding, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Pad images with zeros.

    Arguments:
        padding: int, or [left, right, top, bottom].

    Returns:
        A tensor [N, C, H + top + bottom, W + left + right].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.zeropad2d(paddle.ones([1, 1, 1, 1]), [1, 0, 0, 0]).tolist()
        [[[[0.0, 1.0]]]]
    """
    return pad_axes(x, padding, mode="constant", value=0.0, data_format=data_format)


@op(name="affine_grid")
def _affine_grid(theta: Any, /, size: Any, align_corners: bool) -> Any:
    axes = [_centers(n, np.dtype(theta.dtype).type, align_corners) for n in size]
    # Coordinates are ordered x, y (, z): the last spatial axis first.
    grid = np.stack([*np.meshgrid(*axes, indexing="ij")][::-1] + [np.ones(size, theta.dtype)], axis=-1)
    return jnp.einsum("...i,bji->b...j", jnp.asarray(grid), theta)


def _centers(n: int, kind: Any, align_corners: bool) -> Any:
    """Return the coordinates of n pixels, rounded as the reference's: on which side of a pixel a point lies depends on
    it, and so does the gradient of a sampler.
    """
    if n == 1:
        return np.zeros(1, kind)
    step, start = (kind(2) / kind(n - 1), kind(-1)) if align_corners else (kind(2) / kind(n), -kind(n - 1) / kind(n))
    return start + step * np.arange(n).astype(kind)


@call_cached("theta")
def affine_grid(theta: Tensor, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Any:
    """Create the sampling grid of `grid_sample()` for affine maps.

    Arguments:
        theta: float tensor [N, 2, 3] for images or [N, 3, 4] for volumes.
        out_shape: shape of the output of `grid_sample()`: [N, C, H, W] or [N, C, D, H, W].
        align_corners: coordinates -1 and 1 are the centers (True) or the outer edges (False) of the corner pixels.
            Default: True.

    Returns:
        A float tensor [N, H, W, 2] or [N, D, H, W, 3] of coordinates in [-1, 1].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> theta = paddle.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> paddle.nn.functional.affine_grid(theta, [1, 1, 1, 2]).tolist()
        [[[[-1.0, 0.0], [1.0, 0.0]]]]
    """
    shape = shape_tuple(out_shape)
    fn: Any = _affine_grid
    return fn(theta, tuple([n if is_symbolic(n) else int(n) for n in shape[2:]]), align_corners)


def _reflect(at: Any, n: int, align_corners: bool) -> Any:
    """Reflect coordinates into an axis of n pixels."""
    size: Any = jnp.asarray(n, at.dtype) if is_symbolic(n) else float(n)
    low, span = (0.0, size - 1) if align_corners else (-0.5, size)
    if not is_symbolic(n) and span == 0:
        return jnp.zeros_like(at)
    # Where it turns, the gradient is that of one side: those of abs and minimum would be 0 and a mean.
    away = jnp.mod(jnp.where(at < low, low - at, at - low), 2 * span)
    found = jnp.where(away < span, away, 2 * span - away) + low
    found = jnp.where(found < 0, 0, jnp.where(found > n - 1, n - 1, found))
    return jnp.where(span == 0, 0, found) if is_symbolic(n) else found


def _read(x: Any, at: list[Any], border: bool) -> Any:
    """Read elements of an image [c, *space] at integer coordinates; zeros outside unless `border`."""
    flat: Any = 0
    inside: Any = True
    for i, n in zip(at, x.shape[1:], strict=True):
        inside = inside & (i >= 0) & (i <= n - 1)
        flat = flat * n + jnp.clip(i, 0, n - 1).astype(jnp.int32)
    out = jnp.take(x.reshape(x.shape[0], math.prod(x.shape[1:])), flat, axis=1)
    return out if border else jnp.where(inside, out, 0)


def _sample(x: Any, grid: Any, nearest: bool, padding: str, align_corners: bool) -> Any:
    """Sample an image [c, *space] at the points [..., dimensions] of a grid."""
    at = []
    for i, n in enumerate(x.shape[1:]):
        u = grid[..., x.ndim - 2 - i]
        v = (u + 1) / 2 * (n - 1) if align_corners else ((u + 1) * n - 1) / 2
        if padding == "border":  # on the first pixel the gradient is that of the points behind it
            v = jnp.where(v < 0, jnp.zeros_like(v), jnp.minimum(v, n - 1))
        at.append(_reflect(v, n, align_corners) if padding == "reflection" else v)
    if nearest:
        return _read(x, [jnp.round(v) for v in at], padding != "zeros")
    out: Any = 0
    for corner in itertools.product((0, 1), repeat=len(at)):
        low = [jnp.floor(v) for v in at]
        parts = [v - b if c else 1 - (v - b) for v, b, c in zip(at, low, corner, strict=True)]
        places = [b + c for b, c in zip(low, corner, strict=True)]
        out = out + _read(x, places, padding != "zeros") * math.prod(parts[1:], start=parts[0]).astype(x.dtype)
    return out


@op(name="grid_sample")
def _grid_sample(x: Any, grid: Any, /, nearest: bool, padding: str, align_corners: bool) -> Any:
    return jax.vmap(lambda a, g: _sample(a, g, nearest, padding, align_corners))(x, grid)


@call_cached("x", "grid")
def grid_sample(
    x: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Any:
    """Sample `x` [N, C, H, W] at the coordinates of `grid`.

    Arguments:
        grid: float tensor [N, H_out, W_out, 2] of (x, y) in [-1, 1]; for volumes [N, D_out, H_out, W_out, 3].
        mode: "bilinear" or "nearest". Default: "bilinear".
        padding_mode: values outside the image: "zeros", "border" or "reflection". Default: "zeros".
        align_corners: coordinates -1 and 1 are the centers (True) or the outer edges (False) of the corner pixels.
            Default: True.

    Returns:
        The samples [N, C, H_out, W_out], or [N, C, D_out, H_out, W_out].

    Raises:
        ValueError: if `mode` or `padding_mode` is invalid.

    Source: Jaderberg et al., Spatial Transformer Networks, 2015.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, grid = paddle.arange(4.0).reshape([1, 1, 2, 2]), paddle.zeros([1, 1, 1, 2])
        >>> paddle.nn.functional.grid_sample(x, grid).tolist()
        [[[[1.5]]]]
    """
    for argument, value, known in (
        ("mode", mode, ("bilinear", "nearest")),
        ("padding_mode", padding_mode, ("zeros", "border", "reflection")),
    ):
        if value not in known:
            raise ValueError(f"grid_sample: {argument} is {value!r}; expected one of {', '.join(known)}")
    if x.ndim not in (4, 5) or grid.ndim != x.ndim:
        raise ValueError(f"grid_sample: x has {x.ndim} dimensions and grid {grid.ndim}; expected 4 or 5 of both")
    if not is_symbolic(grid.shape[-1]) and grid.shape[-1] != x.ndim - 2:
        raise ValueError(f"grid_sample: points of {grid.shape[-1]} coordinates in grid; expected {x.ndim - 2}")
    fn: Any = _grid_sample
    return fn(x, grid, mode == "nearest", padding_mode, align_corners)
