"""Cotangents of results that no gradient comes to: JAX's own zeros, which its transposition leaves out."""

from __future__ import annotations

from typing import Any

import jax
from jax.interpreters.ad import Zero, instantiate_zeros


def absent(out: Any) -> Any:
    """Return the cotangent of a result like `out` that no gradient comes to."""
    return Zero(jax.core.ShapedArray(out.shape, out.dtype))


def is_absent(cotangent: Any) -> bool:
    """Whether it is such a one."""
    return isinstance(cotangent, Zero)


def materialize(cotangent: Any) -> Any:
    """Return a cotangent as an array: zeros where it is absent."""
    return instantiate_zeros(cotangent)
