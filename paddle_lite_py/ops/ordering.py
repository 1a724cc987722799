"""Sorting, and where the largest stand: in forms for CPUs that take XLA a fraction of the time, for large arrays.

XLA's sort is fast for one array of integers: it calls a function for each comparison of floats, or of several arrays.
So floats are sorted as integers of the same order; and where indices are wanted, each stands below its element in one
integer of 64 bits. The index of the largest XLA finds one element after the other: a maximum, and the first place
where it stands, are two loops over many elements at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.config import by_platform
from .promote import from_start

# Below, eager code uses NumPy (host/tier.py), and XLA's time is negligible.
LARGE = 1 << 15
# Elements along the axis above which two loops are faster.
LONG = 64


def sort(x: Any, axis: int, descending: bool = False) -> Any:
    """Sort along an axis; NaN counts as the largest."""

    def by_xla(x: Any) -> Any:
        return jnp.sort(x, axis=axis, stable=True, descending=descending)

    pays = _is_large(x) and x.dtype == np.float32
    return _by_platform_if(x, by_xla, lambda x: _sort(x, axis, descending), pays)


def argsort(x: Any, axis: int, descending: bool = False) -> Any:
    """Return the indices that sort along an axis, stably."""

    def by_xla(x: Any) -> Any:
        return jnp.argsort(x, axis=axis, stable=True, descending=descending)

    pays = _is_large(x) and (x.dtype == np.float32 or x.dtype.kind in "iu" and x.dtype.itemsize < 4)
    return _by_platform_if(x, by_xla, lambda x: _order(x, axis, descending), pays)


def argmax(x: Any, axis: int | None, least: bool = False) -> Any:
    """Return the index of the first maximum (or minimum) along an axis (None: of all); NaN counts as both."""

    def by_xla(x: Any) -> Any:
        return (jnp.argmin if least else jnp.argmax)(x, axis=axis)

    def on_cpu(x: Any) -> Any:
        x, along = (x.reshape(-1), 0) if axis is None else (x, from_start(axis, x.ndim))
        found = (x == (jnp.min if least else jnp.max)(x, along, keepdims=True)) | (x != x)
        places = jax.lax.broadcasted_iota(jnp.int32, x.shape, along)
        return jnp.where(found, places, np.int32(x.shape[along])).min(along)

    pays = _is_large(x) and x.dtype == np.float32 and (x.size if axis is None else x.shape[axis]) >= LONG
    return _by_platform_if(x, by_xla, on_cpu, pays)


def _by_platform_if(x: Any, by_xla: Callable[[Any], Any], on_cpu: Callable[[Any], Any], pays: bool) -> Any:
    return by_platform(by_xla, x, cpu=on_cpu) if pays else by_xla(x)


def _is_large(x: Any) -> bool:
    return x.ndim > 0 and all(isinstance(n, int) for n in x.shape) and LARGE < x.size < 1 << 31


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _sort(x: Any, axis: int, descending: bool) -> Any:
    found = jax.lax.sort(_reverse(_key(x), descending), from_start(axis, x.ndim), is_stable=False)
    bits = _reverse(found, descending)
    return jax.lax.bitcast_convert_type(_order_bits(bits), x.dtype)


@_sort.defjvp
def _jvp(axis: int, descending: bool, primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    order = argsort(x, axis, descending)
    return jnp.take_along_axis(x, order, axis), jnp.take_along_axis(dx, order, axis)


def _order(x: Any, axis: int, descending: bool) -> Any:
    along = from_start(axis, x.ndim)
    # -0.0 equals 0.0.
    key = _key(jnp.where(x == 0, 0, x)) if x.dtype == np.float32 else x.astype(jnp.int32)
    high = _reverse(key, descending).astype(jnp.int64) << 32
    found = jax.lax.sort(high | jax.lax.broadcasted_iota(jnp.int64, x.shape, along), along, is_stable=False)
    return found.astype(jnp.int32)


def _key(x: Any) -> Any:
    """Integers in the order of floats."""
    return _order_bits(jax.lax.bitcast_convert_type(jnp.where(x != x, jnp.nan, x), jnp.int32))


def _order_bits(bits: Any) -> Any:
    """Bits of floats as integers in their order, and back: of negative ones all bits but the sign are the other way."""
    return jnp.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)


def _reverse(key: Any, descending: bool) -> Any:
    return ~key if descending else key
