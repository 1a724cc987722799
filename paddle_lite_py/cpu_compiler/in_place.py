"""Slices that are written back into their own array are read from memory first.

XLA writes a slice of an array in its place, in one kernel with what makes the slice. It does so too where that reads
other elements of the array, if a reshape follows: then it reads what it has just written. After `h[1:] = h[:-1]` all
rows are the first one (JAX 0.10 to 0.12).
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

from .flattening import variables, with_bodies, with_eqns
from .fusion import put_into_memory

# Kernels of their own, which have read all before a later one writes.
_APART = frozenset("dot_general conv_general_dilated while scan cond sort fft".split())


def materialize_read_slices(jaxpr: Any) -> Any:
    """Return a jaxpr, and its bodies, in which no write reads what it has written."""
    jaxpr = with_eqns(jaxpr, [with_bodies(eqn, materialize_read_slices) for eqn in jaxpr.eqns])
    return put_into_memory(jaxpr, overlapping(jaxpr))


def overlapping(jaxpr: Any) -> set[Any]:
    """The slices that are written into arrays that they are made of, and are no arrays in memory by themselves."""
    writes = [e for e in jaxpr.eqns if e.primitive.name == "dynamic_update_slice"]
    if not writes:
        return set()
    sources = _sources(jaxpr)
    apart = {v for e in jaxpr.eqns if e.primitive.name in _APART for v in e.outvars}
    pairs = [tuple(variables(e.invars[:2])) for e in writes]
    given = apart.union(jaxpr.invars, jaxpr.constvars)
    return {p[1] for p in pairs if len(p) == 2 and p[1] not in given and sources[p[0]] & sources[p[1]]}


def _sources(jaxpr: Any) -> dict[Any, int]:
    """For each variable what one kernel would read to make it, as bits of a number: arrays that are there before."""
    bits = itertools.count()
    found = {v: 1 << next(bits) for v in (*jaxpr.invars, *jaxpr.constvars)}
    for eqn in jaxpr.eqns:
        read = [] if eqn.primitive.name in _APART else variables(eqn.invars)
        made = functools.reduce(operator.or_, [found[v] for v in read], 0) or 1 << next(bits)
        found.update(dict.fromkeys(eqn.outvars, made))
    return found
