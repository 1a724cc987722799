"""Assumptions of a program about values that it computes itself.

A shape that depends on the data, or a branch that leaves things of another kind, has no single static program. But
there is one for each value of what it depends on. So a trace looks at that value and goes on with it, and the program
returns it besides its results: where a run finds another one, its results are dropped, and another program runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.arrays import is_array
from ..core.errors import user_frame
from ..eager.tensor import Tensor
from ..ir import control
from ..ir.block import Operator
from ..ir.graph import acts
from .frame import TracedValue

# Elements of a tensor whose values may be taken for granted: sizes and conditions, no data.
MAX_ELEMENTS = 16


class Speculated(NamedTuple):
    """One value that a program takes for granted."""

    expected: Any  # a Python number, or a list of them
    where: Any

    def differs(self, found: Any) -> bool:
        """True if a run has found another value."""
        return bool(self.expected != found)


class SpeculationFailed(Exception):
    """A run has found other values than its program takes for granted; `found` holds them, up to the first of them."""

    def __init__(self, speculated: Sequence[Speculated], found: list[Any]) -> None:
        self.found, last = found, speculated[len(found) - 1]
        super().__init__(f"the value that decides at {last.where} changed from {last.expected} to {found[-1]}")


def compare(speculated: Sequence[Speculated], arrays: Sequence[Any]) -> None:
    """Raise Differs if a run has found other values."""
    found: list[Any] = []
    for a, array in zip(speculated, arrays, strict=True):
        found.append(array.tolist())
        if a.differs(found[-1]):
            raise SpeculationFailed(speculated, found)


class ActsError(Exception):
    """A value is what a call of Python gives in a run: it cannot be known before."""


class Speculation:
    """Values that the trace under way has looked at.

    Arguments:
        builder: of the trace.
        arrays: what the arguments of this call hold.
    """

    def __init__(self, builder: Any, arrays: Sequence[Any]) -> None:
        self.builder, self.arrays = builder, arrays
        self.handles: list[Tensor] = []
        self.speculated: list[Speculated] = []
        self._env: dict[Any, Any] = {}

    def value(self, tensor: Tensor, otherwise: Exception) -> Any:
        """Return the value of a tensor in this call, which the program takes for granted from here on.

        Raises:
            otherwise: it is what a call of Python gives in a run.
        """
        value = self.builder.value_of(tensor)
        for handle, speculated in zip(self.handles, self.speculated, strict=True):
            if handle._payload is value:
                return speculated.expected
        try:
            found = self._computed(value).tolist()
        except ActsError:
            raise otherwise from None
        self.handles.append(self.builder.handle(value))
        self.speculated.append(Speculated(found, user_frame()))
        return found

    def holding(self) -> Tensor | None:
        """Whether a run has found what was taken for granted so far; None if that is nothing."""
        out = None
        for handle, speculated in zip(self.handles, self.speculated, strict=True):
            same: Any = handle.equal(Tensor(speculated.expected, handle.dtype)).all()
            out = same if out is None else out.logical_and(same)
        return out

    def _computed(self, value: TracedValue) -> Any:
        """Compute a value of the outermost block, and what it is made of, op by op."""
        makers = {v: op for op in self.builder.root.block.ops for v in op.outputs}
        stack = [value]
        while stack:
            now = stack[-1]
            if now in self._env:
                stack.pop()
            elif now not in makers:
                self._env[stack.pop()] = self._input(now)
            elif missing := [v for v in makers[now].inputs if isinstance(v, TracedValue) and v not in self._env]:
                stack += missing
            else:
                self._run(makers[stack.pop()])
        return self._env[value]

    def _run(self, op: Operator) -> None:
        op = control.with_blocks(op, control.quiet)  # the run itself will act
        if acts(op):
            raise ActsError
        out = op.bound.jitted(*[self._env[v] if isinstance(v, TracedValue) else v for v in op.inputs])
        outs = out if isinstance(out, tuple | list) else (out,)
        self._env.update(zip(op.outputs, outs, strict=True))

    def _input(self, value: TracedValue) -> Any:
        builder = self.builder
        inputs = builder.root.block.inputs
        if value in inputs[: len(self.arrays)]:
            return self.arrays[inputs.index(value)]
        for capture in builder.captures.values():
            if capture.value is value:
                return self._before(capture.handle)
        get: Callable[[], Any] = next(get for get, given in builder.providers if given is value)
        return get()

    def _before(self, handle: Tensor) -> Any:
        """Return the payload that a handle from outside had before the trace."""
        if is_array(handle._payload):
            return handle._payload
        return self.builder.root.log[id(handle), "_payload", False].before
