"""Move what branches and loops compute from weights alone out of them, where it can be kept as a weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ir.block import Block, Operator, Value
from ..ir.control import Operands, with_blocks
from ..ir.graph import copy_value, swapped, with_inputs
from ..ir.parts import symbols_of

# The size limit for values computed from nothing.
MAX_CONSTANT = 256
# For each value that is known before a run, the weights that it depends on.
Known = dict[Value, frozenset[Value]]


def known_from(block: Block, start: Mapping[Value, frozenset[Value]]) -> Known:
    """Return what is known before a run, if it takes no more memory than what it is computed from."""
    known: Known = dict(start)
    for op in block.ops:
        _learn(op, known)
    return known


def _learn(op: Operator, known: Known) -> None:
    kind = op.bound.op
    given = [v for v in op.inputs if isinstance(v, Value)]
    if kind.random or kind.effect or op.blocks or symbols_of(op) or not all(v in known for v in given):
        return
    limit = _room(given) if given else MAX_CONSTANT
    if _room(op.outputs) <= limit:
        known.update(dict.fromkeys(op.outputs, frozenset().union(*(known[v] for v in given))))


def is_known(op: Operator, known: Known) -> bool:
    """Whether an operator computes what is known."""
    return bool(op.outputs) and all(v in known for v in op.outputs)


def _room(values: Any) -> int:
    return sum(int(np.prod(v.shape, dtype=int)) * v.dtype.itemsize for v in values)


def lift_constants(block: Block, weights: Known) -> Block:
    """Return the block with all that depends on its weights alone outside of the blocks in it."""
    known, ops = dict(weights), list[Operator]()
    for op in block.ops:
        before, op = _split(op, known) if op.blocks else ([], op)
        for each in (*before, op):
            _learn(each, known)
        ops += [*before, op]
    return block.with_ops(ops)


def _split(op: Operator, known: Known) -> tuple[list[Operator], Operator]:
    """Split an operator into what its blocks compute from known values alone, and the rest, which takes that."""
    layout, before, blocks, needed = Operands(op), list[Operator](), list[Block](), list[Value]()
    for block in op.blocks:
        outer = {i: o for i, o in layout.pairs(block) if o in known}
        start = {i: known[o] for i, o in outer.items()}
        block = lift_constants(block, start)
        # Values that depend on no weight are better computed in place.
        inside = {v: weights for v, weights in known_from(block, start).items() if weights}
        rest = [o for o in block.ops if not is_known(o, inside)]
        read = {v for o in rest for v in o.inputs} | {v for v in block.outputs if isinstance(v, Value)}
        for o in block.ops:
            if is_known(o, inside):
                before.append(with_inputs(o, outer))
                needed += [v for v in o.outputs if v in read]
        blocks.append(block.with_ops(rest))
    if needed:
        return before, layout.extended([_with_inputs(layout, b, needed) for b in blocks], [], needed, [])
    made = iter(blocks)
    return [], with_blocks(op, lambda _: next(made))


def _with_inputs(layout: Operands, block: Block, values: list[Value]) -> Block:
    """Return a block that is given values which are computed outside of it."""
    swaps: dict[Value, Any] = {v: copy_value(v) for v in values}
    ops, outputs = [with_inputs(op, swaps) for op in block.ops], [swapped(v, swaps) for v in block.outputs]
    return layout.block(Block(block.inputs, ops, outputs), [], list(swaps.values()), [])
