"""A program as a sequence of parts, where the sizes of some values are known only once others have been computed.

An unknown size is a symbol. A *measured* one is what a value of the program holds, or one element of it: how many
elements a mask selects, say. What is made with that size belongs to a later part.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..core import symbolic
from ..core.unrolled_loops import are_turns
from . import control
from .block import Block, Operator, Value
from .graph import acts, ancestors, with_inputs
from .program import Measured, Program

# Smaller programs are compiled as they are.
MIN_UNROLLED = 200
_WORD = re.compile(r"[A-Za-z_]\w*\b(?!\()")  # but no function, such as max(


class ProgramPart(NamedTuple):
    """Operators that run together, as a block of what they read to what others read."""

    block: Block
    symbols: tuple[str, ...]  # that their attributes and the shapes of their values are made of
    is_apart: bool  # Python runs each of them: it computes them, or what their blocks hold runs in parts itself


def symbols_of(op: Operator) -> set[str]:
    """The symbols in the attributes of an operator and in the shapes of its results, those of its blocks included."""
    found = set(words((*op.bound.attrs, *[v.shape for v in op.outputs])))
    for block in op.blocks:
        found.update(words([v.shape for v in block.inputs]), *map(symbols_of, block.ops))
    return found


def measured_in(program: Program) -> dict[str, Measured]:
    """Return the measured sizes that the operators of a program need."""
    used = set().union(*map(symbols_of, program.block.ops))
    return {name: m for name, m in program.measured.items() if name in used}


def broadcasting(program: Program) -> set[str]:
    """Unknown sizes that no operator has as an attribute: where one is 1 in some inputs, operators broadcast by
    themselves. None of a program whose parts or gradients depend on its sizes."""
    ops = list(program.block.all_ops())
    if runs_in_parts(program) or any(op.bound.op is control.GRAD for op in ops):
        return set()
    return set(words([v.shape for v in program.block.inputs])).difference(*[words(op.bound.attrs) for op in ops])


def words(value: Any) -> Iterator[str]:
    """Yield the symbols in nested shapes and attributes."""
    if isinstance(value, tuple | list):
        for v in value:
            yield from words(v)
    elif not isinstance(value, int | float | str | Block) and symbolic.is_symbolic(value):
        yield from _WORD.findall(str(value))


def runs_in_parts(program: Program) -> bool:
    """Whether a program has sizes that it finds itself, or operators that Python computes."""
    return bool(program.measured) or any(op.bound.op.on_host for op in program.block.all_ops())


def is_unrolled(program: Program) -> bool:
    """Whether a program has many turns of a loop in which shapes change, such as a decoder's, one after the other.

    XLA takes half a minute for 64 of them, so its operators run one by one, as eager code runs them.
    """
    ops = program.block.ops
    if len(ops) < MIN_UNROLLED or any(op.blocks or op.bound.op.effect or op.bound.op.across is not None for op in ops):
        return False
    given, reads, shapes = set(program.block.inputs), Counter[Value](), defaultdict[str, set[Any]](set)
    for op in ops:
        reads.update(v for v in op.inputs if isinstance(v, Value) and v in given)
        shapes[op.name].update(str(v.shape) for v in op.outputs)
    return are_turns(reads, shapes)


def found_within(op: Operator, measured: dict[str, Measured]) -> set[str]:
    """Return the sizes that are measured in the blocks of an operator."""
    within = [op, *(inner for block in op.blocks for inner in block.all_ops())]
    made = {v for inner in within[1:] for v in inner.outputs}
    made.update(v for inner in within for block in inner.blocks for v in block.inputs)
    return {name for name, m in measured.items() if m.value in made}


def is_apart(op: Operator, measured: dict[str, Measured]) -> bool:
    """Whether Python runs an operator, between compiled parts."""
    on_host = op.bound.op.on_host or any(o.bound.op.on_host for block in op.blocks for o in block.all_ops())
    differing = op.blocks and any(m.axis is not None and m.value in op.outputs for m in measured.values())
    return on_host or bool(differing or (op.blocks and found_within(op, measured)))


def split(block: Block, measured: dict[str, Measured]) -> list[ProgramPart]:
    """Return the parts of a block, in the order in which they run.

    Each operator stands in the first part where all that it depends on is known; those that act on the world keep their
    order.
    """
    stages: dict[Value, int] = {}
    chosen: list[list[Operator]] = [[]]  # compiled operators, and the one that Python computes after them, in turn
    last = 0
    for op in block.ops:
        apart, own = is_apart(op, measured), found_within(op, measured)
        stage = max([stages.get(v, 0) for v in op.inputs if isinstance(v, Value)], default=0)
        for name in symbols_of(op) - own:
            if name in measured and measured[name].value not in op.outputs:
                stage = max(stage, stages.get(measured[name].value, 0) + 1)
        if acts(op):
            stage = last = max(stage, last)
        stage += (stage + apart) % 2
        stages.update(dict.fromkeys(op.outputs, stage))
        chosen += [[] for _ in range(stage + 1 - len(chosen))]
        chosen[stage].append(op)
    return list(_closed(block, measured, [ops for ops in chosen if ops])) if block.ops else []


def _closed(block: Block, measured: dict[str, Measured], chosen: list[list[Operator]]) -> Iterator[ProgramPart]:
    wanted = [{v for v in block.outputs if isinstance(v, Value)} | {m.value for m in measured.values()}]
    for ops in reversed(chosen[1:]):
        wanted.append(wanted[-1] | set(_read(ops)))
    for ops, later in zip(chosen, reversed(wanted), strict=True):
        made = dict.fromkeys(v for op in ops for v in op.outputs)
        inputs = [v for v in dict.fromkeys(_read(ops)) if v not in made]
        shapes = {w for v in inputs for w in words(v.shape)}
        symbols = shapes.union(*map(symbols_of, ops))
        own = {name for name, m in measured.items() if m.value in made}.union(*[found_within(o, measured) for o in ops])
        outputs = [v for v in made if v in later]
        yield ProgramPart(Block(inputs, ops, outputs), tuple(sorted(symbols - own)), is_apart(ops[0], measured))


def _read(ops: Iterable[Operator]) -> Iterator[Value]:
    return (v for op in ops for v in op.inputs if isinstance(v, Value))


def measured_first(
    ops: Sequence[Operator], measured: dict[str, Measured], copy: Callable[[Value], Value]
) -> tuple[list[Operator], dict[str, Measured]]:
    """Return the operators, each behind those that find the sizes that it is made with, and where these are found.

    A size that a gradient needs may come from its own forward block: what finds it is copied out.
    """
    found = dict(measured)
    for op in list(ops):
        if op.bound.op is control.GRAD:
            for name in sorted(symbols_of(op) & measured.keys()):
                ops, value = _without(ops, op, found[name].value, copy)
                found[name] = found[name]._replace(value=value)
    return _in_order(ops, found), found


def _in_order(ops: Sequence[Operator], measured: dict[str, Measured]) -> list[Operator]:
    makers = {v: op for op in ops for v in op.outputs}
    done: dict[Operator, None] = {}

    def visit(op: Operator) -> None:
        needed = [v for v in op.inputs if isinstance(v, Value)]
        needed += [measured[name].value for name in sorted(symbols_of(op)) if name in measured]
        for maker in [makers[v] for v in needed if v in makers]:
            if maker not in done and maker is not op:
                visit(maker)
        done[op] = None

    for op in ops:
        if op not in done:
            visit(op)
    return list(done)


def _without(
    ops: Sequence[Operator], gradient: Operator, value: Value, copy: Callable[[Value], Value]
) -> tuple[Sequence[Operator], Value]:
    """Return the operators, with those that a value is made by copied as far as they depend on a gradient's."""
    chain = ancestors(ops, [value])
    if gradient not in chain:
        return ops, value
    copies: dict[Value, Any] = {}
    made: list[Operator] = []
    for op in chain:
        if op is gradient:
            made += _forward(op, copies, copy)
        elif any(v in copies for v in op.inputs if isinstance(v, Value)):
            made.append(_copied(op, copies, copy))
    return [*ancestors(made, [copies[value]]), *ops], copies[value]


