"""Convolutions with few channels or windows as one matrix product: on CPUs several times as fast as XLA's.

All of it calls jax.lax, which JAX traces in half the time of jax.numpy: tracing convolutions takes most of the time
that the first step of a large net does.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import jax
import numpy as np
from jax.custom_derivatives import SymbolicZero

from ..cpu_compiler import takes, transposes_are_free

# Measured: the product is faster for many small windows, and for few of any size where there is much to multiply (up to
# 60 times: 512 channels of 2x2), as long as all windows together are not too many bytes. Else XLA's is no slower.
# XLA's goes over several channels at once, and where these are few the product is faster for longer.
MIN_WINDOWS, MAX_WINDOW, MAX_BYTES = 512, 150, 4 << 20
FEW_CHANNELS, MAX_BYTES_FEW_CHANNELS = 6, 32 << 20
FEW_WINDOWS, MIN_PRODUCTS, MAX_BYTES_FEW = 400, 8 << 20, 8 << 20
# Where oneDNN has the others, the product is faster for no more windows than that, and never for the gradient of x.
FEW_BESIDE_ONEDNN = 100
# oneDNN has no gradient for some channel counts, and XLA's is slow; for input images it is seldom needed.
COLOURS = 4
# Window size above which compiling XLA's kernels takes longer than they save.
MANY_TAPS = 36

Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def pays(x: Any, weight: Any, strides: Ints, pads: Pairs) -> bool:
    """Return True if the matrix product is the faster form, for `x` [n, c, *space] and `weight` [o, c, *sizes]."""
    sizes = (*x.shape, *weight.shape)
    if x.dtype != weight.dtype or x.dtype != np.float32 or not all(isinstance(n, int) for n in sizes):
        return False
    if _is_pointwise(weight, pads):
        return True
    window = math.prod(weight.shape[1:])
    counts = window_counts(x.shape[2:], weight.shape[2:], strides, pads)
    windows = x.shape[0] * math.prod(counts)
    size = window * windows * x.dtype.itemsize
    if windows <= FEW_WINDOWS:
        faster = min(counts) > 0 and size <= MAX_BYTES_FEW and windows * weight.size >= MIN_PRODUCTS
    else:
        most = MAX_BYTES_FEW_CHANNELS if x.shape[1] <= FEW_CHANNELS and x.ndim < 5 else MAX_BYTES
        faster = windows >= MIN_WINDOWS and window <= MAX_WINDOW and size <= most
    if not faster or windows <= FEW_BESIDE_ONEDNN:
        return faster
    kinds = ("forward",) if x.shape[1] <= COLOURS else ("forward", "data")
    return not _is_onednns(x, weight, strides, pads, *kinds)


def _is_onednns(x: Any, weight: Any, strides: Ints, pads: Pairs, *kinds: str) -> bool:
    return takes(x, weight, strides, pads, (1,) * len(strides), 1, *kinds)


def convolve(x: Any, weight: Any, strides: Ints, pads: Pairs) -> Any:
    """Convolve `x` [n, c, *space] with `weight` [o, c, *sizes]."""
    if not _is_pointwise(weight, pads):
        return _convolve(x, weight, strides, pads)
    return _pointwise(x, weight, strides) if transposes_are_free() else _product(x, weight, strides, pads)


def _is_pointwise(weight: Any, pads: Pairs) -> bool:
    return math.prod(weight.shape[2:]) == 1 and not any(map(any, pads))


def _pointwise(x: Any, weight: Any, strides: Ints) -> Any:
    """Compute a pointwise convolution as a product with channels last, as in XLA's own convolutions."""
    x = channels_last(x)
    if any(s > 1 for s in strides):
        x = jax.lax.slice(x, [0] * x.ndim, x.shape, (1, *strides, 1))
    return channels_second(_multiplied(x, jax.lax.reshape(weight, weight.shape[:2]), x.ndim - 1, 1))


