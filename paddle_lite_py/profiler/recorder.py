"""Spans of a trace: what the user's code has run, from which of its lines."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
from jax import monitoring

from ..core.errors import user_frame
from ..core.interpreter import state
from ..core.jax_compat.xla import COMPILED
from ..eager.casting import choose_interpreter
from ..eager.tensor import Tensor
from ..ir.program import Program
from ..tracing import spans


class Span(NamedTuple):
    """One run: of an op, of a program, of backward or of an optimizer's update.

    Arguments:
        line: of the user's code, as file:number.
        compiling: seconds that XLA compiled in it.
        held: bytes of all arrays after it; None if nobody asks.
        program: what was run, if it was a program.
        shapes: of an op's arguments, if they are wanted.
    """

    name: str
    kind: str
    line: str
    compiling: float
    held: int | None = None
    program: Program | None = None
    shapes: str = ""


class Recorder:
    """Runs things as named spans of the trace, and waits for their results, so that a span lasts as long as the work.

    Arguments:
        shapes: keep the shapes of arguments.
        memory: count the bytes of all arrays after each span.
    """

    def __init__(self, shapes: bool = False, memory: bool = False) -> None:
        self.spans: list[Span | None] = []
        self.shapes, self.memory = shapes, memory
        self._compiling = 0.0
        self._before: Any = None

    def start(self) -> None:
        """Record what this thread runs from here on."""
        self._before, state.timer = state.timer, self
        choose_interpreter()
        spans.record(True)
        monitoring.register_event_duration_secs_listener(self._told)

    def stop(self) -> None:
        """Leave all as it was."""
        state.timer = self._before
        choose_interpreter()
        spans.record(False)
        monitoring.unregister_event_duration_listener(self._told)

    def _told(self, event: str, duration_secs: float, **_details: Any) -> None:
        if event == COMPILED:
            self._compiling += duration_secs

    def __call__(
        self, name: str, kind: str, run: Callable[..., Any], *args: Any, program: Program | None = None
    ) -> Any:
        """Run a function as a span and return its result."""
        where, place, before = user_frame(), len(self.spans), self._compiling
        line = f"{where.filename}:{where.lineno}"
        shapes = " ".join(str(list(t.shape)) for t in _tensors(args)) if self.shapes and kind == "op" else ""
        self.spans.append(None)
        with jax.profiler.TraceAnnotation(name, span=place, line=line):
            out = run(*args)
            # Backward leaves its results in the tensors that it found.
            jax.block_until_ready(jax.live_arrays() if out is None else list(_arrays(out)))
        held = sum(a.nbytes for a in jax.live_arrays() if not a.is_deleted()) if self.memory else None
        self.spans[place] = Span(name, kind, line, self._compiling - before, held, program, shapes)
        return out


def _arrays(out: Any) -> Iterator[Any]:
    several = out if isinstance(out, tuple | list) else (out,)
    nested = (o if isinstance(o, tuple | list) else (o,) for o in several)
    return (o._payload if isinstance(o, Tensor) else o for o in itertools.chain.from_iterable(nested))


def _tensors(args: tuple[Any, ...]) -> Iterator[Tensor]:
    nested = (a if isinstance(a, tuple | list) else (a,) for a in args)
    return (a for a in itertools.chain.from_iterable(nested) if isinstance(a, Tensor))
