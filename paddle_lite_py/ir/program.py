"""Program: the static graph."""

from __future__ import annotations

from typing import Any

from .block import Block, Operator, Value
from .printer import to_text


class Program:
    """A block whose inputs and outputs have names.

    Arguments:
        captured: the tensors that inputs stand for: weights, buffers, the state of the generator.
        updates: by position of an output, the captured input whose tensor takes that value after a run.
    """

    def __init__(
        self,
        block: Block,
        input_names: list[str],
        output_names: list[str] | None = None,
        captured: dict[Value, Any] | None = None,
        updates: dict[int, Value] | None = None,
    ) -> None:
        self.block = block
        self.input_names = input_names
        self.output_names = output_names or [f"out{i}" for i in range(len(block.outputs))]
        self.captured = captured or {}
        self.updates = updates or {}

    def replaced(self, block: Block) -> Program:
        """The program with a block of the same inputs and outputs in the place of its own."""
        return Program(block, self.input_names, self.output_names, self.captured, self.updates)

    def __repr__(self) -> str:
        return to_text(self)

    def ops(self) -> list[Operator]:
        """All operators, those in inner blocks included."""
        return list(self.block.all_ops())

    def has_loops(self) -> bool:
        """Whether an operator of it is made of a loop of JAX's."""
        return any(o.bound.op.loops for o in self.block.all_ops())
