"""Convolutions with few output channels: one matrix product per kernel element, then shifted sums.

XLA's CPU code computes many output channels at once, and most of that is wasted here: 64 to 3 channels on a 256 x 256
image take it three times as long.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .conv_gemm import Ints, Pairs, direct, strided, window_counts

# Measured. The maps take memory: as much as the result for each kernel element.
MAX_OUTPUTS, MIN_CHANNELS, MIN_PRODUCTS, MAX_BYTES = 4, 16, 4 << 20, 32 << 20


def pays(x: Any, weight: Any, strides: Ints, groups: int) -> bool:
    """Return True if `x` [n, c, *space] maps to a few channels through `weight` [o, c, *sizes] with strides of 1."""
    if groups > 1 or set(strides) != {1} or not (x.dtype == weight.dtype == np.float32):
        return False
    o, c, *sizes = weight.shape
    known = all(isinstance(n, int) for n in (*x.shape, *weight.shape))
    if not known or o > MAX_OUTPUTS or c < MIN_CHANNELS or math.prod(sizes) < 2:
        return False
    places = x.shape[0] * math.prod(x.shape[2:])
    return places * weight.size >= MIN_PRODUCTS and places * o * math.prod(sizes) * x.dtype.itemsize <= MAX_BYTES


@functools.partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def convolve(x: Any, weight: Any, pads: Pairs, steps: Ints) -> Any:
    """Convolve `x` [n, c, *space] with `weight` [o, c, *sizes] with strides of 1."""
    o, c, *sizes = weight.shape
    x = jnp.pad(x, ((0, 0), (0, 0), *pads))
    spans = tuple([d * (k - 1) + 1 for k, d in zip(sizes, steps, strict=True)])
    counts = window_counts(x.shape[2:], spans, (1,) * len(steps), ((0, 0),) * len(steps))
    rows = jnp.moveaxis(weight.reshape(o, c, -1), -1, 0).reshape(-1, c)
    maps = jax.lax.split(jax.lax.dot_general(rows, x, (((1,), (1,)), ((), ()))), [o] * math.prod(sizes))
    out: Any = 0
    for each, tap in zip(maps, itertools.product(*map(range, sizes)), strict=True):
        at = [strided(i * d, m, 1) for i, d, m in zip(tap, steps, counts, strict=True)]
        out = out + each[(slice(None), slice(None), *at)]
    return jnp.moveaxis(out, 0, 1)


@convolve.defjvp
def _jvp(pads: Pairs, steps: Ints, primals: Any, tangents: Any) -> Any:
    # The gradient of x has many channels, for which XLA's code is faster.
    (x, weight), (dx, dw) = primals, tangents
    of_x = direct(dx, weight, (1,) * len(steps), pads, steps)
    return convolve(x, weight, pads, steps), of_x + convolve(x, dw, pads, steps)
