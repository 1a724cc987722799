"""What XLA's compiler for CPUs would compute again in each kernel that reads it is computed once.

That compiler puts steps that go element by element into all kernels that read them, however many steps that are. In a
net with residual connections the kernels of the last layer hold all layers before it: for 12 layers of a transformer
91 % of all instructions stand in such kernels, and they take it half a minute. So where a long chain forks, what it
gives is put into memory: behind a branch of which XLA does not know that it is never taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

# So many steps are worth a kernel of their own.
LONG = 48
# What XLA computes within the kernel of whoever reads it.
_CHEAP = frozenset(
    "abs add add_any and bitcast_convert_type broadcast_in_dim ceil clamp concatenate convert_element_type copy "
    "dynamic_slice eq expand_dims floor ge gt imag integer_pow iota is_finite le lt max min mul ne neg not or pad "
    "real reduce_precision reshape rev round select_n shift_left shift_right_arithmetic shift_right_logical sign "
    "slice split square squeeze stop_gradient sub transpose xor".split()
)
# The same where one kernel reads it; for several it is put into memory.
_DEAR = frozenset(
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh div erf erf_inv erfc exp exp2 expm1 lgamma log log1p "
    "logistic pow rem rsqrt sin sinh sqrt tan tanh".split()
)
_CALLS = {"jit": "jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "closed_call": "call_jaxpr"}


def computed_once(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that XLA compiles as it is, which nobody differentiates, with its long chains cut."""

    @functools.wraps(fn)
    def call(*args: Any) -> Any:
        if jax.default_backend() != "cpu" or jax.local_device_count() > 1:
            return fn(*args)
        closed, shapes = jax.make_jaxpr(fn, return_shape=True)(*args)
        outs = core.jaxpr_as_fun(cut(closed))(*jax.tree.leaves(args))
        return jax.tree.unflatten(jax.tree.structure(shapes), outs)

    return call


def cut(closed: Any) -> Any:
    """A jaxpr with the ends of its long chains put into memory, where more than one kernel reads them."""
    jaxpr = _flat(closed.jaxpr)
    kept, probe = forks(jaxpr), _probe(jaxpr)
    if not kept or probe is None:
        return core.ClosedJaxpr(jaxpr, closed.consts)
    never = core.Var(jax.core.ShapedArray((), np.dtype(bool)))
    now = _Names({})
    eqns = list(_spliced(_never(probe.aval), [probe], [never]))
    for eqn in jaxpr.eqns:
        eqns.append(eqn.replace(invars=now.all(eqn.invars)))
        for v in kept.intersection(eqn.outvars):
            now.of[v] = core.Var(v.aval)
            eqns += _spliced(_put_into_memory(v.aval), [never, v], [now.of[v]])
    return core.ClosedJaxpr(jaxpr.replace(eqns=eqns, outvars=now.all(jaxpr.outvars)), closed.consts)


class _Names(NamedTuple):
    """Which variables or constants stand for others."""

    of: dict[Any, Any]

    def all(self, atoms: Sequence[Any]) -> list[Any]:
        return [a if isinstance(a, core.Literal) else self.of.get(a, a) for a in atoms]


def _flat(jaxpr: Any) -> Any:
    """A jaxpr with calls of functions in their place."""
    names = _Names({})
    eqns = list(_inlined(jaxpr.eqns, names, None))
    return jaxpr.replace(eqns=eqns, outvars=names.all(jaxpr.outvars))


