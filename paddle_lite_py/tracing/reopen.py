"""Grad operators taken apart again: a second gradient may be asked of a value that lies within the first one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir import control
from ..ir.block import Block, Operator, Value
from ..ir.graph import acts, ancestors, copy_value, moved, swapped
from .frame import Frame, TracedValue, traced_copy


def reopen(frame: Frame, roots: Sequence[TracedValue], wanted: Callable[[Value], bool]) -> None:
    """Put the forward operators back into a frame, of the grad operators behind `roots` that give a wanted value.

    The grad operator stays, for its gradients alone: what it computes twice, XLA computes once.
    """
    frame.block.ops = _reopened(frame.block.ops, roots, wanted, lambda v: traced_copy(v, frame))


def _reopened(
    ops: list[Operator], roots: Sequence[Any], wanted: Callable[[Value], bool], copy: Callable[[Value], Value]
) -> list[Operator]:
    while True:
        found = next((op for op in ancestors(ops, roots) if _holds(op, wanted)), None)
        if found is None:
            return ops
        at, op = ops.index(found), _flat(found, wanted)
        forward, names = _forward(op, copy)
        ops = [*ops[:at], *forward, _gradients(op, names, wanted), *ops[at + 1 :]]


def _flat(op: Operator, wanted: Callable[[Value], bool]) -> Operator:
    """The operator, with the grad operators in its block reopened that give a wanted value."""
    block, n_forward = op.blocks[0], control.Operands(op).results
    names = dict(zip(block.outputs[:n_forward], op.outputs[:n_forward], strict=True))
    inner = _reopened(block.ops, block.outputs, lambda v: v in names and wanted(names[v]), copy_value)
    return control.with_blocks(op, lambda b: Block(b.inputs, inner, b.outputs)) if inner is not block.ops else op


def _holds(op: Operator, wanted: Callable[[Value], bool]) -> bool:
    if op.bound.op is not control.GRAD or acts(op):
        return False
    return any(map(wanted, op.outputs[: control.Operands(op).results]))


def _forward(op: Operator, copy: Callable[[Value], Value]) -> tuple[list[Operator], dict[Value, Any]]:
    """The forward operators, which make the values that the grad operator gave, and what its block's values are."""
    block, n_forward = op.blocks[0], control.Operands(op).results
    names: dict[Value, Any] = dict(zip(block.inputs, op.inputs, strict=False))
    names |= dict(zip(block.outputs[:n_forward], op.outputs[:n_forward], strict=True))
    forward = []
    for inner in block.ops:
        for value in inner.outputs:
            if value not in names:
                names[value] = copy(value)
        inputs = tuple([names[v] if isinstance(v, Value) else v for v in inner.inputs])
        forward.append(Operator(inner.bound, inputs, tuple([names[v] for v in inner.outputs]), inner.where))
    return forward, names


def _gradients(op: Operator, names: dict[Value, Any], wanted: Callable[[Value], bool]) -> Operator:
    """The grad operator for its gradients alone, which reads wanted values that its own inputs do not decide."""
    block, wrt, inner, n_roots = op.bound.attrs
    n_forward, n_in = control.Operands(op).results, len(block.inputs)
    decided = {block.inputs[i] for i in wrt} | set(block.outputs[n_forward:])
    for o in block.ops:
        if decided.intersection([v for v in o.inputs if isinstance(v, Value)]):
            decided.update(o.outputs)
    made = [v for o in block.ops for v in o.outputs]
    read = {v: copy_value(v) for v in made if v not in decided and wanted(names[v])}
    outputs = [swapped(v, read) for v in block.outputs]
    cut = Block([*block.inputs, *read.values()], [moved(o, read) for o in block.ops], outputs)
    inputs = (*op.inputs[:n_in], *[names[v] for v in read], *op.inputs[n_in:])
    unread = tuple([copy_value(v) for v in op.outputs[:n_forward]])
    bound = control.grad(cut, wrt, inner, n_roots)
    return Operator(bound, inputs, (*unread, *op.outputs[n_forward:]), op.where)
