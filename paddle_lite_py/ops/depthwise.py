"""Depthwise convolution as a sum of shifted products: on CPUs many times as fast as XLA's grouped convolution."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core import dtypes
from .conv_gemm import Ints, Pairs, taps, window_counts

# Each kernel element is a term of the sum, and costs compile time: larger kernels are summed in a loop over their rows.
MAX_TERMS = 128
LOOP_TERMS = 32  # in one iteration: with more, XLA makes slower code
# So many channels fill a vector. They are last then: a row of a small picture fills none, and pointwise convolutions,
# before and behind, give that order.
MIN_CHANNELS_LAST = 16


def pays(x: Any, weight: Any, groups: int) -> bool:
    """Return True if each channel of `x` [n, c, *space] has its own kernels, weight [c * m, 1, *sizes]."""
    if x.dtype != weight.dtype or not dtypes.is_inexact(x.dtype) or weight.shape[0] % groups:
        return False  # XLA sums integers exactly, and raises for other dtypes
    known = all(isinstance(n, int) for n in x.shape[1:])
    return 1 < groups == x.shape[1] and known and math.prod(weight.shape[3:]) <= MAX_TERMS


def convolve(x: Any, weight: Any, strides: Ints, pads: Pairs, steps: Ints) -> Any:
    """Convolve each channel of `x` [n, c, *space] with its m kernels of `weight` [c * m, 1, *sizes]."""
    wide = jnp.promote_types(x.dtype, jnp.float32)  # XLA's convolution accumulates low precision in float32 as well
    copies = weight.shape[0] // x.shape[1]
    x = x.astype(wide)
    x = x if copies == 1 else jnp.repeat(x, copies, axis=1)
    at = -1 if x.shape[1] >= MIN_CHANNELS_LAST else 1
    out = _convolve(jnp.moveaxis(x, 1, at), weight[:, 0].astype(wide), strides, pads, steps, at)
    return jnp.moveaxis(out, at, 1).astype(weight.dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4, 5))
def _convolve(x: Any, weight: Any, strides: Ints, pads: Pairs, steps: Ints, at: int) -> Any:
    """Convolve `x` [n, c, *space], or [n, *space, c] where `at` is -1, with `weight` [c, *sizes]."""
    spans = tuple([d * (k - 1) + 1 for k, d in zip(weight.shape[1:], steps, strict=True)])
    counts = window_counts(_space(x.shape, at), spans, strides, pads)
    x, rows = jnp.pad(x, _shaped((0, 0), (0, 0), pads, at)), weight.shape[1]
    some = functools.partial(_of_rows, x, weight, counts=counts, strides=strides, steps=steps, at=at)
    if math.prod(weight.shape[1:]) <= MAX_TERMS:
        return _made_once(some(0, rows), weight)
    many = max(LOOP_TERMS // math.prod(weight.shape[2:]), 1)
    left = rows % many or many
    return jax.lax.fori_loop(0, (rows - left) // many, lambda i, sum: sum + some(left + i * many, many), some(0, left))


def _of_rows(x: Any, weight: Any, first: Any, n: int, counts: Any, strides: Ints, steps: Ints, at: int) -> Any:
    """Sum the products with n rows of the kernels, of which the first may be a number of a loop."""
    span = (counts[0] - 1) * strides[0] + (n - 1) * steps[0] + 1
    if n < weight.shape[1]:
        x = jax.lax.dynamic_slice_in_dim(x, first * steps[0], span, _rows_at(at))
        weight = jax.lax.dynamic_slice_in_dim(weight, first, n, 1)
    kernels = jnp.moveaxis(weight, 0, -1).reshape(-1, weight.shape[0])
    taken = _kernel_slices(weight.shape[1:], counts, strides, steps)
    return functools.reduce(jax.lax.add, [_term(x, kernels, at, *term) for term in enumerate(taken)])


def _term(x: Any, kernels: Any, at: int, i: int, taken: Sequence[slice]) -> Any:
    """x where it is taken times a number for each channel: as indexing and broadcasting it takes longer to trace."""
    starts, ends, steps = zip(*[(s.start, s.stop, s.step) for s in taken], strict=True)
    n, channels = x.shape[0], x.shape[at]
    limits = _shaped(0, 0, starts, at), _shaped(n, channels, ends, at), _shaped(1, 1, steps, at)
    part = jax.lax.slice(x, *limits)
    kernel = jax.lax.slice(kernels, (i, 0), (i + 1, channels)).reshape(channels)
    return jax.lax.mul(part, jax.lax.broadcast_in_dim(kernel, part.shape, (at % x.ndim,)))


def _shaped(batch: Any, channels: Any, space: Sequence[Any], at: int) -> tuple[Any, ...]:
    """Return what is said of each axis, in the order of the axes."""
    return (batch, *space, channels) if at == -1 else (batch, channels, *space)


def _space(shape: Ints, at: int) -> Ints:
    return shape[1:-1] if at == -1 else shape[2:]


def _rows_at(at: int) -> int:
    """Return the axis of the rows of pictures."""
    return 1 if at == -1 else 2


def _made_once(x: Any, witness: Any) -> Any:
    """x behind a loop that never runs, which XLA cannot know: else it makes the sum again in each op that reads it."""
    never = jnp.real(witness.ravel()[0]) * 0 > 0
    return jax.lax.while_loop(lambda s: s[0], lambda s: (~s[0], -s[1]), (never, x))[1]


def _kernel_slices(sizes: Ints, counts: Any, strides: Ints, steps: Ints) -> Iterator[tuple[slice, ...]]:
    """For each element of a kernel of these sizes the slices of what it is multiplied with."""
    return itertools.product(*taps(sizes, counts, strides, steps))


def _forward(x: Any, weight: Any, strides: Ints, pads: Pairs, steps: Ints, at: int) -> Any:
    return _convolve(x, weight, strides, pads, steps, at), (x, weight)


def _backward(strides: Ints, pads: Pairs, steps: Ints, at: int, saved: Any, g: Any) -> Any:
    x, weight = saved
    of_x = _of_x(_space(x.shape, at), weight, g, strides, pads, steps, at)
    return of_x, _of_weight(jnp.pad(x, _shaped((0, 0), (0, 0), pads, at)), weight, g, strides, steps, at)


def _of_x(space: Ints, weight: Any, g: Any, strides: Ints, pads: Pairs, steps: Ints, at: int) -> Any:
    """A convolution of the gradient, its elements as far apart as they were taken, with the kernel turned round."""
    around, counts = [], _space(g.shape, at)
    for a, k, m, s, p, d in zip(space, weight.shape[1:], counts, strides, pads, steps, strict=True):
        before = d * (k - 1) - p[0]
        around.append((before, a + p[0] - 1 - (m - 1) * s, s - 1))
    g = jax.lax.pad(g, jnp.zeros((), g.dtype), _shaped((0, 0, 0), (0, 0, 0), around, at))
    none, ones = ((0, 0),) * len(strides), (1,) * len(strides)
    return _convolve(g, jnp.flip(weight, range(1, weight.ndim)), ones, none, steps, at)


def _of_weight(x: Any, weight: Any, g: Any, strides: Ints, steps: Ints, at: int) -> Any:
    """Return a row of the kernel at a time: as one, XLA would go over the gradient with too many sums at once."""
    counts, whole, every = _space(g.shape, at), slice(None), slice(None, None, strides[0])
    summed = tuple([a for a in range(g.ndim) if a != at % g.ndim])
    span = (counts[0] - 1) * strides[0] + 1
    columns = list(_kernel_slices(weight.shape[2:], counts[1:], strides[1:], steps[1:]))

    def row(i: Any) -> Any:
        part = jax.lax.dynamic_slice_in_dim(x, i * steps[0], span, _rows_at(at))
        return jnp.stack([jnp.sum(part[_shaped(whole, whole, (every, *c), at)] * g, summed) for c in columns], 1)

    rows = jax.lax.map(row, jnp.arange(weight.shape[1]))
    return jnp.moveaxis(rows, 0, 1).reshape(weight.shape)


_convolve.defvjp(_forward, _backward)
