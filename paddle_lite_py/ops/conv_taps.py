"""Convolutions in float64 as a sum of matrix products, one for each element of the kernel.

XLA's own CPU code has fast convolutions in float32 only: one in float64 takes it ten times as long as these products,
and its gradients twenty times.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import jax
import numpy as np
from jax.custom_derivatives import SymbolicZero

from .conv_gemm import Ints, Pairs, window_counts

# Below that, what is saved does not make up for the longer time of compilation.
MIN_PRODUCTS = 8 << 20


def pays(x: Any, weight: Any, groups: int) -> bool:
    """Return True if `x` [n, c, *space] and a weight [o, c / groups, *sizes] are float64 and much to multiply.

    The weight of a transposed convolution is [c, o / groups, *sizes].
    """
    if not (x.dtype == weight.dtype == np.float64) or weight.shape[0] % groups:
        return False
    known = all(isinstance(n, int) for n in (*x.shape, *weight.shape))
    return known and x.shape[0] * math.prod(x.shape[2:]) * weight.size >= MIN_PRODUCTS


@functools.partial(jax.custom_jvp, nondiff_argnums=(2, 3, 4, 5))
def convolve(x: Any, weight: Any, strides: Ints, pads: Pairs, steps: Ints, groups: int) -> Any:
    """Convolve `x` [n, c, *space] with `weight` [o, c / groups, *sizes]."""
    return _summed(x, weight, strides, pads, steps, groups)


def _jvp(strides: Ints, pads: Pairs, steps: Ints, groups: int, primals: Any, tangents: Any) -> Any:
    # Each term is linear in what it is differentiated by, so that its transpose keeps no window.
    (x, weight), (dx, dw) = primals, tangents
    out, terms = convolve(x, weight, strides, pads, steps, groups), []
    if not isinstance(dx, SymbolicZero):
        terms.append(_summed(dx, weight, strides, pads, steps, groups))
    if not isinstance(dw, SymbolicZero):
        terms.append(_summed(x, dw, strides, pads, steps, groups))
    return out, functools.reduce(jax.lax.add, terms)


convolve.defjvp(_jvp, symbolic_zeros=True)


def convolve_transposed(x: Any, weight: Any, apart: Ints, pads: Pairs, steps: Ints, groups: int) -> Any:
    """Convolve `x` [n, c, *space], whose elements are so far apart, with the mirrored `weight` [c, o / groups, *sizes].

    It is the transpose of the convolution that takes its result to `x`.
    """
    spans = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], steps, strict=True)]
    space = [(a - 1) * d + 1 for a, d in zip(x.shape[2:], apart, strict=True)]
    counts = window_counts(tuple(space), tuple(spans), (1,) * len(spans), pads)
    around = tuple([(span - 1 - before, span - 1 - after) for span, (before, after) in zip(spans, pads, strict=True)])
    result = jax.ShapeDtypeStruct((x.shape[0], weight.shape[1] * groups, *counts), x.dtype)
    (out,) = jax.linear_transpose(lambda y: _summed(y, weight, apart, around, steps, groups), result)(x)
    return out


def _summed(x: Any, weight: Any, strides: Ints, pads: Pairs, steps: Ints, groups: int) -> Any:
    o, c, *sizes = weight.shape
    spans = tuple([d * (k - 1) + 1 for k, d in zip(sizes, steps, strict=True)])
    counts = window_counts(x.shape[2:], spans, strides, pads)
    widths = [(n - 1) * s + 1 for n, s in zip(counts, strides, strict=True)]
    n, places = x.shape[0], x.shape[0] * math.prod(counts)
    x = jax.lax.pad(x, np.zeros((), x.dtype), [(*p, 0) for p in ((0, 0), (0, 0), *pads)])
    x = jax.lax.transpose(x, (1, 0, *range(2, x.ndim)))
    taps = jax.lax.transpose(jax.lax.reshape(weight, (groups, o // groups, c, math.prod(sizes))), (3, 0, 1, 2))
    starts = np.array(list(itertools.product(*map(range, sizes))), np.int32) * np.array(steps, np.int32)

    def added(out: Any, tap: Any) -> tuple[Any, None]:
        kernel, start = tap
        at = [np.int32(0), np.int32(0), *[start[i] for i in range(len(sizes))]]
        part = jax.lax.dynamic_slice(x, at, (*x.shape[:2], *widths))
        part = jax.lax.slice(part, [0] * part.ndim, part.shape, (1, 1, *strides))
        part = jax.lax.reshape(part, (groups, c, places))
        return out + jax.lax.dot_general(kernel, part, (((2,), (1,)), ((0,), (0,)))), None

    found, _ = jax.lax.scan(added, jax.lax.full((groups, o // groups, places), 0, x.dtype), (taps, starts))
    found = jax.lax.reshape(found, (o, n, *counts))
    return jax.lax.transpose(found, (1, 0, *range(2, found.ndim)))