def _forward(op: Operator, copies: dict[Value, Any], copy: Callable[[Value], Value]) -> list[Operator]:
    """Return the forward operators of a gradient, on copies of what it gives."""
    block = op.blocks[0]
    names: dict[Value, Any] = dict(zip(block.inputs, op.inputs, strict=False))
    made = [_copied(inner, names, copy) for inner in block.ops]
    copies.update(zip(op.outputs, [names.get(v, v) for v in block.outputs], strict=False))
    return made


def _copied(op: Operator, copies: dict[Value, Any], copy: Callable[[Value], Value]) -> Operator:
    """Return an operator with copies in the place of values, its results among them."""
    given = with_inputs(op, copies)
    copies.update({v: copy(v) for v in op.outputs})
    return Operator(op.bound, given.inputs, tuple([copies[v] for v in op.outputs]), op.where)


def keeping_sizes(change: Callable[[Program], Program], program: Program) -> Program:
    """Apply a pass to a program in parts, keeping the values that its sizes depend on as results.

    Where sizes are found in a branch or loop, the program stays as it is.
    """
    made = {v for op in program.block.ops for v in op.outputs}.union(program.block.inputs)
    names = list(program.measured)
    values = [program.measured[name].value for name in names]
    if not made.issuperset(values):
        return program
    block, n = program.block, len(program.block.outputs)
    outputs = [*program.output_names, *[f"@{name}" for name in names]]
    shown = Program(
        Block(block.inputs, block.ops, [*block.outputs, *values]), program.input_names, outputs,
        program.captured, program.updates,
    )  # fmt: skip
    after = change(shown)
    if after is shown:
        return program
    found = after.block.outputs
    kept = [i for i in range(len(found)) if not n <= i < n + len(names)]
    measured = {name: program.measured[name]._replace(value=found[n + i]) for i, name in enumerate(names)}
    return Program(
        Block(after.block.inputs, after.block.ops, [found[i] for i in kept]), after.input_names,
        [after.output_names[i] for i in kept], after.captured,
        {k: after.updates[i] for k, i in enumerate(kept) if i in after.updates}, measured,
    )  # fmt: skip