def window_counts(space: Ints, sizes: Ints, strides: Ints, pads: Pairs) -> list[int]:
    """Return the number of windows along each axis."""
    return [(a + sum(p) - k) // s + 1 for a, k, s, p in zip(space, sizes, strides, pads, strict=True)]


@functools.partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def _convolve(x: Any, weight: Any, strides: Ints, pads: Pairs) -> Any:
    return _product(x, weight, strides, pads)


def _jvp(strides: Ints, pads: Pairs, primals: Any, tangents: Any) -> Any:
    # The transpose of each term is a gradient. That of x is fast as a product; that of the weight is, of few windows,
    # as well: it comes in the weight's own layout, whereas a convolution's has to be transposed for the update.
    (x, weight), (dx, dw) = primals, tangents
    out, terms = _convolve(x, weight, strides, pads), []
    if not isinstance(dx, SymbolicZero):  # as of input images
        if _is_onednns(x, weight, strides, pads, "data"):
            terms.append(direct(dx, weight, strides, pads))
        else:
            terms.append(_product(dx, weight, strides, pads, _windows_by_row))
    if not isinstance(dw, SymbolicZero):
        windows = x.shape[0] * math.prod(window_counts(x.shape[2:], weight.shape[2:], strides, pads))
        terms.append((_product if windows <= FEW_WINDOWS else direct)(x, dw, strides, pads))
    return out, functools.reduce(jax.lax.add, terms)


_convolve.defjvp(_jvp, symbolic_zeros=True)


def _product(x: Any, weight: Any, strides: Ints, pads: Pairs, windows: Any = None) -> Any:
    n, o = x.shape[0], weight.shape[0]
    counts = window_counts(x.shape[2:], weight.shape[2:], strides, pads)
    x = _channels_swapped(x)
    if any(map(any, pads)):
        x = jax.lax.pad(x, np.zeros((), x.dtype), [(*p, 0) for p in ((0, 0), (0, 0), *pads)])
    found = (windows or _windows)(x, weight.shape[2:], counts, strides)
    size = math.prod(weight.shape[1:])
    columns = jax.lax.reshape(found, (size, n * math.prod(counts)))
    out = _multiplied(jax.lax.reshape(weight, (o, size)), columns, 1, 0)
    return _channels_swapped(jax.lax.reshape(out, (o, n, *counts)))


def channels_last(x: Any) -> Any:
    """Move the channels from the second place to the last."""
    return jax.lax.transpose(x, (0, *range(2, x.ndim), 1))


def channels_second(x: Any) -> Any:
    """Move the channels from the last place to the second."""
    return jax.lax.transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def with_bias(x: Any, bias: Any) -> Any:
    """Add a bias to `x` with the channels last."""
    if bias.shape != x.shape[-1:] or bias.dtype != x.dtype:  # is broadcast, promoted or refused
        return x + bias.reshape(-1)
    last = x.ndim - 1
    return jax.lax.add(x, jax.lax.broadcast_in_dim(bias, (1,) * last + bias.shape, (last,)))


def _channels_swapped(x: Any) -> Any:
    return jax.lax.transpose(x, (1, 0, *range(2, x.ndim)))


def kernel_last(weight: Any) -> Any:
    """Return a weight [o, c, *sizes] as XLA's convolutions with the channels last take it: [*sizes, c, o]."""
    return jax.lax.transpose(weight, (*range(2, weight.ndim), 1, 0))


def _multiplied(a: Any, b: Any, of_a: int, of_b: int) -> Any:
    """Return the product that sums over an axis of each."""
    return jax.lax.dot_general(a, b, (((of_a,), (of_b,)), ((), ())), preferred_element_type=a.dtype)


def _stacked(parts: list[Any], axis: int) -> Any:
    parts = [jax.lax.expand_dims(p, (axis,)) for p in parts]
    return parts[0] if len(parts) == 1 else jax.lax.concatenate(parts, axis)


def _taken(x: Any, first: int, starts: Any, counts: Any, strides: Ints) -> Any:
    """Return so many elements of each axis from the `first` on, from these starts and so far apart."""
    ends = [start + (n - 1) * s + 1 for start, n, s in zip(starts, counts, strides, strict=True)]
    return jax.lax.slice(x, [0] * first + [*starts], [*x.shape[:first], *ends], [1] * first + [*strides])


def _windows(x: Any, sizes: Ints, counts: list[int], strides: Ints) -> Any:
    """Return the elements of all windows of x [c, n, *space]: [c, *elements of a window, n, *counts].

    XLA makes a kernel of each slice. Slices of one axis after the other are fewer, but move more.
    """
    if x.shape[1] * math.prod(counts) > FEW_WINDOWS and math.prod(sizes) < MANY_TAPS:
        offsets = itertools.product(*map(range, sizes))
        return _stacked([_taken(x, 2, at, counts, strides) for at in offsets], 1)
    for axis, (size, n, stride) in enumerate(zip(sizes, counts, strides, strict=True)):
        of, span = 2 + 2 * axis, (n - 1) * stride + 1
        x = _stacked([jax.lax.slice_in_dim(x, i, i + span, stride, of) for i in range(size)], 1 + axis)
    return x


def _windows_by_row(x: Any, sizes: Ints, counts: list[int], strides: Ints) -> Any:
    """Return the same in a loop over the rows of a window, whose transpose XLA cannot fuse into the op that reads it.

    Fused, the sum over the windows is made again for each element that the op makes of it.
    """
    span = (counts[0] - 1) * strides[0] + 1

    def row(i: Any) -> Any:
        found = jax.lax.dynamic_slice_in_dim(x, i, span, 2)
        return found if strides[0] == 1 else jax.lax.slice_in_dim(found, 0, span, strides[0], 2)

    rows = jax.lax.map(row, np.arange(sizes[0], dtype=np.uint32))  # JAX would count signed ones from the end
    offsets = itertools.product(*map(range, sizes[1:]))
    found = _stacked([_taken(rows, 4, at, counts[1:], strides[1:]) for at in offsets], 1)
    return jax.lax.transpose(found, (2, 0, 1, *range(3, found.ndim)))


def strided(start: int, count: int, step: int) -> slice:
    """Return the slice of `count` elements from `start` with stride `step`."""
    return slice(start, start + (count - 1) * step + 1, step)


def taps(sizes: Ints, counts: Any, strides: Ints, steps: Ints) -> list[list[slice]]:
    """Return, along each axis, the slice of the input that each kernel element is multiplied with."""
    each = zip(sizes, counts, strides, steps, strict=True)
    return [[strided(i * d, m, s) for i in range(k)] for k, m, s, d in each]


def axes_of(n: int, first: bool = False) -> tuple[str, str, str]:
    """Return XLA's dimension names of input, kernel and result with n spatial dimensions; channels last or first."""
    axes = "DHW"[-n:]
    return (f"NC{axes}", f"OI{axes}", f"NC{axes}") if first else (f"N{axes}C", f"{axes}IO", f"N{axes}C")


def direct(x: Any, weight: Any, strides: Ints, pads: Pairs, steps: Ints | None = None, groups: int = 1) -> Any:
    """Compute XLA's convolution."""
    settings: dict[str, Any] = {"rhs_dilation": steps, "feature_group_count": groups}
    settings["dimension_numbers"] = axes_of(len(strides))
    found = jax.lax.conv_general_dilated(channels_last(x), kernel_last(weight), strides, pads, **settings)
    return channels_second(found)
