"""Inlining of grad operators: a second gradient may be taken of a value inside the first one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir import control
from ..ir.block import Block, Operator, Value
from ..ir.graph import acts, ancestors, close, copy_value, swapped, with_inputs
from ..registry.op import REGISTRY
from .frame import Frame, TracedValue, traced_copy


def reopen(frame: Frame, roots: Sequence[TracedValue], wanted: Callable[[Value], bool]) -> None:
    """Put the forward operators back into a frame, of the grad operators behind `roots` that give a wanted value.

    So are those that give a value which no gradient was to pass then, and which gradients pass again now.

    The grad operator stays, for its gradients alone: what it computes twice, XLA computes once.
    """
    frame.block.ops = _reopen(frame.block.ops, roots, wanted, lambda v: traced_copy(v, frame))


def _reopen(
    ops: list[Operator], roots: Sequence[Any], wanted: Callable[[Value], bool], copy: Callable[[Value], Value]
) -> list[Operator]:
    while True:
        found = next((op for op in ancestors(ops, roots) if _is_gradient_of(op, wanted)), None)
        if found is None:
            return ops
        at, op = ops.index(found), _flat(found, wanted)
        forward, names = _forward(op, copy)
        alone = _gradients(op, names)
        ops = [*ops[:at], *forward, alone, *ops[at + 1 :]]
        if alone in ancestors(ops, roots) and any(wanted(names[v]) for v in _on_way(alone, names)):
            at = ops.index(alone)
            ops = [*ops[:at], *_split(alone, names, copy), *ops[at + 1 :]]


def _flat(op: Operator, wanted: Callable[[Value], bool]) -> Operator:
    """Return the operator, with the grad operators in its block reopened that give a wanted value."""
    block, n_forward = op.blocks[0], control.Operands(op).results
    names = dict(zip(block.outputs[:n_forward], op.outputs[:n_forward], strict=True))
    inner = _reopen(block.ops, block.outputs, lambda v: v in names and wanted(names[v]), copy_value)
    return control.with_blocks(op, lambda b: Block(b.inputs, inner, b.outputs)) if inner is not block.ops else op


def _is_gradient_of(op: Operator, wanted: Callable[[Value], bool]) -> bool:
    if op.bound.op is not control.GRAD or acts(op):
        return False
    given = zip(op.outputs, op.blocks[0].outputs[: control.Operands(op).results], strict=False)
    return any(wanted(v) or v.requires_grad and not held.requires_grad for v, held in given)


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


def _gradients(op: Operator, names: dict[Value, Any]) -> Operator:
    """Return the grad operator for its gradients alone, which reads what they do not go through."""
    block, wrt, inner, n_roots, again = op.bound.attrs
    n_forward, n_in = control.Operands(op).results, len(block.inputs)
    decided = _dependents(block, [*[block.inputs[i] for i in wrt], *block.outputs[n_forward:]])
    made = [v for o in block.ops for v in o.outputs]
    read = {v: copy_value(v) for v in made if v not in decided}
    outputs = [swapped(v, read) for v in block.outputs]
    cut = Block([*block.inputs, *read.values()], [with_inputs(o, read) for o in block.ops], outputs)
    inputs = (*op.inputs[:n_in], *[names[v] for v in read], *op.inputs[n_in:])
    unread = tuple([copy_value(v) for v in outputs[:n_forward]])
    bound = control.grad(cut, wrt, inner, n_roots, again)
    return Operator(bound, inputs, (*unread, *op.outputs[n_forward:]), op.where)


def _dependents(block: Block, by: Sequence[Value]) -> set[Value]:
    """Some values of a block, and those that depend on them."""
    found = set(by)
    for op in block.ops:
        if found.intersection([v for v in op.inputs if isinstance(v, Value)]):
            found.update(op.outputs)
    return found


def _on_way(op: Operator, names: dict[Value, Any]) -> list[Value]:
    """Return the values of its block that gradients of a grad operator go through, roots aside, and that have names."""
    block, _, _, n_roots, _ = op.bound.attrs
    decided = _dependents(block, _differentiated_by(op)) - set(block.outputs[:n_roots])
    read = {v for o in block.ops for v in o.inputs if isinstance(v, Value)}
    return [v for o in block.ops for v in o.outputs if v in decided and v in names and v in read]


def _differentiated_by(op: Operator) -> list[Value]:
    """Return the values of its block that a grad operator gives the gradients of, in their order."""
    block, wrt, *_ = op.bound.attrs
    return [*[block.inputs[i] for i in wrt], *block.outputs[control.Operands(op).results :]]


def _split(op: Operator, names: dict[Value, Any], copy: Callable[[Value], Value]) -> list[Operator]:
    """Return the grad operator as several with each named value between them, where a second gradient finds it."""
    done: list[Operator] = []
    todo = [(op, names)]
    while todo:
        op, names = todo.pop()
        cuts = _on_way(op, names) if op.bound.op is control.GRAD else []
        if cuts:
            todo += _split_at(op, cuts[-1], names, copy)[::-1]
        else:
            done.append(op)
    return done


def _split_at(
    op: Operator, cut: Value, names: dict[Value, Any], copy: Callable[[Value], Value]
) -> list[tuple[Operator, dict[Value, Any]]]:
    """Return a grad operator that ends at a value, one that goes on from there, and the sums of what they give."""
    by = _differentiated_by(op)
    grads = dict(zip(by, op.outputs[-len(by) :], strict=True))
    behind, mapping, outer = close(ancestors(op.blocks[0].ops, [cut]))
    through = [v for v in by if v in mapping and v is not cut]  # gradients reach them by way of the value, too
    direct = {v: copy(g) if v in through else g for v, g in grads.items()}
    start = direct.setdefault(cut, copy(names[cut]))
    way = {v: copy(grads[v]) for v in through}
    add = REGISTRY["add"].bind(())
    sums = [Operator(add, (direct[v], g), (grads[v],), op.where) for v, g in way.items()]
    first, second = _to(op, cut, names[cut], direct), _onwards(op, cut, behind, mapping, outer, start, way)
    return [(first, names), (second, {mapping[v]: names[v] for v in mapping if v in names}), *[(s, {}) for s in sums]]


def _to(op: Operator, cut: Value, given: Value, grads: dict[Value, Value]) -> Operator:
    """Return the grad operator with a value of its block given: its gradient is that of an input."""
    block, wrt, _, n_roots, again = op.bound.attrs
    n_in, read = len(block.inputs), copy_value(cut)
    inner = [v for v in block.outputs[control.Operands(op).results :] if v is not cut]
    outputs = [*block.outputs[:n_roots], *inner]
    ops = ancestors([with_inputs(o, {cut: read}) for o in block.ops], outputs)
    bound = control.grad(
        Block([*block.inputs, read], ops, outputs), (*wrt, n_in), tuple(range(len(inner))), n_roots, again
    )
    found = [grads[v] for v in (*[block.inputs[i] for i in wrt], cut, *inner)]
    unread = [copy_value(v) for v in op.outputs[:n_roots]]
    return Operator(bound, (*op.inputs[:n_in], given, *op.inputs[n_in:]), (*unread, *found), op.where)


def _onwards(
    op: Operator,
    cut: Value,
    behind: Block,
    mapping: dict[Value, Value],
    outer: list[Value],
    start: Value,
    grads: dict[Value, Value],
) -> Operator:
    """Return the gradients of a value of its block, whose own gradient is given."""
    given = dict(zip(op.blocks[0].inputs, op.inputs, strict=False))
    outside, inside = [v for v in grads if v in outer], [v for v in grads if v not in outer]
    behind.outputs = [mapping[v] for v in (cut, *inside)]
    bound = control.grad(
        behind, tuple([outer.index(v) for v in outside]), tuple(range(len(inside))), 1, op.bound.attrs[-1]
    )
    found = [grads[v] for v in (*outside, *inside)]
    return Operator(bound, (*[given[v] for v in outer], start), (copy_value(cut), *found), op.where)
