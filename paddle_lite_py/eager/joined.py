"""Ops that waited, compiled as one program, with the backward of their graph where that is what they waited for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..core.cache import BoundedCache
from ..core.dtypes import is_inexact
from ..core.rewriting import rewritten
from ..host.tier import program_jit
from ..registry.bound import BoundOp
from . import tape
from .execute import forward_of

MAX_PROGRAMS = 512


class Call(NamedTuple):
    """An op that waits. `places` says of its arguments which results so far they are, or ~n for the n-th of the arrays
    from outside; `takes` which of them a gradient is recorded of, if it is. Its `count` results are numbered from
    `first` on."""

    bound: BoundOp
    places: tuple[int, ...]
    takes: tuple[bool, ...] | None
    first: int
    count: int


class Wanted(NamedTuple):
    """What is asked of some calls: which results, of which calls what their gradients need, and the gradients of a
    graph: its nodes by call (-1: none of them, so that its arrays are given), and its key."""

    values: tuple[int, ...]
    kept: tuple[int, ...]
    nodes: tuple[int, ...] = ()
    graph: tape.Key = ()


class Computed(NamedTuple):
    """What there is then: results by index, for each kept call its residuals, and gradients by slot."""

    values: dict[int, Any]
    residuals: list[Any]
    gradients: list[Any]


class Program(tape.Recurring):
    """Some calls, and what is wanted of them."""

    __slots__ = ("_calls", "_compiled", "_n", "_structure", "_wanted")

    def __init__(self, calls: Sequence[Call], n: int, wanted: Wanted) -> None:
        super().__init__()
        self._calls, self._n, self._wanted = tuple(calls), n, wanted
        self._structure = tape.Structure.of(wanted.graph) if wanted.graph else None
        bounds = [c.bound for c in calls] + list(self._structure.bounds if self._structure else ())
        self._compiled = program_jit(
            rewritten(self._computed),
            sum(b.operators for b in bounds),
            any(b.windows for b in bounds),
            any(b.plain for b in bounds),
        )

    def run(self, outside: list[Any], saved: list[Any]) -> Computed:
        """Compute it, compiled.

        Arguments:
            outside: arrays that the calls take. saved: what the nodes keep that are none of them.
        """
        values, residuals, gradients = self._compiled(*outside, *saved)
        return Computed(values, residuals, gradients)

    def _computed(self, *arrays: Any) -> tuple[dict[int, Any], list[Any], list[Any]]:
        self.traces += 1
        replay = _Replay(self._calls, arrays[: self._n], frozenset(self._wanted.kept))
        gradients = self._gradients(replay, iter(arrays[self._n :])) if self._structure else []
        wanted = {*self._wanted.values, *replay.needed}
        return {i: replay.values[i] for i in sorted(wanted)}, [replay.residuals[i] for i in self._wanted.kept], gradients

    def _gradients(self, replay: _Replay, saved: Iterator[Any]) -> list[Any]:
        structure = self._structure
        assert structure is not None
        held = [
            replay.gradients[at] if at >= 0 else tuple([next(saved) for _ in range(n)])
            for at, n in zip(self._wanted.nodes, structure.sizes(), strict=True)
        ]
        return tape.walk(structure, held, (), _pulled, operator.add)


def _pulled(bound: BoundOp, held: Any, cotangents: tuple[Any, ...], mask: tuple[bool, ...]) -> list[Any]:
    return held(cotangents) if callable(held) else bound.vjp(held, cotangents, mask)


class _Replay:
    """Calls, one after the other, while JAX traces: their results, and what gives gradients of recorded ones."""

    def __init__(self, calls: Sequence[Call], outside: Sequence[Any], kept: frozenset[int]) -> None:
        self.values: list[Any] = []
        self.gradients: dict[int, Callable[[tuple[Any, ...]], list[Any]]] = {}
        self.residuals: dict[int, Any] = {}
        self.needed: set[int] = set()  # results that are residuals
        for i, call in enumerate(calls):
            data = tuple([self.values[at] if at >= 0 else outside[~at] for at in call.places])
            if call.takes is None:
                out = call.bound.fn(*data)
            elif i in kept:
                out = self._kept(i, call, data)
            else:
                out, gradients = call.bound.traced(data, call.takes)
                self.gradients[i] = _of_inexact(gradients, out) if call.bound.keeps else gradients
            self.values += out if isinstance(out, tuple) else (out,)

    def _kept(self, i: int, call: Call, data: tuple[Any, ...]) -> Any:
        """A call whose node keeps residuals: results and arguments among them are given once."""
        assert call.takes is not None
        outs, residuals = forward_of(call.bound).function(call.takes)(*data)
        pull, pool, n = residuals.pull(), (*data, *outs, *residuals.arrays), len(data)
        self.residuals[i] = residuals
        self.gradients[i] = lambda cts: pull.vjp([pool[at] for at in pull.kept], cts, ())
        self.needed |= {call.first + at - n for at in pull.kept if n <= at < n + len(outs)}
        return tuple(outs)


def _of_inexact(gradients: Callable[..., list[Any]], out: Any) -> Callable[..., list[Any]]:
    """The same from cotangents of those results that gradients flow out of, which is how nodes with residuals count."""
    outs = out if isinstance(out, tuple) else (out,)

    def of_inexact(cotangents: tuple[Any, ...]) -> list[Any]:
        given = iter(cotangents)
        return gradients(tuple([next(given, None) if is_inexact(o.dtype) else None for o in outs]))

    return of_inexact


_programs: BoundedCache[Any, Program] = BoundedCache("programs of eager ops", MAX_PROGRAMS)


def program_of(calls: list[Call], n: int, wanted: Wanted) -> Program:
    """The program of some calls on n arrays, kept for the next time."""
    key = tuple(calls), n, wanted
    return _programs.get(key) or _programs.put(key, Program(calls, n, wanted))
