"""A static Program at one moment, as what the tracer gives: an IR program and its ties to scopes and Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core import structure as nested
from ..eager.tensor import Tensor
from ..ir.block import Block, Value
from ..ir.parts import measured_in, symbols_of
from ..ir.program import Program as IRProgram
from ..ir.simplify import dead_code
from ..tracing.effects import Effect
from ..tracing.frame import Write
from ..tracing.trace import Traced
from .scope_variable import ScopeVariable

if TYPE_CHECKING:
    from .program_state import ProgramState
    from .scope import Scope

State = ScopeVariable | Tensor


def snapshot(
    program: ProgramState, results: Sequence[Value], updates: bool = True, entire: bool = False
) -> tuple[IRProgram, list[ScopeVariable]]:
    """Return a program's computation: the results, then, with `updates`, the next values of its state.

    Inputs are the feeds that it reads, the state that it reads, then what Python provides before each run. What is read
    after a run comes last, or with `entire` as the state that it is.

    Returns:
        The program, and the state that its last outputs are the next values of.
    """
    finals = program.builder.finals()
    own = [] if entire else [finals.pop(name)[1] for name in program.builder.own_names()]
    changed = list(finals.values()) if updates else []
    outputs = [*results, *[v for _, v in changed], *own]
    block = program.builder.root.block
    blank = [""] * len(block.inputs)
    whole = dead_code(IRProgram(Block(block.inputs, block.ops, outputs), blank, measured=program.builder.measured))
    return _only_needed(program, whole, len(results), [s for s, _ in changed]), [s for s, _ in changed]


def _of_sizes(program: ProgramState, whole: IRProgram, read: set[Value]) -> set[Value]:
    """Return the data that operators need only a size of."""
    needed = set().union(*map(symbols_of, whole.block.ops)) if whole.block.ops else set()
    needed -= whole.measured.keys() | {str(n) for v in program.feeds.values() if v in read for n in v.shape}
    found: set[Value] = set()
    for value in program.feeds.values():
        if here := needed.intersection(map(str, value.shape)):
            found.add(value)
            needed -= here
    return found


def _only_needed(program: ProgramState, whole: IRProgram, n_results: int, changed: list[ScopeVariable]) -> IRProgram:
    """Return the program without the inputs that it does not read, in the order of feeds, state, provided."""
    read = {v for op in whole.block.ops for v in op.inputs if isinstance(v, Value)}
    read.update(v for v in whole.block.outputs if isinstance(v, Value))
    measured = measured_in(whole)
    read.update(m.value for m in measured.values())
    builder = program.builder
    wanted = {s.name for s in changed}
    states = {v: s for v, s in builder.states.items() if v in read or v.name in wanted}
    read |= _of_sizes(program, whole, read)
    feeds = [v for v in program.feeds.values() if v in read]
    inputs = [*feeds, *states, *[v for _, v in builder.providers if v in read]]
    by_name = {v.name: v for v in states}
    updates = {n_results + i: by_name[s.name] for i, s in enumerate(changed)}
    outs = [v.name or f"out{i}" if isinstance(v, Value) else f"out{i}" for i, v in enumerate(whole.block.outputs)]
    names = [v.name or f"provided_{i}" for i, v in enumerate(inputs)]
    return IRProgram(Block(inputs, whole.block.ops, whole.block.outputs), names, outs, dict(states), updates, measured)


def traced(program: ProgramState, results: Sequence[Value], scope: Scope, updates: bool = True) -> Traced:
    """Return the same as the tracer would give it, with the tensors of a scope in the place of the state."""
    found, changed = snapshot(program, results, updates)
    builder, inputs = program.builder, set(found.block.inputs)
    homes = [home_of(s, scope) for s in found.captured.values()]
    found.captured = dict(zip(found.captured, homes, strict=True))
    providers = [get for get, v in builder.providers if v in inputs]
    structure = nested.Nest(list, None, (nested.LEAF,) * len(results))
    effects = [Effect(Write(s.find(scope), "_payload", None), nested.LEAF, 1) for s in changed]
    n_feeds = len(inputs) - len(homes) - len(providers)
    return Traced(
        found, n_feeds, homes, providers, structure, len(results), effects, (False,) * len(results), [], [], [],
        builder.checks, builder.loop_buffer,
    )  # fmt: skip


def home_of(state: State, scope: Scope) -> Tensor:
    """Return the tensor that holds the value of state in a scope."""
    return state.find(scope) if isinstance(state, ScopeVariable) else state
