"""A described program, with the edits of its user, recorded anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.dtypes import numpy_name
from ...core.interpreter import state, use
from ...core.symbolic import has_symbolic, substitute
from ...eager.tensor import Parameter, Tensor, wrap
from ...static.builder import StaticBuilder
from ...static.current import current
from ...static.mode import data
from ...static.program import Program
from ...static.scope_variable import ScopeVariable
from ...tracing.frame import TracedValue
from ..building import refuse_unknown, run_block
from ..gradients import GradientNode
from ..graph import ModelBlock, ModelFileError, ModelGraph, ModelNode
from ..legacy import GRADIENT, gradient_of, normalized
from ..operators.table import P, operator, tensor
from ..operators.training import IN_TRAINING
from ..program_desc import OperatorDescription, VariableDescription, differentiated
from .description import EMPTY, RECORDED, ProgramDescription, Recorded, RecordedConstant, RecordedUpdate

# What a builder keeps when what it has recorded is replaced.
_KEPT = frozenset(
    ("program", "checks", "loop_buffer", "change_gradients", "checkpoints", "tables", "version", "convert")
)


def rebuild(program: Program, description: ProgramDescription) -> None:
    """Let a program be what its description says, which then is that of what it has recorded.

    Raises:
        ModelFileError: an operator cannot be what the description says: operands, attributes or shapes do not fit.
    """
    block = ModelBlock([], list(_nodes(description.operators)), [])
    refuse_unknown(ModelGraph([], [], [], block, []))
    builder = program.builder
    stream = builder.word_home.home
    with _left():
        made = Program()
        with _constructing(made):
            begun = _inputs(made, program, description)
            env = dict(begun)
            run_block(block, env)
            for name, handle in begun.items():
                v = description.variables[name]
                new = env[description.finals.get(name, name)]
                if v.is_persistable and new is not handle:
                    handle._set_payload(P.cast(tensor(new), v.dtype)._payload)
        _note(description, env, begun, made)
        made.builder.clone_map |= _counterparts(program, made)
        vars(builder).update({k: v for k, v in vars(made.builder).items() if k not in _KEPT})
        builder.version, builder.word_home.home = builder.version + 1, stream
        program.feeds, program.parameters = made.feeds, made.parameters
    description.version, description.seen = builder.version, list(builder.root.block.ops)


@contextmanager
def _left() -> Iterator[None]:
    """While handles hold what they did before the program under construction."""
    entered = isinstance(state.interpreter, StaticBuilder)
    if entered:
        current.main.recorder.leave()
    try:
        yield
    finally:
        if entered:
            current.main.recorder.enter()


@contextmanager
def _constructing(program: Program) -> Iterator[None]:
    before, current.main = current.main, program
    try:
        with use(program.builder):
            yield
    finally:
        program.builder.leave()
        current.main = before


# -- what it begins with, and what comes of it ---------------------------------------------------------------------
def _inputs(made: Program, program: Program, description: ProgramDescription) -> dict[str, Any]:
    """Return the data, state and numbers that the program reads, by name."""
    names, env = description.values, dict[str, Any]()
    for get, value in program.builder.providers:
        if value in names:
            env[names[value]] = provided = made.builder.provide(get)
            provided._payload.name = names[value]
    handles = {names[c.value]: c.handle for c in program.builder.captures.values() if c.value in names}
    for name, v in description.variables.items():
        if v.is_persistable:
            env[name] = _state(v, program.parameters.get(name, handles.get(name)))
            if v.is_parameter:
                made.parameters[name] = env[name]
        elif v.needs_check and name not in env:
            env[name] = data(name, [None if n < 0 else n for n in v.shape], v.dtype)
    return env


def _state(v: VariableDescription, held: Any) -> Any:
    """Return state of the program: the same, or some of another name, shape or dtype."""
    if held is not None and (tuple(held._payload.shape), numpy_name(held._payload.dtype)) == (v.shape, v.dtype):
        if not isinstance(held._payload, ScopeVariable) or held._payload.name == v.name:
            return held
    variable: Any = ScopeVariable(v.name, v.shape, v.dtype)
    if v.is_parameter:
        return Parameter.of_payload(variable, v.name, not v.stops_gradient)
    made = wrap(variable)
    made.name, made.persistable = v.name, True
    return made


def _note(description: ProgramDescription, env: dict[str, Any], begun: dict[str, Any], made: Program) -> None:
    """Note what the variables have become: their values, their shapes."""
    description.values, description.handles = {}, {}
    inputs = {name: found for name, h in begun.items() if (found := made.builder.captured(h)) is not None}
    for name, held in env.items():
        if not isinstance(name, str) or name not in description.variables:
            continue
        value = inputs.get(name, held._payload if isinstance(held, Tensor) else None)
        if not isinstance(value, TracedValue):
            continue
        if value not in description.values:
            description.values[value] = name
            value.name = name
        if name not in begun:
            description.handles[name] = made.builder.handle(value)
        v = description.variables[name]
        description.declare(name, value.shape, numpy_name(value.dtype), is_persistable=v.is_persistable,
                            is_parameter=v.is_parameter, stops_gradient=v.stops_gradient,
                            needs_check=v.needs_check)  # fmt: skip


def _counterparts(program: Program, made: Program) -> dict[Any, Any]:
    """Return what the values that users hold have become."""
    old, new = program.builder, {v.name: v for v in made.builder.root.block.inputs}
    new.update({v.name: v for op in made.builder.root.block.ops for v in op.outputs})
    held = [*old.root.block.inputs, *[v for op in old.root.block.ops for v in op.outputs]]
    found = {v: new[v.name] for v in held if v.name in new}
    return found | {k: found[v] for k, v in old.clone_map.items() if v in found}


# -- operators -----------------------------------------------------------------------------------------------------
def _nodes(operators: list[OperatorDescription]) -> Iterator[ModelNode]:
    """Yield the operators as those of a model file, and those that have no form there as they were recorded."""
    made: list[tuple[OperatorDescription, ModelNode]] = []
    updates: set[int] = set()
    for op in operators:
        held = op.attrs.get(RECORDED)
        if isinstance(held, RecordedUpdate):
            if id(held) not in updates:
                updates.add(id(held))
                yield _update(held, [o for o in operators if o.attrs.get(RECORDED) is held])
            continue
        if isinstance(held, RecordedConstant):
            yield ModelNode("captured", [], {"held": held}, op.outputs["Out"])
            continue
        if isinstance(held, Recorded) and op.kind.endswith("_grad"):
            yield _gradient(op, made)
            continue
        if (forward := differentiated(op, made)) is not None:
            yield gradient_of(*forward, op)
            continue
        if isinstance(held, Recorded):
            node = ModelNode(RECORDED, list(op.inputs["X"]), {"held": held}, list(op.outputs["Out"]))
        else:
            node = normalized(op.kind, op.inputs, op.outputs, op.attrs)
            node.op = IN_TRAINING.get(node.op, node.op) if node.attrs.get("is_test") is False else node.op
        made.append((op, node))
        yield node


def _gradient(op: OperatorDescription, made: list[tuple[OperatorDescription, ModelNode]]) -> GradientNode:
    """Return the gradient of an operator as it was recorded."""
    held, read = op.attrs[RECORDED], op.inputs["X"]
    forward = next((n for o, n in made if o.attrs.get(RECORDED) is held and o.inputs["X"] == read), None)
    if forward is None:
        raise ModelFileError(f"`{op.kind}` is the gradient of no operator before it; remove it as well")
    starts = [None if n == EMPTY else n for n in op.inputs[f"Out{GRADIENT}"]]
    wanted = [None if n == EMPTY else n for n in op.outputs[f"X{GRADIENT}"]]
    results = [n for n in wanted if n is not None]
    return GradientNode(op.kind, [], {}, results, forward=forward, starts=starts, wanted=wanted)


def _update(held: RecordedUpdate, parts: list[OperatorDescription]) -> ModelNode:
    """Return the update of all parameters of an optimizer."""
    if len(parts) != held.size:
        raise ModelFileError(
            f"an optimizer updates {held.size} parameters by one operator here, of which {len(parts)} are left: "
            "remove the operators of all of them, and minimize() with parameters= for those that are trained"
        )
    changed: list[str] = []
    for slot, own in held.slots:
        changed += [n for op in (parts if own else parts[:1]) for n in op.inputs.get(slot, ())]
    operands = [*parts[0].inputs["LearningRate"], *[n for op in parts for n in op.inputs["Grad"]], *changed]
    operands += [] if held.skips is None else [held.skips]
    template = (None,) * len(operands)
    return ModelNode(RECORDED, list(operands), {"held": Recorded(held.bound, template)}, changed)


@operator(RECORDED)
def recorded(*operands: Any, held: Recorded) -> Any:
    """Append an operator as it was recorded, on other operands."""
    builder: Any = state.interpreter
    given = iter(operands)
    args = tuple([tensor(next(given)) if a is None else a for a in held.template])
    bound = held.bound
    if any(map(has_symbolic, bound.attrs)):
        bound = bound.rebound(tuple([substitute(a, builder.unknown.symbols) for a in bound.attrs]))
    return builder.run_random(bound, args) if held.is_random else builder.run(bound, args)


@operator("captured")
def captured(*, held: RecordedConstant) -> Any:
    """Return a tensor from outside."""
    return held.tensor
