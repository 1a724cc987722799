"""Elementwise arithmetic."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..op import op
from .promote import floating, promote


@op(methods=["add"], operators=["__add__", "__radd__"], inplace="add_")
def add(x: Any, y: Any, /) -> Any:
    """Elementwise sum of x and y."""
    return jnp.add(*promote(x, y))


@op(methods=["multiply", "mul"], operators=["__mul__", "__rmul__"], inplace="multiply_")
def multiply(x: Any, y: Any, /) -> Any:
    """Elementwise product of x and y."""
    return jnp.multiply(*promote(x, y))


@op(methods=["tanh"], inplace="tanh_")
def tanh(x: Any, /) -> Any:
    """Hyperbolic tangent of each element."""
    return jnp.tanh(floating(x))
