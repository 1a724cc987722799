"""What is written into an array is read from memory where it is made of elements of that array.

XLA writes a slice of an array in its place, in one kernel with what makes the slice. It does so too where that reads
other elements of the array, if a reshape follows: then it reads what it has just written. After `h[1:] = h[:-1]` all
rows are the first one (JAX 0.10 to 0.12).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.jax_compat.jaxprs import Literal
from .flattening import variables, with_bodies, with_eqns
from .fusion import put_into_memory

# Kernels of their own, which have read all before a later one writes.
_APART = frozenset("dot_general conv_general_dilated while scan cond sort fft".split())


def read_before(jaxpr: Any) -> Any:
    """A jaxpr, and its bodies, in which no write reads what it has written."""
    jaxpr = with_eqns(jaxpr, [with_bodies(eqn, read_before) for eqn in jaxpr.eqns])
    return put_into_memory(jaxpr, overlapping(jaxpr))


def overlapping(jaxpr: Any) -> set[Any]:
    """The slices that are written into arrays that they are made of, and are no arrays in memory by themselves."""
    writes = [e for e in jaxpr.eqns if e.primitive.name == "dynamic_update_slice"]
    made = {v: e for e in jaxpr.eqns for v in e.outvars} if writes else {}
    found = set()
    for array, update in [e.invars[:2] for e in writes]:
        maker = None if isinstance(update, Literal) else made.get(update)
        if maker is not None and maker.primitive.name not in _APART:
            if not _sources(array, made).isdisjoint(_sources(update, made)):
                found.add(update)
    return found


def _sources(value: Any, made: Mapping[Any, Any]) -> set[Any]:
    """A variable, and what one kernel would read to make it."""
    found: set[Any] = set()
    waiting = list(variables([value]))
    while waiting:
        v = waiting.pop()
        if v not in found:
            found.add(v)
            eqn = made.get(v)
            waiting += [] if eqn is None or eqn.primitive.name in _APART else variables(eqn.invars)
    return found
