"""Block captures: tensors from outside in the blocks of a program.

How weights and state that a rewrite brings along get there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir.block import Block, Operator, Value
from ..ir.control import CUSTOM, GRAD, WHILE, Operands
from ..ir.graph import copy_value, swapped, with_inputs


class BlockCaptures:
    """The outside tensors that one block reads or writes.

    Arguments:
        captured: the tensors that values of the block stand for.
        current: those of the values that hold what their tensors hold at this point.
    """

    def __init__(self, captured: dict[Value, Any], current: dict[Value, Any]) -> None:
        self.captured = captured
        self.handles = {id(h): h for h in captured.values()}
        self.inputs = {id(h): v for v, h in current.items()}
        self.given = frozenset(self.inputs)
        self.state: dict[int, Value] = {}  # what the tensors that rewrites update hold at this point

    def value(self, handle: Any) -> Value:
        """Return the value of a tensor at this point."""
        return self.state.get(id(handle)) or self.entering(handle)

    def holds(self, handle: Any, value: Value) -> bool:
        """Whether a value is what a tensor holds at this point."""
        return (self.state.get(id(handle)) or self.inputs.get(id(handle))) is value

    def entering(self, handle: Any) -> Value:
        """Return the input that a tensor is, a new one if need be."""
        key = id(handle)
        if key not in self.inputs:
            data = handle._payload
            made = self.inputs[key] = Value(data.shape, data.dtype, not handle.stop_gradient)
            made.name = handle.name
            self.captured[made], self.handles[key] = handle, handle
        return self.inputs[key]

    def inside(self, op: Operator) -> list[BlockCaptures]:
        """Return those of the blocks of an operator."""
        layout, out = Operands(op), []
        for block in op.blocks:
            captured = {i: (o, self.captured[o]) for i, o in layout.pairs(block) if o in self.captured}
            current = {i: h for i, (o, h) in captured.items() if self.holds(h, o)}
            out.append(BlockCaptures({i: h for i, (_, h) in captured.items()}, current))
        return out

    def carrying(self, block: Block, keys: Iterable[int]) -> Block:
        """Return the block of a loop with new inputs for what it only read so far, and changes now."""
        swaps = {self.inputs[k]: copy_value(self.inputs[k]) for k in keys if k in self.given}
        self.inputs = {k: swaps.get(v, v) for k, v in self.inputs.items()}
        self.given -= set(keys)
        if not swaps:
            return block
        return Block(
            block.inputs, [with_inputs(op, swaps) for op in block.ops], [swapped(v, swaps) for v in block.outputs]
        )


def thread_state(op: Operator, blocks: list[Block], inner: list[BlockCaptures], outer: BlockCaptures) -> Operator | str:
    """Return the operator with blocks that read and change tensors from outside; or why that cannot be."""
    written = {k: v for captures in inner for k, v in captures.state.items()}
    handles = {k: h for captures in inner for k, h in captures.handles.items()}
    for key in {k: None for captures in inner for k in (*captures.inputs, *captures.state)}:
        for captures in inner:
            captures.entering(handles[key])
    layout = Operands(op)
    if layout.loop:
        blocks = [captures.carrying(b, written) for b, captures in zip(blocks, inner, strict=True)]
    needed = [k for k in inner[0].inputs if k not in inner[0].given]
    changing = [k for k in needed if k in written and layout.loop]
    order = changing if layout.loop else list(written)
    if order and op.bound.op is CUSTOM or op.bound.op is WHILE and inner[0].state:
        return "its replacement changes a buffer, which a loop's condition and a gradient of your own cannot"
    if op.bound.op is GRAD and any(not handles[k].stop_gradient for k in needed):
        return (
            "its replacement brings a weight that trains into a gradient that is there already, and would get none: "
            "apply the pass before minimize() or backward()"
        )
    fixed, made = [k for k in needed if k not in changing], []
    for block, captures in zip(blocks, inner, strict=True):
        ends = [] if op.bound.op is WHILE and captures is inner[0] else [captures.value(handles[k]) for k in order]
        made.append(layout.block(block, _of(captures.inputs, changing), _of(captures.inputs, fixed), ends))
    given = {k: outer.value(handles[k]) for k in needed}
    results = [Value(written[k].shape, written[k].dtype) for k in order]
    outer.handles |= handles
    outer.state |= dict(zip(order, results, strict=True))
    return layout.extended(made, _of(given, changing), _of(given, fixed), results)


def _of(values: dict[int, Value], keys: list[int]) -> list[Value]:
    return [values[k] for k in keys]