def _inlined(eqns: Sequence[Any], names: _Names, within: Any) -> Iterator[Any]:
    """Equations with the variables that the names say; `within`: the scope of the call that they stand in."""
    for eqn in eqns:
        invars, source = names.all(eqn.invars), eqn.source_info
        if within is not None:
            source = source.replace(name_stack=within + source.name_stack)
        called = eqn.params.get(_CALLS.get(eqn.primitive.name, ""))
        if called is not None and not called.consts:
            inner = _Names(dict(zip(called.jaxpr.invars, invars, strict=True)))
            yield from _inlined(called.jaxpr.eqns, inner, source.name_stack)
            names.of.update(zip(eqn.outvars, inner.all(called.jaxpr.outvars), strict=True))
            continue
        outvars = eqn.outvars
        if within is not None:  # the same function may be called again
            outvars = [v if isinstance(v, core.DropVar) else core.Var(v.aval) for v in outvars]
            names.of.update(zip(eqn.outvars, outvars, strict=True))
        yield eqn.replace(invars=invars, outvars=outvars, source_info=source)


def _spliced(small: Any, inputs: list[Any], outputs: list[Any]) -> Iterator[Any]:
    """The equations of a small jaxpr without constants, from and to other variables."""
    names = _Names(dict(zip([*small.jaxpr.invars, *small.jaxpr.outvars], [*inputs, *outputs], strict=True)))
    for eqn in small.jaxpr.eqns:
        for v in eqn.outvars:
            names.of.setdefault(v, core.Var(v.aval))
        yield eqn.replace(invars=names.all(eqn.invars), outvars=names.all(eqn.outvars))


@functools.cache
def _never(aval: Any) -> Any:
    """What is false, made of an array that XLA does not know."""

    def never(x: Any) -> Any:
        first = jax.lax.slice(x, (0,) * x.ndim, (1,) * x.ndim).reshape(())
        return (first == 2) & (first == 3)

    return jax.make_jaxpr(never)(jax.ShapeDtypeStruct(aval.shape, aval.dtype))


@functools.cache
def _put_into_memory(aval: Any) -> Any:
    def copied(never: Any, x: Any) -> Any:
        return jax.lax.cond(never, jnp.zeros_like, lambda x: x, x)

    specs = jax.ShapeDtypeStruct((), bool), jax.ShapeDtypeStruct(aval.shape, aval.dtype)
    return jax.make_jaxpr(copied)(*specs)


def _probe(jaxpr: Any) -> Any:
    """An input with a number in it."""
    return next((v for v in jaxpr.invars if v.aval.size and jnp.issubdtype(v.aval.dtype, np.number)), None)


def forks(jaxpr: Any) -> set[Any]:
    """The ends of long chains that more than one kernel reads."""
    shared = _shared(jaxpr)
    chains: dict[Any, int] = {}  # the equations that a kernel with this variable would hold, as bits
    kept = set()
    for i, eqn in enumerate(jaxpr.eqns):
        if _in_memory(eqn):
            continue
        chain = functools.reduce(int.__or__, (chains.get(v, 0) for v in _variables(eqn.invars)), 1 << i)
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
    readers: dict[Any, list[int]] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        for v in _variables(eqn.invars):
            readers.setdefault(v, []).append(i)
    results = set(_variables(jaxpr.outvars))
    holders: list[int] = [0] * len(jaxpr.eqns)  # the kernels that hold an equation, as bits
    shared = set()
    for i, eqn in reversed(list(enumerate(jaxpr.eqns))):
        for v in eqn.outvars:
            ways = [holders[r] for r in readers.get(v, ()) if not _in_memory(jaxpr.eqns[r])]
            own = v in results or len(ways) < len(readers.get(v, ()))
            own = own or (len(ways) > 1 and eqn.primitive.name in _DEAR)
            found = functools.reduce(int.__or__, ways, own << i)
            holders[i] |= found
            if found.bit_count() > 1 and (own or found not in ways):
                shared.add(v)
    return shared


def _in_memory(eqn: Any) -> bool:
    """Whether an equation is a kernel of its own, which reads and writes memory."""
    return eqn.primitive.name not in _CHEAP and eqn.primitive.name not in _DEAR


def _variables(atoms: Sequence[Any]) -> Iterator[Any]:
    return (a for a in atoms if not isinstance(a, core.Literal))
