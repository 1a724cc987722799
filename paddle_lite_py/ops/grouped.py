"""Grouped convolution as one matrix product per group: on CPUs many times as fast as XLA's, above all its gradient."""

from __future__ import annotations

import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp

from ..core import dtypes
from .conv_gemm import Ints, Pairs, direct, taps, window_counts

# Measured: large windows are faster as one convolution per group, but each of them costs compile time.
MAX_WINDOW, FEW_GROUPS = 150, 8
# Each kernel row is a term of a sum, and costs compile time as well.
MAX_TERMS = 64


def pays(x: Any, weight: Any, groups: int) -> bool:
    """Return True if `x` [n, c, *space] and `weight` [o, c / groups, *sizes] form a grouped convolution."""
    if x.dtype != weight.dtype or not dtypes.is_inexact(x.dtype) or weight.shape[0] % groups:
        return False  # XLA sums integers exactly, and raises for other dtypes
    known = all(isinstance(n, int) for n in x.shape[1:])
    return groups > 1 and known and math.prod(weight.shape[2:-1]) <= MAX_TERMS


def convolve(x: Any, weight: Any, groups: int, strides: Ints, pads: Pairs, steps: Ints) -> Any:
    """Convolve each group of channels of `x` [n, c, *space] with its part of `weight` [o, c / groups, *sizes]."""
    wide = jnp.promote_types(x.dtype, jnp.float32)  # XLA's convolution accumulates low precision in float32 as well
    wide_x, wide_weight = x.astype(wide), weight.astype(wide)
    if groups <= FEW_GROUPS and math.prod(weight.shape[1:]) > MAX_WINDOW:
        parts = zip(jnp.split(wide_x, groups, 1), jnp.split(wide_weight, groups), strict=True)
        out = jnp.concatenate([direct(*part, strides, pads, steps) for part in parts], 1)
    else:
        out = _product(wide_x, wide_weight, groups, strides, pads, steps)
    return out.astype(x.dtype)


def _product(x: Any, weight: Any, groups: int, strides: Ints, pads: Pairs, steps: Ints) -> Any:
    """Return a sum over the rows of the kernel, so that of the windows, too, there is a row at a time."""
    o, each, *sizes = weight.shape
    spans = tuple([d * (k - 1) + 1 for k, d in zip(sizes, steps, strict=True)])
    counts = window_counts(x.shape[2:], spans, strides, pads)
    x = jnp.pad(jnp.moveaxis(x, 1, 0), ((0, 0), (0, 0), *pads))
    *axes, last = taps(tuple(sizes), counts, strides, steps)
    rows = weight.reshape(groups, o // groups, each, -1, sizes[-1])
    out: Any = 0
    for i, at in enumerate(itertools.product(*axes)):
        found = [x[(slice(None), slice(None), *at, tap)] for tap in last]
        windows = jnp.stack(found, 1).reshape(groups, each * sizes[-1], -1)
        row = rows[:, :, :, i].reshape(groups, o // groups, each * sizes[-1])
        out = out + jax.lax.dot_general(row, windows, (((2,), (1,)), ((0,), (0,))))
    return jnp.moveaxis(out.reshape(o, x.shape[1], *counts), 0, 1)
