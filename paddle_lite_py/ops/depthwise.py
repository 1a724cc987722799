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
    return _convolve(x, weight[:, 0].astype(wide), strides, pads, steps).astype(weight.dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def _convolve(x: Any, weight: Any, strides: Ints, pads: Pairs, steps: Ints) -> Any:
    """Convolve `x` [n, c, *space] with `weight` [c, *sizes]."""
    spans = tuple([d * (k - 1) + 1 for k, d in zip(weight.shape[1:], steps, strict=True)])
    counts = window_counts(x.shape[2:], spans, strides, pads)
    x, rows = _padded(x, pads), weight.shape[1]
    if math.prod(weight.shape[1:]) <= MAX_TERMS:
        return _made_once(_of_rows(x, weight, 0, rows, counts, strides, steps), weight)
    many = max(LOOP_TERMS // math.prod(weight.shape[2:]), 1)
    some = functools.partial(_of_rows, x, weight, n=many, counts=counts, strides=strides, steps=steps)
    left = rows % many or many
    first = _of_rows(x, weight, 0, left, counts, strides, steps)
    return jax.lax.fori_loop(0, (rows - left) // many, lambda i, total: total + some(left + i * many), first)


def _of_rows(x: Any, weight: Any, first: Any, n: int, counts: Any, strides: Ints, steps: Ints) -> Any:
    """Sum the products with n rows of the kernels, of which the first may be a number of a loop."""
    span = (counts[0] - 1) * strides[0] + (n - 1) * steps[0] + 1
    x = x if n == weight.shape[1] else jax.lax.dynamic_slice_in_dim(x, first * steps[0], span, 2)
    weight = weight if n == weight.shape[1] else jax.lax.dynamic_slice_in_dim(weight, first, n, 1)
    kernels = weight.reshape(weight.shape[0], -1)
    taken = _kernel_slices(weight.shape[1:], counts, strides, steps)
    return functools.reduce(jax.lax.add, [_term(x, kernels, *term) for term in enumerate(taken)])


def _term(x: Any, kernels: Any, i: int, at: Sequence[slice]) -> Any:
    """x[..., *at] times a number for each channel: as indexing and broadcasting it takes twice as long to trace."""
    starts, ends, steps = zip(*[(s.start, s.stop, s.step) for s in at], strict=True)
    part = jax.lax.slice(x, (0, 0, *starts), (*x.shape[:2], *ends), (1, 1, *steps))
    kernel = jax.lax.slice(kernels, (0, i), (kernels.shape[0], i + 1))
    return jax.lax.mul(part, jax.lax.broadcast_in_dim(kernel, part.shape, (1, 2)))


def _padded(x: Any, pads: Pairs) -> Any:
    return jnp.pad(x, ((0, 0), (0, 0), *pads))


def _made_once(x: Any, witness: Any) -> Any:
    """x behind a loop that never runs, which XLA cannot know: else it makes the sum again in each op that reads it."""
    never = jnp.real(witness.ravel()[0]) * 0 > 0
    return jax.lax.while_loop(lambda s: s[0], lambda s: (~s[0], -s[1]), (never, x))[1]


def _kernel_slices(sizes: Ints, counts: Any, strides: Ints, steps: Ints) -> Iterator[tuple[slice, ...]]:
    """For each element of a kernel of these sizes the slices of what it is multiplied with."""
    return itertools.product(*taps(sizes, counts, strides, steps))


def _forward(x: Any, weight: Any, strides: Ints, pads: Pairs, steps: Ints) -> Any:
    return _convolve(x, weight, strides, pads, steps), (x, weight)


def _backward(strides: Ints, pads: Pairs, steps: Ints, saved: Any, g: Any) -> Any:
    x, weight = saved
    of_x = _of_x(x.shape[2:], weight, g, strides, pads, steps)
    return of_x, _of_weight(_padded(x, pads), weight, g, strides, steps)


def _of_x(space: Ints, weight: Any, g: Any, strides: Ints, pads: Pairs, steps: Ints) -> Any:
    """A convolution of the gradient, its elements as far apart as they were taken, with the kernel turned round."""
    around = []
    for a, k, m, s, p, d in zip(space, weight.shape[1:], g.shape[2:], strides, pads, steps, strict=True):
        before = d * (k - 1) - p[0]
        around.append((before, a + p[0] - 1 - (m - 1) * s, s - 1))
    g = jax.lax.pad(g, jnp.zeros((), g.dtype), [(0, 0, 0), (0, 0, 0), *around])
    none = ((0, 0),) * len(strides)
    return _convolve(g, jnp.flip(weight, range(1, weight.ndim)), (1,) * len(strides), none, steps)


def _of_weight(x: Any, weight: Any, g: Any, strides: Ints, steps: Ints) -> Any:
    """Return a row of the kernel at a time: as one, XLA would go over the gradient with too many sums at once."""
    span, axes = (g.shape[2] - 1) * strides[0] + 1, (0, *range(2, g.ndim))
    columns = list(_kernel_slices(weight.shape[2:], g.shape[3:], strides[1:], steps[1:]))

    def row(i: Any) -> Any:
        part = jax.lax.dynamic_slice_in_dim(x, i * steps[0], span, 2)[:, :, :: strides[0]]
        return jnp.stack([jnp.sum(part[(..., *at)] * g, axes) for at in columns], 1)

    rows = jax.lax.map(row, jnp.arange(weight.shape[1]))
    return jnp.moveaxis(rows, 0, 1).reshape(weight.shape)


_convolve.defvjp(_forward, _backward)
