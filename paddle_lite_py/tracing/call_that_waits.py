"""A program with a gradient as an op that waits (eager/deferred.py).

So a static layer in an eager training step is compiled together with what is done to its results, with the backward and
with the update.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from ..eager.abstract_results import AbstractResult
from ..eager.lazy_program import forget_programs_with
from ..ir.block import Value
from ..registry.bound import BoundOp
from ..registry.op import Op


class CallThatWaits(BoundOp):
    """A call of a program as one op: of what the program changes, reads and is given, to all of its outputs."""

    __slots__ = ("_body", "operators", "reaches")

    def __init__(self, executable: Any) -> None:
        program, body = executable.traced.program, executable.body

        def run(*arrays: Any) -> tuple[Any, ...]:
            return tuple(body.counted(*arrays))

        super().__init__(Op(run, executable.name, loops=program.has_loops(), keeps=True), run)
        self.operators = len(program.ops())
        self.plain = executable.forward.plain
        self.keeping = executable.forward, None
        self.lazy = _KnownOutputs(executable)
        self._body, self.reaches = body, body.reaches
        executable.forward.source = weakref.ref(self)

    def said(self) -> tuple[Any, ...] | None:
        """Return what its function follows from; None where the program cannot be written down."""
        return self._body.said()


class _KnownOutputs:
    """The results of a program with fixed sizes, in the form that lazy_op.LazyOpInfo has for an op."""

    can, check, may_need_xla = True, None, True

    def __init__(self, executable: Any) -> None:
        outputs, flows = executable.traced.program.block.outputs, executable.traced.flows
        flags = tuple([i in flows for i in range(len(outputs))])
        self._promised = AbstractResult([v.spec for v in outputs], True, flags, True, None)

    def results(self, _data: Sequence[Any], _earlier: Any = None) -> AbstractResult:
        """Return the abstract results for such arguments."""
        return self._promised


def call_of(executable: Any) -> CallThatWaits | None:
    """Return the program as an op that waits; None if it has to run at once.

    It has to if something in it acts on the world or is looked at after the run, or if sizes are not known before.
    """
    traced = executable.traced
    looks = traced.speculated or traced.checks or traced.loop_buffer or traced.schedules or executable.effects.others
    outputs = traced.program.block.outputs
    known = all(isinstance(v, Value) and all(isinstance(n, int) for n in v.shape) for v in outputs)
    if looks or not (known and executable.repeatable):
        return None
    made = CallThatWaits(executable)
    weakref.finalize(executable, forget_programs_with, made).atexit = False
    return made
