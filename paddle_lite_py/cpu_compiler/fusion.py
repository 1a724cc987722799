"""Materialize values that XLA's CPU compiler would recompute in every kernel that reads them.

That compiler puts steps that go element by element into all kernels that read them, however many steps that are. In a
net with residual connections the kernels of the last layer hold all layers before it: for 12 layers of a transformer
91 % of all instructions stand in such kernels, and they take it half a minute. So where a long chain forks, what it
gives is put into memory: behind a branch of which XLA does not know that it is never taken.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.jax_compat.jaxprs import ShapedArray, Var
from ..core.memo import memo
from .flattening import RESULT, Renaming, readers, spliced, variables

# So many steps are worth a kernel of their own.
LONG = 24
# What XLA computes within the consumer's kernel: elementwise steps, and steps that move elements.
_STEPS = frozenset(
    "abs add add_any and ceil clamp convert_element_type copy eq floor ge gt imag integer_pow is_finite le lt max "
    "min mul ne neg not one_minus_square optimization_barrier or polynomial real reduce_precision round select_n "
    "shift_left shift_right_arithmetic shift_right_logical sign square stop_gradient sub xor".split()
)
_MOVES = frozenset(
    "bitcast_convert_type broadcast_in_dim concatenate dynamic_slice expand_dims iota pad reshape rev slice split "
    "squeeze transpose".split()
)
_CHEAP = _STEPS | _MOVES
# The same where one kernel reads it; for several it is put into memory.
_DEAR = frozenset(
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh div erf erf_inv erfc exp exp2 expm1 lgamma log log1p log2 "
    "logistic pow rem rsqrt sin sinh sqrt tan tanh".split()
)
ELEMENTWISE = _STEPS | _DEAR


def materialize_shared_chains(jaxpr: Any) -> Any:
    """A flat jaxpr with the ends of its long chains put into memory, where more than one kernel reads them."""
    return put_into_memory(jaxpr, forks(jaxpr))


def put_into_memory(jaxpr: Any, kept: set[Any]) -> Any:
    """Return a jaxpr in which these variables are arrays in memory."""
    found = never(jaxpr) if kept else None
    if found is None:
        return jaxpr
    eqns, condition = found
    now = Renaming({})
    for eqn in jaxpr.eqns:
        eqns.append(eqn.replace(invars=now.all(eqn.invars)))
        for v in kept.intersection(eqn.outvars):
            now.of[v] = Var(v.aval)
            eqns += spliced(_copied(v.aval), [condition, v], [now.of[v]])
    return jaxpr.replace(eqns=eqns, outvars=now.all(jaxpr.outvars))


def never(jaxpr: Any) -> tuple[list[Any], Any] | None:
    """Equations that make what is false without XLA's knowing it, and that variable; None without an input for it."""
    probe = _probe(jaxpr)
    if probe is None:
        return None
    condition = Var(ShapedArray((), np.dtype(bool)))
    return list(spliced(_never(probe.aval), [probe], [condition])), condition


# Key: shape and dtype.
@memo(512, context=False)
def _never(aval: Any) -> Any:
    """Return a false value that XLA cannot fold, computed from an array."""

    def never(x: Any) -> Any:
        first = jax.lax.slice(x, (0,) * x.ndim, (1,) * x.ndim).reshape(())
        return (first == 2) & (first == 3)

    return jax.make_jaxpr(never)(jax.ShapeDtypeStruct(aval.shape, aval.dtype))


# Key: shape and dtype.
@memo(512, context=False)
def _copied(aval: Any) -> Any:
    def copied(never: Any, x: Any) -> Any:
        return jax.lax.cond(never, jnp.zeros_like, lambda x: x, x)

    specs = jax.ShapeDtypeStruct((), bool), jax.ShapeDtypeStruct(aval.shape, aval.dtype)
    return jax.make_jaxpr(copied)(*specs)


def _probe(jaxpr: Any) -> Any:
    """Return an input with a number in it."""
    return next((v for v in jaxpr.invars if v.aval.size and jnp.issubdtype(v.aval.dtype, np.number)), None)


def forks(jaxpr: Any) -> set[Any]:
    """The ends of long chains that more than one kernel reads."""
    shared = _shared(jaxpr)
    chains: dict[Any, int] = {}  # the equations that a kernel with this variable would hold, as bits
    kept = set()
    for i, eqn in enumerate(jaxpr.eqns):
        if in_memory(eqn):
            continue
        chain = functools.reduce(int.__or__, (chains.get(v, 0) for v in variables(eqn.invars)), 1 << i)
        for v in eqn.outvars:
            if v not in shared:
                chains[v] = chain
            elif chain.bit_count() > LONG and v.aval.size > 1 and jnp.issubdtype(v.aval.dtype, np.inexact):
                kept.add(v)
            elif eqn.primitive.name in _CHEAP:
                chains[v] = chain
    return kept


def _shared(jaxpr: Any) -> set[Any]:
    """Variables at which the ways to several kernels part."""
    read = readers(jaxpr)
    kernels = itertools.count()
    holders: list[int] = [0] * len(jaxpr.eqns)  # the kernels that hold an equation, as bits
    parting: set[int] = set()  # equations whose results go different ways
    shared = set()
    for i, eqn in reversed(list(enumerate(jaxpr.eqns))):
        for v in eqn.outvars:
            by = read.get(v, ())
            ways = [holders[r] for r in by if r != RESULT and not in_memory(jaxpr.eqns[r])]
            own = len(ways) < len(by) or (len(ways) > 1 and eqn.primitive.name in _DEAR)
            found = functools.reduce(int.__or__, ways, own << next(kernels))
            if holders[i] and found != holders[i]:
                parting.add(i)
            holders[i] |= found
            if found.bit_count() > 1 and (own or found not in ways or parting.intersection(by)):
                shared.add(v)
    return shared


def in_memory(eqn: Any) -> bool:
    """Whether an equation is a kernel of its own, which reads and writes memory."""
    return eqn.primitive.name not in _CHEAP and eqn.primitive.name not in _DEAR
