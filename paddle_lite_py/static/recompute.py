"""Recomputation: what lies between checkpoints is not kept for the backward pass, but computed again by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import user_frame
from ..ir import control
from ..ir.block import Operator, Value
from ..ir.graph import close

if TYPE_CHECKING:
    from .recording import RecordingBuilder


def recompute(builder: RecordingBuilder, checkpoints: list[Value]) -> None:
    """Move the operators up to each checkpoint into one operator that is computed again.

    Values inside, but for those that something outside reads, can no longer be fetched.

    Raises:
        ValueError: if no operator of the program makes a checkpoint.
    """
    ops = builder.root.block.ops
    makers = {v: i for i, op in enumerate(ops) for v in op.outputs}
    for v in checkpoints:
        if v not in makers:
            raise ValueError(f"checkpoints: '{v.name}' is not what an operator of the program gives")
    ends = sorted({makers[v] + 1 for v in checkpoints})
    builder.root.block.ops = []
    for start, end in zip([0, *ends], ends, strict=False):
        segment, rest = ops[start:end], ops[end:]
        read = {v for op in rest for v in op.inputs if isinstance(v, Value)} | set(checkpoints)
        read.update(v for _, v in builder.finals().values())
        builder.root.block.ops.append(_together(segment, [v for op in segment for v in op.outputs if v in read]))
    builder.root.block.ops += ops[ends[-1] :]
    builder.version += 1


def _together(segment: list[Operator], outputs: list[Value]) -> Operator:
    block, mapping, outer = close(segment)
    block.outputs = [mapping[v] for v in outputs]
    return Operator(control.recompute(block), tuple(outer), tuple(outputs), user_frame())
