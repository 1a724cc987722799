"""3-D convolution as a sum of 2-D convolutions, for which alone XLA has fast CPU code."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..core import dtypes
from .conv_gemm import Ints, Pairs, axes_of, strided, window_counts

# Each kernel layer is a term of the sum, and costs compile time.
MAX_TERMS = 16


def pays(x: Any, weight: Any, groups: int) -> bool:
    """Return True if `x` is [n, c, depth, height, width] and the kernel is no plain matrix product."""
    if x.ndim != 5 or groups > 1 or x.dtype != weight.dtype or not dtypes.is_inexact(x.dtype):
        return False
    known = all(isinstance(n, int) for n in (*x.shape, *weight.shape))
    return known and 0 not in x.shape and weight.shape[2] <= MAX_TERMS and math.prod(weight.shape[2:]) > 1


def convolve(x: Any, weight: Any, strides: Ints, pads: Pairs, steps: Ints, apart: Ints = (1, 1, 1)) -> Any:
    """Convolve `x` [n, c, depth, height, width], dilated by `apart`, with `weight` [o, c, *sizes]."""
    spans = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], steps, strict=True)]
    space = [(a - 1) * d + 1 for a, d in zip(x.shape[2:], apart, strict=True)]
    counts = window_counts(tuple(space), tuple(spans), strides, pads)
    around = [(0, 0, 0)] * 5
    around[1] = (*pads[0], apart[0] - 1)
    dtype, wide = x.dtype, jnp.promote_types(x.dtype, jnp.float32)  # XLA's convolution accumulates in float32 as well
    x = jax.lax.pad(jnp.moveaxis(x.astype(wide), 1, -1), jnp.zeros((), wide), around)
    kernel = jnp.moveaxis(weight.astype(wide), (0, 1), (-1, -2))
    out: Any = 0
    for i in range(weight.shape[2]):
        layers = x[:, strided(i * steps[0], counts[0], strides[0])]
        out = out + jax.lax.conv_general_dilated(
            layers.reshape(-1, *layers.shape[2:]),
            kernel[i],
            strides[1:],
            pads[1:],
            apart[1:],
            steps[1:],
            dimension_numbers=axes_of(2),
        )
    return jnp.moveaxis(out.reshape(-1, *counts, weight.shape[0]), -1, 1).astype(dtype)
