"""Steps in float16 and bfloat16: computed in float32 and rounded, as XLA's are on CPUs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.small import DTYPES
from .rules import MOVES
from .steps import HostStep

LOW = frozenset(map(np.dtype, (np.float16, jnp.bfloat16)))
ALL_DTYPES = DTYPES | LOW
_FLOAT32 = np.dtype(np.float32)
# Steps that take such elements as they are: their functions have steps of their own.
_OF_FUNCTIONS = frozenset(("scan", "cond", "while"))
NAMES: dict[str, Any] = {f"_{kind.name}": kind for kind in LOW}


def is_low(step: HostStep) -> bool:
    """Whether a step computes with numbers of low precision."""
    low = any(aval.dtype in LOW for aval in (*step.given, *step.made))
    return low and step.name not in MOVES and step.name not in _OF_FUNCTIONS


def in_float32(step: HostStep) -> HostStep:
    """Return the same step in float32."""
    return step._replace(given=tuple(map(_wide_type, step.given)), made=tuple(map(_wide_type, step.made)))


def _wide_type(aval: Any) -> Any:
    return jax.ShapeDtypeStruct(aval.shape, _FLOAT32) if aval.dtype in LOW else aval


def wide(x: Any) -> Any:
    """Return an array in float32, if it is of low precision."""
    return x.astype(_FLOAT32) if x.dtype in LOW else x


def rounded(step: HostStep, several: bool) -> Any:
    """Return the code that rounds the results of the widened step, a tuple or a single one."""
    kinds = [aval.dtype if aval.dtype in LOW else None for aval in step.made]
    if not several:
        return lambda x: x if kinds[0] is None else np.asarray(x).astype(kinds[0])
    return lambda xs: tuple([x if k is None else x.astype(k) for x, k in zip(xs, kinds, strict=True)])
