"""Program: the static graph."""

from __future__ import annotations

from typing import Any, NamedTuple

from .block import Block, Operator, Value
from .printer import to_text


class Measured(NamedTuple):
    """Where a program finds a size: the symbol stands for one more, so that the size may be 0."""

    value: Value
    element: int | None = None  # its index in a flat tensor; None for a value that is one number
    axis: int | None = None  # that has the size

    def size(self, array: Any) -> int:
        """Return the size that the value's array tells."""
        return int(array.reshape(-1)[self.element or 0]) if self.axis is None else int(array.shape[self.axis])


class Program:
    """A block whose inputs and outputs have names.

    Arguments:
        captured: the tensors that inputs stand for: weights, buffers, the state of the generator.
        updates: by position of an output, the captured input whose tensor takes that value after a run.
        measured: sizes that only a run tells, by their symbols; see parts.
        asked: what the last outputs are: checks, and the room of loops; None for those that are absent.
    """

    def __init__(
        self,
        block: Block,
        input_names: list[str],
        output_names: list[str] | None = None,
        captured: dict[Value, Any] | None = None,
        updates: dict[int, Value] | None = None,
        measured: dict[str, Measured] | None = None,
        asked: tuple[Any, Any] = (None, None),
    ) -> None:
        self.block = block
        self.input_names = input_names
        self.output_names = output_names or [f"out{i}" for i in range(len(block.outputs))]
        self.captured = captured or {}
        self.updates = updates or {}
        self.measured = measured or {}
        self.asked = asked

    def replaced(self, block: Block) -> Program:
        """Return the program with a block of the same inputs and outputs in the place of its own."""
        named = self.input_names, self.output_names
        return Program(block, *named, self.captured, self.updates, self.measured, self.asked)

    def __repr__(self) -> str:
        return to_text(self)

    def ops(self) -> list[Operator]:
        """Return all operators, those in inner blocks included."""
        return list(self.block.all_ops())

    def has_loops(self) -> bool:
        """Whether one of its operators contains a JAX loop."""
        return any(o.bound.op.loops for o in self.block.all_ops())
