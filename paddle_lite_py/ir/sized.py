"""Operators with sizes in the place of unknown dimensions."""

from __future__ import annotations

from typing import Any

import jax

from ..core import symbolic
from ..registry.bound import BoundOp
from .block import Value

# Sizes that samples have: such as strides and scales divide, others between them, which no stride divides alike, and
# small ones; not 1, which broadcasts.
SAMPLES = (32, 75, 96, 101, 128, 160, 192, 224, 3, 4, 5, 6)


def infer_with(bound: BoundOp, inputs: tuple[Any, ...], known: dict[str, Any]) -> Any:
    """Shapes and dtypes of what a bound op gives where these are the sizes."""
    return substituted(bound, known).infer(tuple([_spec(v, known) if isinstance(v, Value) else v for v in inputs]))


def substituted(bound: BoundOp, known: dict[str, Any]) -> BoundOp:
    """Return the bound op with other dimensions in its attributes."""
    if not any(map(symbolic.has_symbolic, bound.attrs)):
        return bound
    return bound.rebound(tuple([symbolic.substitute(a, known) for a in bound.attrs]))


def _spec(value: Value, known: dict[str, Any]) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(symbolic.substitute(tuple(value.shape), known), value.dtype, weak_type=value.weak)
