"""A program for evaluation: forward only, without dropout, normalized by running statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ir.block import Operator, Value
from ..ir.control import GRAD
from ..registry.op import REGISTRY
from ..tracing.clone_map import CloneMap
from .scope_variable import ScopeVariable

if TYPE_CHECKING:
    from .program_state import ProgramState

# Ops that drop elements at random.
DROPS = ("dropout", "alpha_dropout")


def evaluate(program: ProgramState) -> None:
    """Rewrite a program that nobody else holds."""
    builder = program.builder
    _drop_updates(program)
    block = builder.root.block
    block.ops = [op for each in block.ops for op in (_open(each, program) if each.bound.op is GRAD else [each])]
    drawn: dict[Any, Any] = {}
    block.ops = [made for op in block.ops for made in _evaluate(op, drawn)]
    running = {v.name for op in block.ops if op.name == "batch_norm" for v in op.inputs[1:3]}
    builder.away = [(w, drawn.get(v, v)) for w, v in builder.away]
    _keep(program, lambda variable, value: variable.name not in running and variable.name != value.name)
    builder.version += 1


def _keep(program: ProgramState, wanted: Callable[[ScopeVariable, Value], bool]) -> None:
    """Forget the updates of state that is not wanted, and the operators that give only these."""
    builder = program.builder
    block = builder.root.block
    gone = {v: id(w) for w, v in builder.away if isinstance(w.before, ScopeVariable) and not wanted(w.before, v)}
    left = set(gone.values())
    builder.root.log = {k: w for k, w in builder.root.log.items() if id(w) not in left}
    builder.away = [(w, v) for w, v in builder.away if id(w) not in left]
    read = {v for op in block.ops for v in op.inputs}
    block.ops = [op for op in block.ops if read.intersection(op.outputs) or not gone.keys() >= set(op.outputs)]


def _drop_updates(program: ProgramState) -> None:
    """Forget the updates that are computed from gradients."""
    derived: set[Value] = set()
    for op in program.builder.root.block.ops:
        if op.bound.op is GRAD:
            derived.update(op.outputs[len(op.outputs) - _gradients(op) :])
        elif derived.intersection(v for v in op.inputs if isinstance(v, Value)):
            derived.update(op.outputs)
    _keep(program, lambda variable, value: value not in derived)
    block = program.builder.root.block
    block.ops = [op for op in block.ops if op.bound.op is GRAD or not derived.intersection(op.outputs)]


def _gradients(op: Operator) -> int:
    _, wrt, inner, *_ = op.bound.attrs
    return len(wrt) + len(inner)


def _open(op: Operator, program: ProgramState) -> list[Operator]:
    block, _, inner, *_ = op.bound.attrs
    n_forward = len(block.outputs) - len(inner)
    names: dict[Any, Any] = dict(zip(block.inputs, op.inputs, strict=False))
    names.update(zip(block.outputs[:n_forward], op.outputs[:n_forward], strict=True))
    clones = CloneMap(program.builder.root)
    opened = []
    for each in block.ops:
        for v in each.outputs:
            if v not in names:
                names[v] = clones(v)
        inputs = tuple([names.get(v, v) if isinstance(v, Value) else v for v in each.inputs])
        opened.append(Operator(each.bound, inputs, tuple([names[v] for v in each.outputs]), each.where))
    return [o for each in opened for o in (_open(each, program) if each.bound.op is GRAD else [each])]


def _evaluate(op: Operator, drawn: dict[Any, Any]) -> list[Operator]:
    """Return an operator's replacement in evaluation. `drawn`: states of the random stream, by their origin."""
    bound = op.bound
    op.inputs = tuple([drawn.get(v, v) for v in op.inputs])
    attrs = dict(zip(bound.op.attr_names, bound.attrs, strict=False))
    if bound.op.name == "batch_norm":
        made = bound.rebound(tuple((attrs | {"training": False}).values()))
        return [Operator(made, op.inputs, op.outputs, op.where)]
    if bound.op.name not in DROPS:
        return [op]
    (word, x), (out, following) = op.inputs, op.outputs
    drawn[following] = word
    if attrs.get("upscale") is False:
        return [Operator(REGISTRY["multiply"].bind(()), (x, 1.0 - attrs["p"]), (out,), op.where)]
    return [Operator(REGISTRY["identity"].bind(()), (x,), (out,), op.where)]
