"""Elementwise updates of a program's arguments, such as parameters and other state, as one kernel each.

Such results that read the same arrays are computed by one kernel (`kernels.py`), in the memory of what they replace.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core.jax_compat.jaxprs import DropVar
from ..core.memo import memo, once
from ..core.switches import is_on
from . import kernels
from .flattening import RESULT, VIEWS, readers, specs_of, spliced, variables, with_eqns
from .machine_code import KERNEL, MOST_BUFFERS, compiler

_TURNS = VIEWS | {"rev", "copy"}
_IN_MEMORY = {"dot_general", "conv_general_dilated", "ffi_call"}  # in memory in any case
_MOST_LATER = 8  # arrays that a call waits for


@once
def serves() -> bool:
    """Whether machine code can be made, and nobody has switched this off."""
    return is_on("FLAGS_update_kernels") and compiler() is not None


def fuse_optimizer_updates(jaxpr: Any, donated: Sequence[int]) -> Any:
    """Return a jaxpr with one kernel for results that go element by element over the same arrays.

    Arguments:
        donated: which of its arguments' memory its results may take.
    """
    graph = _Graph(jaxpr)
    found = [g for g in graph.groups(_replaced(jaxpr, donated)) if g.is_worth_it(jaxpr.invars)]
    if not found or not serves():
        return jaxpr
    calls = {g.places[-1]: g.call(later) for g, later in zip(found, graph.later_readers(found), strict=True)}
    gone = {i for g in found for i in g.places}
    eqns: list[Any] = []
    for i, eqn in enumerate(jaxpr.eqns):
        if i in calls:
            eqns += calls[i]
        elif i not in gone:
            eqns.append(eqn)
    return with_eqns(jaxpr, eqns)


def _replaced(jaxpr: Any, donated: Sequence[int]) -> dict[Any, Any]:
    """Return the argument whose memory a result takes, by result: JAX pairs them by shape and dtype, in their order."""
    free: dict[Any, list[Any]] = {}
    for i in donated:
        free.setdefault(_kind(jaxpr.invars[i]), []).append(jaxpr.invars[i])
    return {v: free[_kind(v)].pop(0) for v in jaxpr.outvars if free.get(_kind(v))}


def _kind(v: Any) -> tuple[Any, Any]:
    return v.aval.shape, v.aval.dtype


class ReplacedSteps(NamedTuple):
    """Equations that become a kernel: their places in the jaxpr, and what they make."""

    places: tuple[int, ...]
    kernel: kernels.Kernel

    def is_worth_it(self, arguments: Sequence[Any]) -> bool:
        """Whether it has something in common, or memory to take, and its call is not too long."""
        k = self.kernel
        buffers = len(k.arrays) + len(k.numbers) + len(k.results)
        state = not set(k.arrays).isdisjoint(arguments)
        return state and (bool(k.in_place) or len(k.results) > 1) and buffers <= MOST_BUFFERS - _MOST_LATER

    def call(self, later: Sequence[Any]) -> Iterator[Any]:
        """Return the equation that calls it once the arrays `later` are there, which read what it overwrites."""
        k, (result, *_) = self.kernel, self.kernel.results
        inputs = [*k.arrays, *k.numbers, *later]
        key = k.key(math.prod(result.aval.shape), len(later))
        small = _small(key, tuple(k.in_place.items()), specs_of(k.results), *specs_of(inputs))
        sources = [e.source_info for e in k.eqns]
        named = [s for s in sources if s.name_stack.stack]  # of an operator: profiles tell of it
        return spliced(small, inputs, k.results, (named or sources)[-1])


# Key: the kernel, and the shapes and dtypes of its operands and results; pure.
@memo(2048, context=False)
def _small(key: int, in_place: tuple[tuple[int, int], ...], results: Any, *inputs: Any) -> Any:
    """Return a call as a jaxpr."""

    def call(*args: Any) -> Any:
        aliases = {a: r for r, a in in_place}
        return jax.ffi.ffi_call(KERNEL, list(results), input_output_aliases=aliases)(*args, key=np.int64(key))

    return jax.make_jaxpr(call)(*inputs)


class _Graph:
    """Who makes and who reads each variable."""

    def __init__(self, jaxpr: Any) -> None:
        self.eqns = jaxpr.eqns
        self.made = {v: i for i, e in enumerate(jaxpr.eqns) for v in e.outvars}
        self.readers = readers(jaxpr)

    def groups(self, replaced: dict[Any, Any]) -> Iterator[ReplacedSteps]:
        """Equations from which elements lead to results of the program alone, those with arrays in common together."""
        inner = self._inner()
        parents = {i: i for i in inner}

        def root(i: int) -> int:
            while parents[i] != i:
                parents[i] = i = parents[parents[i]]
            return i

        first: dict[Any, int] = {}  # that reads an array
        for i in inner:
            for v in self._arrays(i):
                parents[root(i)] = root(first.setdefault(v, self.made[v] if self.made.get(v) in parents else i))
        places: dict[int, list[int]] = {}
        for i in inner:
            places.setdefault(root(i), []).append(i)
        for found in places.values():
            yield self._replace_steps(tuple(found), replaced)

    def _inner(self) -> list[int]:
        found: set[int] = set()
        for i in reversed(range(len(self.eqns))):
            eqn = self.eqns[i]
            if not kernels.serves(eqn):
                continue
            (out,) = eqn.outvars
            readers = self.readers.get(out, ())
            given = RESULT in readers and out.aval.dtype != np.float32
            if readers and not given and all(r == RESULT or r in found for r in readers):
                found.add(i)
        return sorted(found)

    def _arrays(self, i: int) -> Iterator[Any]:
        """Return the operands of an equation that are not scalars."""
        return (v for v in variables(self.eqns[i].invars) if v.aval.shape and self._number(v) is None)

    def _number(self, v: Any) -> Any:
        """Return the number that an array is made of, if it is."""
        made = self.made.get(v)
        eqn = None if made is None else self.eqns[made]
        if eqn is None or eqn.primitive.name != "broadcast_in_dim" or eqn.invars[0].aval.shape:
            return None
        return eqn.invars[0]

    def _replace_steps(self, places: tuple[int, ...], replaced: dict[Any, Any]) -> ReplacedSteps:
        eqns = [self.eqns[i] for i in places]
        made = {e.outvars[0] for e in eqns}
        arrays = list(dict.fromkeys(v for i in places for v in self._arrays(i) if v not in made))
        read = [v for e in eqns for v in variables(e.invars)]
        splats = {v: number for v in read if v.aval.shape and (number := self._number(v)) is not None}
        single = [splats.get(v, v) for v in read if not v.aval.shape or v in splats]
        results = [e.outvars[0] for e in eqns if RESULT in self.readers[e.outvars[0]]]
        in_place = {r: arrays.index(replaced[v]) for r, v in enumerate(results) if replaced.get(v) in arrays}
        numbers = list(dict.fromkeys(variables(single)))
        return ReplacedSteps(places, kernels.Kernel(eqns, arrays, numbers, results, splats, in_place))

    def later_readers(self, groups: Sequence[ReplacedSteps]) -> list[list[Any]]:
        """Return the other readers of the arrays that each group overwrites, for which XLA would copy these.

        Only what is an array in memory in any case.
        """
        wanted = [
            dict.fromkeys(r for a in g.kernel.in_place.values() for r in self._in_memory(g.kernel.arrays[a]))
            for g in groups
        ]
        bits = {r: 1 << n for n, r in enumerate(dict.fromkeys(r for places in wanted for r in places))}
        behind: dict[Any, int] = {}  # the bits of what a variable is made of
        for i, eqn in enumerate(self.eqns):
            known = bits.get(i, 0)
            for v in variables(eqn.invars):
                known |= behind.get(v, 0)
            if known:
                behind |= dict.fromkeys(eqn.outvars, known)
        found = []
        for g, places in zip(groups, wanted, strict=True):
            needed = functools.reduce(lambda a, v: a | behind.get(v, 0), g.kernel.arrays, 0)
            outs = [self.eqns[r].outvars[0] for r in places if not bits[r] & needed and r < g.places[-1]]
            found.append([v for v in outs if not isinstance(v, DropVar)][:_MOST_LATER])
        return found

    def _is_viewed(self, v: Any) -> bool:
        """Whether it is read in another order of its axes, in which XLA may compute it."""
        return any(i != RESULT and self.eqns[i].primitive.name in _TURNS for i in self.readers.get(v, ()))

    def _in_memory(self, v: Any) -> Iterator[int]:
        for i in self.readers.get(v, ()):
            name = None if i == RESULT else self.eqns[i].primitive.name
            if name in _IN_MEMORY and not self._is_viewed(self.eqns[i].outvars[0]):
                yield i
            elif name in _TURNS:
                yield from self._in_memory(self.eqns[i].outvars[0])
