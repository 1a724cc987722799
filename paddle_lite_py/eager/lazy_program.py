"""Ops that waited, compiled as one program: a forward pass, its backward, and the update of what it trains."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core import cache_checks, memory
from ..core.arrays import is_array
from ..core.donation import suits_plain
from ..core.memo import Memo
from ..cpu_compiler import OutOfProcessJit, prepare
from ..host.tier import added, for_xla, program_jit
from ..registry.bound import BoundOp
from . import tape
from .execute import explain, forward_of
from .pending import Failed
from .tensor import wrap

MAX_PROGRAMS = 512
MIN_ALIKE = 10  # programs of fewer ops may be of the same ones by chance
Arrays = Sequence[Any]


class CallStep(NamedTuple):
    """An op that waits.

    Its arguments are results so far, by number, or ~n for the n-th array from outside; `takes` says of which of them a
    gradient is recorded, if it is. Its own results are `n` ones from `first` on.
    """

    bound: BoundOp
    places: tuple[int, ...]
    takes: tuple[bool, ...] | None
    first: int
    n: int


class BackwardStep(NamedTuple):
    """The gradients of a graph, which are results as well: one for each leaf.

    Of its nodes `calls` has the numbers of the calls that they stand for, -1 for others, whose arrays are at `places`.
    """

    calls: tuple[int, ...]
    key: tape.Key
    places: tuple[int, ...]
    leaves: tuple[tuple[tuple[int, ...], Any], ...]  # shapes and dtypes


Steps = Sequence[CallStep | BackwardStep]


class Wanted(NamedTuple):
    """Which results are asked for, of which calls also what their gradients need, and which arrays from outside may be
    overwritten."""

    results: tuple[int, ...]
    kept: tuple[int, ...]
    donated: tuple[int, ...]


class LazyProgram(tape.Recurring):
    """Some steps, and what is wanted of them.

    Integers that are always the same, such as bounds of slices, are part of the program: XLA makes no good kernels of
    what begins anywhere. If they change there is a second program, which takes them all.
    """

    __slots__ = ("_compiled", "_integers", "_order", "_steps", "_wanted")

    def __init__(self, steps: Steps, outside: Arrays, wanted: Wanted) -> None:
        super().__init__()
        ops = tuple([s.bound.op for s in steps if isinstance(s, CallStep)])
        self.varies = len(ops) == len(steps)  # a forward pass alone may be that of a decoder, whose shapes change
        if self.varies and len(ops) >= MIN_ALIKE:
            self.alike = _alike.get(ops) or _alike.put(ops, [0])
            self.alike[0] += 1
        self._steps, self._wanted = tuple(steps), wanted
        # What the program takes: first what may be overwritten, in the order of the results that take its place.
        self._order = list(dict.fromkeys((*wanted.donated, *range(len(outside)))))
        self._integers = {i: a for i, a in enumerate(outside) if a.__class__ is int}
        self._compiled: dict[bool, Any] = {}  # by whether it is of these integers

    def run(self, outside: Arrays) -> tuple[dict[int, Any], dict[int, Any]]:
        """The results by number, and by call what its gradient needs."""
        n = len(self._wanted.donated)
        arrays = [outside[i] for i in self._order[:n]]
        arrays += [for_xla(outside[i]) for i in self._order[n:]]
        same = self._has_integers(outside)
        program = self._compiled.get(same)
        if program is not None:
            return program(*arrays)
        program = self._compiled[same] = self._program(outside, self._integers if same else {})
        with memory.returned(), memory.uncollected():
            out = program(*arrays)
            jax.block_until_ready(out)
            return out

    def run_once(self, outside: Arrays) -> tuple[dict[int, Any], dict[int, Any]] | None:
        """The same without a compiler, for what may not come again; None where that is not to be had."""
        if not self._has_integers(outside):
            return None
        program = self._compiled.get(True) or self._compiled.setdefault(True, self._program(outside, self._integers))
        arrays = [for_xla(outside[i]) for i in self._order]
        run = program.without_compiler(*arrays) if isinstance(program, OutOfProcessJit) else None
        return None if run is None else run(*arrays)

    def _has_integers(self, outside: Arrays) -> bool:
        """Whether the integers are those that are part of the program."""
        return all(outside[i].__class__ is int and outside[i] == known for i, known in self._integers.items())

    def _program(self, outside: Arrays, known: dict[int, int]) -> Callable[..., Any]:
        """The program where some of what comes from outside is known."""
        bounds = [s.bound for s in self._steps if isinstance(s, CallStep)]
        bounds += [b for s in self._steps if isinstance(s, BackwardStep) for b in tape.Structure.of(s.key).bounds]
        updated = sum(outside[i].size for i in self._wanted.donated)
        donated = tuple(range(len(self._wanted.donated)))
        return program_jit(
            prepare(self._named(known), donated),
            sum(b.operators for b in bounds),
            plain=suits_plain(any(b.plain for b in bounds), updated),
            donate_argnums=donated,
        )

    def _named(self, known: dict[int, int]) -> Callable[..., Any]:
        """The function, by what it does: lines about long compilations say its name."""

        def eager_ops(*arrays: Any) -> Any:
            self.traces += 1
            outside = dict(zip(self._order, arrays, strict=True)) | known
            given = [outside[i] for i in range(len(arrays))]
            traced = TracedSteps(given, self._steps, frozenset(self._wanted.kept))
            for at, step in enumerate(self._steps):
                traced.do(at, step)
            results = {i: traced.values[i] for i in sorted({*self._wanted.results, *traced.needed})}
            return results, traced.residuals

        if any(isinstance(s, BackwardStep) for s in self._steps):
            eager_ops.__name__ = eager_ops.__qualname__ = "eager_ops_and_backward"
        return eager_ops


class TracedSteps:
    """Steps, one after the other, while JAX traces: their results, and what gives the gradients of recorded calls.

    Arguments:
        outside: arrays from outside. kept: calls of which is wanted what their gradients need.
    """

    def __init__(self, outside: Arrays, steps: Steps, kept: frozenset[int]) -> None:
        self._outside, self._kept = outside, kept
        self._differentiated = {at for s in steps if isinstance(s, BackwardStep) for at in s.calls}
        self.values: list[Any] = []
        self.gradients: dict[int, Any] = {}  # from cotangents to gradients, by call
        self.residuals: dict[int, Any] = {}
        self.needed: set[int] = set()  # results that gradients need

    def at(self, places: tuple[int, ...]) -> tuple[Any, ...]:
        """Arrays by their places."""
        return tuple([self.values[i] if i >= 0 else self._outside[~i] for i in places])

    def do(self, at: int, step: CallStep | BackwardStep) -> None:
        """Do the step of this number."""
        if isinstance(step, CallStep):
            out = self.called(at, step, self.at(step.places))
            self.values += out if isinstance(out, tuple | list) else (out,)
        else:
            found = zip(self.backward(step), step.leaves, strict=True)
            self.values += [jnp.zeros(*leaf) if g is None else g for g, leaf in found]

    def called(self, at: int, call: CallStep, data: tuple[Any, ...]) -> Any:
        """The results of a call."""
        if call.takes is None:
            return call.bound.fn(*data)
        if at in self._kept:
            return self._with_residuals(at, call, call.takes, data)
        if at not in self._differentiated:
            return call.bound.fn(*data)
        if call.bound.keeps:
            out, self.gradients[at] = forward_of(call.bound).traced(call.takes, data)
        else:
            out, self.gradients[at] = call.bound.traced(data, call.takes)
        return out

    def _with_residuals(self, at: int, call: CallStep, takes: tuple[bool, ...], data: tuple[Any, ...]) -> Any:
        """The same where a node keeps residuals: arguments and results among them are not given once more."""
        outs, residuals = forward_of(call.bound).function(takes)(*data)
        pull, pool, n = residuals.pull(), (*data, *outs, *residuals.arrays), len(data)
        self.residuals[at] = residuals
        self.gradients[at] = lambda cts: pull.vjp([pool[i] for i in pull.kept], cts, ())
        self.needed |= {call.first + i - n for i in pull.kept if n <= i < n + len(outs)}
        return outs

    def backward(self, step: BackwardStep) -> list[Any]:
        """The gradients of a graph."""
        structure, others = tape.Structure.of(step.key), iter(self.at(step.places))
        held = [
            self.gradients[at] if at >= 0 else tuple([next(others) for _ in range(n)])
            for at, n in zip(step.calls, structure.sizes(), strict=True)
        ]
        return tape.walk(structure, held, (), self._pull, self._add)

    _add: Callable[[Any, Any], Any] = staticmethod(operator.add)

    def _pull(self, bound: BoundOp, held: Any, cotangents: tuple[Any, ...], mask: tuple[bool, ...]) -> list[Any]:
        return held(cotangents) if callable(held) else bound.vjp(held, cotangents, mask)


class OneByOne(TracedSteps):
    """The same op by op, for what is not worth a program of its own, or has none."""

    def do(self, at: int, step: CallStep | BackwardStep) -> None:
        """Do the step of this number; where it fails, the others go on."""
        before = len(self.values)
        failed = next((d for d in self.at(step.places) if d.__class__ is Failed), None)
        if failed is None and isinstance(step, BackwardStep):
            failed = next((f for i in step.calls if (f := self.gradients.get(i)).__class__ is Failed), None)
        if failed is None:
            try:
                super().do(at, step)
            except Exception as e:
                failed = Failed(self._explained(step, e))
        if failed is not None:
            self.gradients[at] = failed
            n = step.n if isinstance(step, CallStep) else len(step.leaves)
            self.values[before:] = [failed] * n

    def _explained(self, step: CallStep | BackwardStep, error: Exception) -> Exception:
        if isinstance(step, BackwardStep):
            return error
        args = [wrap(d) if is_array(d) else d for d in self.at(step.places)]
        return explain(step.bound, tuple(args), error)

    def called(self, at: int, call: CallStep, data: tuple[Any, ...]) -> Any:
        """The results of a call."""
        if call.takes is None or not call.bound.keeps:
            out = call.bound.jitted(*data)
            if call.takes is not None:
                mask = call.takes
                self.gradients[at] = lambda cts: call.bound.gradients(data, cts, mask)
            return out
        out, pull, saved = forward_of(call.bound)(call.takes, data)
        self.residuals[at] = pull, saved
        mask = tuple([t for t in call.takes if t])
        self.gradients[at] = lambda cts: pull.gradients(saved, cts, mask)
        return out

    _add = staticmethod(added)

    def _pull(self, bound: BoundOp, held: Any, cotangents: tuple[Any, ...], mask: tuple[bool, ...]) -> list[Any]:
        return held(cotangents) if callable(held) else bound.gradients(held, cotangents, mask)


def one_by_one(steps: Steps, outside: Arrays) -> tuple[dict[int, Any], dict[int, Any]]:
    """What LazyProgram.run() gives, op by op."""
    done = OneByOne(outside, (), frozenset())
    for at, step in enumerate(steps):
        done.do(at, step)
    return dict(enumerate(done.values)), done.residuals


def checked(
    program: LazyProgram, steps: Steps, outside: Arrays, wanted: Wanted
) -> tuple[dict[int, Any], dict[int, Any]]:
    """What the program gives, compared with the steps op by op; these run first, since it may overwrite arrays."""
    anew, residuals = one_by_one(steps, outside)
    if any(v.__class__ is Failed for v in anew.values()):
        return anew, residuals
    anew = {i: np.array(anew[i]) for i in wanted.results}
    out = program.run(outside)
    cache_checks.expect_same("ops that waited", {i: out[0][i] for i in wanted.results}, lambda: anew)
    return out


# Key: bound ops and how they follow each other, and what is wanted; jax.jit tells shapes and dtypes apart.
_programs: Memo[Any, LazyProgram] = Memo("programs of eager ops", MAX_PROGRAMS)


# Key: the ops; whether to compile, not what.
_alike: Memo[Any, list[int]] = Memo("how many programs are of the same eager ops", MAX_PROGRAMS)


def forget_programs_with(bound: BoundOp) -> None:
    """Drop the programs with an op that comes no more."""
    for key in [k for k in _programs if any(isinstance(s, CallStep) and s.bound is bound for s in k[0])]:
        _programs.pop(key, None)


def program_of(steps: Steps, outside: Arrays, wanted: Wanted) -> LazyProgram:
    """The program of some steps on arrays like these, kept for the next time."""
    key = tuple(steps), len(outside), wanted
    return _programs.get(key) or _programs.put(key, LazyProgram(steps, outside, wanted))
