"""Ops that waited, compiled as one program: a forward pass, its backward, and the update of what it trains."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import cache_checks, memory
from ..core.donation import suits_plain
from ..core.memo import Memo
from ..cpu_compiler import OutOfProcessJit, prepare
from ..host.tier import for_xla, program_jit
from ..registry.bound import BoundOp
from ..registry.text import text_or_none
from . import tape
from .execute import NUMBERS
from .open_programs import forget_open_with
from .pending import Failed
from .recorded_ops import AbstractSteps, Arrays, BackwardStep, CallStep, Steps, TracedSteps, one_by_one
from .recurring import HOT

MAX_PROGRAMS = 512
MIN_ALIKE = 10  # programs of fewer ops may be of the same ones by chance


class Wanted(NamedTuple):
    """The results to compute, the calls whose residuals are needed too, and the outside arrays that may be
    overwritten."""

    results: tuple[int, ...]
    kept: tuple[int, ...]
    donated: tuple[int, ...]


class LazyProgram(tape.Recurring):
    """Some steps, and what is wanted of them.

    Integers that are always the same, such as bounds of slices, are part of the program: XLA makes no good kernels of
    what begins anywhere. If they change there is a second program, which takes them all.
    """

    __slots__ = ("_compiled", "_integers", "_met_shapes", "_order", "_steps", "_wanted")

    def __init__(self, steps: Steps, outside: Arrays, wanted: Wanted) -> None:
        ops = tuple([s.bound.op for s in steps if isinstance(s, CallStep)])
        super().__init__(varies=len(ops) == len(steps))  # a forward pass alone may be a decoder's, whose shapes change
        if self.varies and len(ops) >= MIN_ALIKE:
            self.alike = _alike.get(ops) or _alike.put(ops, [0])
            self.alike[0] += 1
        self._steps, self._wanted = tuple(steps), wanted
        # The program's inputs: first those that may be overwritten, in the order of the results that replace them.
        self._order = list(dict.fromkeys((*wanted.donated, *range(len(outside)))))
        self._integers = {i: a for i, a in enumerate(outside) if a.__class__ is int}
        # Key: shapes; how often they came, not what is computed.
        self._met_shapes: Memo[Any, int] = Memo("shapes of eager ops", MAX_PROGRAMS)
        self._compiled: dict[bool, Any] = {}  # by whether it is of these integers

    def run(self, outside: Arrays) -> tuple[dict[int, Any], dict[int, Any]]:
        """Return the results by number, and by call what its gradient needs."""
        n = len(self._wanted.donated)
        arrays = [outside[i] for i in self._order[:n]]
        arrays += [for_xla(outside[i]) for i in self._order[n:]]
        same = self._has_integers(outside)
        program = self._compiled.get(same)
        if program is not None:
            return self._nested(program(*arrays))
        program = self._compiled[same] = self._program(outside, self._integers if same else {})
        with memory.trim_afterwards(), memory.paused_collection():
            out = program(*arrays)
            if not n:  # an interrupt of the wait would lose what takes the place of arrays that are given away
                jax.block_until_ready(out)
            return self._nested(out)

    def run_once(self, outside: Arrays) -> tuple[dict[int, Any], dict[int, Any]] | None:
        """Return the same without a compiler, for what may not come again; None where that is not to be had."""
        if not self._has_integers(outside):
            return None
        program = self._compiled.get(True) or self._compiled.setdefault(True, self._program(outside, self._integers))
        arrays = [for_xla(outside[i]) for i in self._order]
        if not isinstance(program, OutOfProcessJit):
            return None
        with memory.paused_collection():
            run = program.without_compiler(*arrays)
        return None if run is None else self._nested(run(*arrays))

    def is_rare(self, outside: Arrays) -> bool:
        """Whether arrays of these shapes come for the first time or, where shapes vary, not as often as there are some.

        To trace and compile a net for a shape takes as long as to run it ten or twenty times with its sizes open.
        """
        shapes = tuple([getattr(a, "shape", None) for a in outside])
        times = self._met_shapes.put(shapes, self._met_shapes.get(shapes, 0) + 1)
        return times < max(HOT, len(self._met_shapes))

    def has_run(self) -> bool:
        """Whether it has run as one program, which it will again."""
        return bool(self._compiled)

    def _nested(self, out: Any) -> tuple[dict[int, Any], dict[int, Any]]:
        """Return what a program gives as run() does: it gives only results where no gradient is left to come."""
        return out if self._wanted.kept else (dict(zip(self._wanted.results, out, strict=True)), {})

    def _has_integers(self, outside: Arrays) -> bool:
        """Whether the integers are those that are part of the program."""
        return all(outside[i].__class__ is int and outside[i] == known for i, known in self._integers.items())

    def _program(self, outside: Arrays, known: dict[int, int]) -> Callable[..., Any]:
        """Return the program where some of what comes from outside is known."""
        bounds = [s.bound for s in self._steps if isinstance(s, CallStep)]
        bounds += [b for s in self._steps if isinstance(s, BackwardStep) for b in tape.Structure.of(s.key).bounds]
        numbers = {i: a for i, a in enumerate(outside) if a.__class__ in NUMBERS}
        updated = sum(outside[i].size for i in self._wanted.donated)
        donated = tuple(range(len(self._wanted.donated)))
        return program_jit(
            prepare(self._make_function(known), donated),
            sum(b.operators for b in bounds),
            plain=suits_plain(any(b.plain for b in bounds), updated),
            text=partial(text_or_none, self._steps, tuple(self._order), tuple(known.items()), self._wanted),
            results=partial(self._results, numbers) if self._wanted.kept else None,
            donate_argnums=donated,
        )

    def _results(self, numbers: dict[int, Any], arrays: Arrays) -> Any:
        """Return something nested as what the function gives for such arrays."""
        specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
        outside = dict(zip(self._order, specs, strict=True)) | numbers
        found = AbstractSteps([outside[i] for i in range(len(outside))], self._steps, frozenset(self._wanted.kept))
        return self._given(found.run())

    def _given(self, done: TracedSteps) -> Any:
        """Return what the program gives: results, with residuals where these are wanted."""
        if not self._wanted.kept:
            return tuple([done.values[i] for i in self._wanted.results])
        return {i: done.values[i] for i in sorted({*self._wanted.results, *done.needed})}, done.residuals

    def _make_function(self, known: dict[int, int]) -> Callable[..., Any]:
        """Return the function, by what it does: lines about long compilations say its name."""

        def eager_ops(*arrays: Any) -> Any:
            self.traces += 1
            outside = dict(zip(self._order, arrays, strict=True)) | known
            given = [outside[i] for i in range(len(arrays))]
            traced = TracedSteps(given, self._steps, frozenset(self._wanted.kept)).run()
            return self._given(traced)

        if any(isinstance(s, BackwardStep) for s in self._steps):
            eager_ops.__name__ = eager_ops.__qualname__ = "eager_ops_and_backward"
        return eager_ops


def checked(
    program: LazyProgram, steps: Steps, outside: Arrays, wanted: Wanted
) -> tuple[dict[int, Any], dict[int, Any]]:
    """Run the program and compare it with the steps op by op; these run first, since it may overwrite arrays."""
    anew, residuals = one_by_one(steps, outside)
    if any(v.__class__ is Failed for v in anew.values()):
        return anew, residuals
    anew = {i: np.array(anew[i]) for i in wanted.results}
    out = program.run(outside)
    cache_checks.expect_same("ops that waited", {i: out[0][i] for i in wanted.results}, lambda: anew)
    return out


# Key: bound ops and how they are connected, and the wanted results; jax.jit distinguishes shapes and dtypes.
_programs: Memo[Any, LazyProgram] = Memo("programs of eager ops", MAX_PROGRAMS)


# Key: the ops; whether to compile, not what.
_alike: Memo[Any, list[int]] = Memo("how many programs are of the same eager ops", MAX_PROGRAMS)


def forget_programs_with(bound: BoundOp) -> None:
    """Drop the programs with an op that comes no more."""
    for key in [k for k in _programs if any(isinstance(s, CallStep) and s.bound is bound for s in k[0])]:
        _programs.pop(key, None)
    forget_open_with(bound)


def program_of(steps: Steps, outside: Arrays, wanted: Wanted) -> LazyProgram:
    """Return the program of some steps on arrays like these, kept for the next time."""
    key = tuple(steps), len(outside), wanted
    return _programs.get(key) or _programs.put(key, LazyProgram(steps, outside, wanted))
