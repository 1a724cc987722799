"""Clean-up passes: dead code, constants, the same twice, identities, dropout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.traced_number import kind
from ..ir import simplify
from ..ir.block import Block, Operator, Value
from ..ir.control import with_blocks
from ..ir.graph import swapped, with_inputs
from ..ir.program import Program
from .manager import register
from .pattern import Call
from .rewriting import Match, rewrite, watched

# Says for an operator which earlier values take the place of its outputs; None if it stays.
Decide = Callable[[Operator], Sequence[Value] | None]


def without(program: Program, decide: Callable[[], Decide]) -> Program:
    """Return the program without operators whose results are there already; `decide` is made anew for each block."""
    block = _without(program.block, decide, frozenset())
    return program if block is program.block else simplify.dead_code(program.replaced(block))


def _without(block: Block, decide: Callable[[], Decide], fixed: frozenset[Value]) -> Block:
    swaps: dict[Value, Any] = {}
    ops, decided = [], decide()
    for op in block.ops:
        op = with_blocks(with_inputs(op, swaps), _inside(decide, op))
        found = None if fixed.intersection(op.outputs) else decided(op)
        if found is None:
            ops.append(op)
        else:
            swaps.update(zip(op.outputs, found, strict=True))
    return block.with_ops(ops, [swapped(v, swaps) for v in block.outputs])


def _inside(decide: Callable[[], Decide], op: Operator) -> Callable[[Block], Block]:
    return lambda block: _without(block, decide, watched(op))


@register("drop_dropout", ["inference"])
@rewrite(Call(("dropout", "alpha_dropout"), "state", "x", bind="dropout"))
def drop_dropout(m: Match) -> Any:
    """Dropout as in inference: what it takes, scaled where it was made to scale there; no draw is counted.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> change = paddle.passes.drop_dropout
        >>> f = paddle.jit.to_static(lambda x: paddle.nn.functional.dropout(x, 0.5), passes=[change])
        >>> f(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """
    upscale = m.dropout.attrs.get("upscale", True)
    return (m.x if upscale else m.x * (1.0 - m.dropout["p"])), m.state


@register("drop_identities", ["inference", "clean"])
def drop_identities(program: Program) -> Program:
    """Copies, and casts, reshapes and transpositions to what is there already.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x.astype("float32") + 1, passes=[paddle.passes.drop_identities])
        >>> f(paddle.ones([2])).tolist()
        [2.0, 2.0]
    """
    return without(program, lambda: _copied)


def _copied(op: Operator) -> Sequence[Value] | None:
    if op.name not in ("identity", "assign", "cast", "reshape", "transpose", "_with_sharding_of") or not isinstance(
        op.inputs[0], Value
    ):
        return None
    x, out = op.inputs[0], op.outputs[0]
    moves = op.name == "transpose" and op.bound.attrs[0] != tuple(range(len(x.shape)))
    alike = (x.shape, x.dtype, x.requires_grad) == (out.shape, out.dtype, out.requires_grad)
    return [x] if alike and not moves else None


@register("common_subexpressions", ["inference", "clean"])
def common_subexpressions(program: Program) -> Program:
    """The same operator on the same values once; never what draws numbers or acts on the world, nor control flow.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> change = paddle.passes.common_subexpressions
        >>> f = paddle.jit.to_static(lambda x: (x * 2).exp() - (x * 2).exp(), passes=[change])
        >>> f(paddle.ones([2])).tolist()
        [0.0, 0.0]
    """
    return without(program, _Seen)


class _Seen:
    """The operators of one block so far."""

    def __init__(self) -> None:
        self.known: dict[Any, Operator] = {}

    def __call__(self, op: Operator) -> Sequence[Value] | None:
        of = op.bound.op
        if of.random or of.effect or op.blocks:
            return None
        inputs = tuple([v if isinstance(v, Value) else (kind(v), v) for v in op.inputs])
        first = self.known.setdefault((op.bound, inputs, tuple([v.requires_grad for v in op.outputs])), op)
        return None if first is op else first.outputs


@register("fold_constants", ["inference", "clean"])
def fold_constants(program: Program) -> Program:
    """Operators on constants as their results, where these are small.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x + paddle.ones([2]), passes=[paddle.passes.fold_constants])
        >>> f(paddle.ones([2])).tolist()
        [2.0, 2.0]
    """
    return simplify.fold_constants(program)


@register("dead_code", ["inference", "clean"])
def dead_code(program: Program) -> Program:
    """Nothing that nobody reads: operators, and weights that no operator reads and no run changes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: [x * 3, x + 1][1], passes=[paddle.passes.dead_code])
        >>> f(paddle.ones([2])).tolist()
        [2.0, 2.0]
    """
    made = simplify.dead_code(program)
    read = {v for op in made.block.ops for v in op.inputs if isinstance(v, Value)}
    read.update(v for v in (*made.block.outputs, *made.updates.values()) if isinstance(v, Value))
    kept = [v not in made.captured or v in read for v in made.block.inputs]
    if all(kept):
        return made
    inputs = [v for v, k in zip(made.block.inputs, kept, strict=True) if k]
    names = [n for n, k in zip(made.input_names, kept, strict=True) if k]
    captured = {v: t for v, t in made.captured.items() if v in read}
    return Program(Block(inputs, made.block.ops, made.block.outputs), names, made.output_names, captured, made.updates)
