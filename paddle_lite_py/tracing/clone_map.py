"""Copies of values and operators, in a block under construction."""

from __future__ import annotations

from typing import Any

from ..ir.block import Operator, Value
from .frame import Frame, TracedValue


class CloneMap:
    """Copies values and operators into a block under construction, each value once.

    Arguments:
        frame: of the block.
        adopts: values that a builder knows stay as they are, and only those of finished programs are copied.
    """

    def __init__(self, frame: Frame, adopts: bool = False) -> None:
        self.frame, self.adopts, self.made = frame, adopts, dict[Value, TracedValue]()

    def __call__(self, value: Any) -> Any:
        """Return the copy of a value; a Python scalar is itself."""
        if not isinstance(value, Value) or (self.adopts and isinstance(value, TracedValue)):
            return value
        if value not in self.made:
            self.made[value] = made = TracedValue(value.shape, value.dtype, self.frame, value.requires_grad)
            made.name, made.where, made.weak = value.name, value.where, value.weak
            made.freed = isinstance(value, TracedValue) and value.freed
        return self.made[value]

    def operator(self, op: Operator) -> Operator:
        """Return the operator on the copies."""
        return Operator(op.bound, tuple(map(self, op.inputs)), tuple(map(self, op.outputs)), op.where)
