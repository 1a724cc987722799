"""Surgery on operators: what a value depends on, closing a run of operators into a block, renaming."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from .block import Block, Operator, Value


def ancestors(ops: Sequence[Operator], values: Iterable[Value], stop: Set[Value] = frozenset()) -> list[Operator]:
    """Return the operators, in order, that the values depend on; values in `stop` are taken as given."""
    wanted = set(values) - stop
    needed = []
    for op in reversed(ops):
        if wanted.intersection(op.outputs):
            needed.append(op)
            wanted.update(v for v in op.inputs if isinstance(v, Value) and v not in stop)
    needed.reverse()
    return needed


def acts(op: Operator) -> bool:
    """Whether it acts on the world, or holds an operator that does."""
    return op.bound.op.effect or any(acts(inner) for block in op.blocks for inner in block.ops)


def copy_value(value: Value) -> Value:
    """Return a new Value like `value`."""
    out = Value(value.shape, value.dtype, value.requires_grad)
    out.name, out.where, out.weak = value.name, value.where, value.weak
    return out


def with_inputs(op: Operator, swaps: dict[Value, Any]) -> Operator:
    """Return the operator with other inputs."""
    if not any(isinstance(v, Value) and v in swaps for v in op.inputs):
        return op
    return Operator(op.bound, tuple([swapped(v, swaps) for v in op.inputs]), op.outputs, op.where)


def swapped(value: Any, swaps: dict[Value, Any]) -> Any:
    """Return the replacement of a value."""
    return swaps.get(value, value) if isinstance(value, Value) else value


def close(ops: Sequence[Operator]) -> tuple[Block, dict[Value, Value], list[Value]]:
    """Return a block that does what `ops` do: the block, old value -> new value, and the outer value of each input."""
    mapping: dict[Value, Value] = {}
    block = Block([], [], [])
    outer: list[Value] = []
    for op in ops:
        for v in op.inputs:
            if isinstance(v, Value) and v not in mapping:
                mapping[v] = copy_value(v)
                block.inputs.append(mapping[v])
                outer.append(v)
        for v in op.outputs:
            mapping[v] = copy_value(v)
        inputs = tuple(mapping[v] if isinstance(v, Value) else v for v in op.inputs)
        block.ops.append(Operator(op.bound, inputs, tuple(mapping[v] for v in op.outputs), op.where))
    return block, mapping, outer
