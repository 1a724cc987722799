"""Program -> Program. What XLA does itself (fusion, memory, layout) is left to XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtypes import numpy_name
from ..registry.op import REGISTRY
from . import control
from .block import Block, Operator, Value
from .graph import acts
from .parts import measured_in, symbols_of
from .program import Measured, Program

# Constants larger than this stay operators: a program text is no place for arrays.
MAX_FOLDED = 64


def dead_code(program: Program) -> Program:
    """Drop operators, and forward outputs of grad operators, that nothing reads."""
    block = _live(program.block, measured=program.measured)
    if block is program.block and not program.measured:
        return program
    out = program.replaced(block)
    out.measured = measured_in(out)
    return out


def _live(block: Block, acts: Callable[[Operator], bool] = acts, measured: dict[str, Measured] | None = None) -> Block:
    wanted = {v for v in block.outputs if isinstance(v, Value)}
    kept: list[Operator] = []
    for op in reversed(block.ops):
        if not (wanted.intersection(op.outputs) or acts(op)):
            continue
        if op.blocks:
            op = control.trimmed(control.with_blocks(_prune(op, wanted), lambda b: _live(b, acts, measured)))
        kept.append(op)
        wanted.update(v for v in op.inputs if isinstance(v, Value))
        if measured:
            wanted.update(measured[name].value for name in symbols_of(op) if name in measured)
    kept.reverse()
    return block.with_ops(kept)


def _prune(op: Operator, wanted: set[Value]) -> Operator:
    if op.bound.op is not control.GRAD:
        return op
    block, wrt, inner, n_roots, again = op.bound.attrs
    n_forward = len(block.outputs) - len(inner)
    keep = [i for i in range(n_forward) if i < n_roots or op.outputs[i] in wanted]
    if len(keep) == n_forward:
        return op
    pruned = Block(block.inputs, block.ops, [block.outputs[i] for i in keep] + block.outputs[n_forward:])
    outputs = tuple([op.outputs[i] for i in keep]) + op.outputs[n_forward:]
    return Operator(control.grad(pruned, wrt, inner, n_roots, again), op.inputs, outputs, op.where)


def only_needed(program: Program) -> Program:
    """Return the program without operators that nothing reads, though they act on the world."""
    return program.replaced(_live(program.block, lambda op: False, program.measured))


def without_acts(program: Program) -> Program:
    """The program without operators that only act on the world, for a file: a saved program does nothing of that."""
    return program.replaced(_live(program.block, lambda op: acts(op) and not _is_left_out(op), program.measured))


def _is_left_out(op: Operator) -> bool:
    """Whether files do without it, and without all that it holds."""
    if op.blocks:
        return all(_is_left_out(o) for block in op.blocks for o in block.ops if acts(o))
    return op.name == "print_" or (op.name == "py_func" and op.bound.attrs[0].is_left_out)


def fold_constants(program: Program) -> Program:
    """Compute operators whose inputs are all known, and keep small results as constants."""
    block = _with_constants(program.block)
    return program if block is program.block else dead_code(program.replaced(block))


def _with_constants(block: Block) -> Block:
    known: dict[Value, Any] = {}
    ops = [_folded(control.with_blocks(op, _with_constants), known) for op in block.ops]
    return block.with_ops(ops)


def _folded(op: Operator, known: dict[Value, Any]) -> Operator:
    args = [known.get(v) if isinstance(v, Value) else v for v in op.inputs]
    bound = op.bound
    if any(a is None for a in args) or bound.op.effect or bound.op.random or op.blocks or len(op.outputs) != 1:
        return op
    (out,) = op.outputs
    if not all(isinstance(n, int) for n in out.shape) or np.prod(out.shape, dtype=int) > MAX_FOLDED:
        return op
    known[out] = array = np.asarray(bound.jitted(*args))
    if bound.op.name == "constant":
        return op
    constant = REGISTRY["constant"].bind((_nested(array), numpy_name(array.dtype), None))
    return Operator(constant, (), (out,), op.where)


def _nested(array: np.ndarray) -> Any:
    def tuples(x: Any) -> Any:
        return tuple(map(tuples, x)) if isinstance(x, list) else x

    return tuples(array.tolist())
