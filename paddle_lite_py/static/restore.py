"""An IR program, loaded or as passes left it, put into a static Program that is still empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..eager.random import default_generator
from ..eager.tensor import Parameter, wrap
from ..ir.block import Value
from ..ir.program import Program as IRProgram
from ..tracing.clone_map import CloneMap
from ..tracing.frame import Capture, TracedValue, Write
from .scope import global_scope
from .scope_variable import ScopeVariable, UninitializedError
from .snapshot import home_of

if TYPE_CHECKING:
    from .program_state import P, ProgramState
    from .recording import RecordingBuilder


def restore(
    out: P,
    found: IRProgram,
    source: ProgramState | None = None,
    provided: dict[Value, Callable[[], Any]] | None = None,
) -> P:
    """Let an empty program compute what an IR program does; its results are to fetch.

    Arguments:
        found: with its state in `captured`: scope variables, or tensors.
        source: the program that it was made of: its values stand for those here, and what Python provides stays.
        provided: what Python gives before each run, where there is no source.
    """
    builder = out.builder
    clones = CloneMap(builder.root)
    block = builder.root.block
    provided = provided or ({} if source is None else {v: g for g, v in source.builder.providers})
    block.inputs = [clones(v) for v in found.block.inputs]
    block.ops = [clones.operator(op) for op in found.block.ops]
    for value, given in zip(found.block.inputs, found.input_names, strict=True):
        made = clones(value)
        made.name = given
        if value in found.captured:
            _capture(out, made, found.captured[value], {} if source is None else source.builder.captures)
        elif value in provided:
            builder.providers.append((provided[value], made))
        else:
            out.feeds[given] = made
    builder.name_values()
    outputs = [clones(v) for v in found.block.outputs]
    for at, value in found.updates.items():
        _update(builder, clones(value), outputs[at])
    out.fetches = [builder.handle(v) for i, v in enumerate(outputs) if i not in found.updates and isinstance(v, Value)]
    builder.clone_map = dict(clones.made)
    builder.measured = {n: m._replace(value=clones.made.get(m.value, m.value)) for n, m in found.measured.items()}
    if source is not None:
        before = source.builder
        builder.clone_map |= {old: clones.made[v] for old, v in before.clone_map.items() if v in clones.made}
        builder.checks, builder.loop_buffer, builder.unknown = before.checks, before.loop_buffer, before.unknown
    return out


def rewrite(out: P, source: P, before: IRProgram, change: Callable[[IRProgram], IRProgram]) -> P:
    """Let an empty program compute what a pass makes of another one, which is given back if nothing changed.

    Arguments:
        before: the other program, as passes take it.
    """
    states = {id(home := _home(s)): (home, s) for s in before.captured.values()}
    before.captured = {v: _home(s) for v, s in before.captured.items()}
    after = change(before)
    if after is before:
        return source
    after.captured = {v: states.get(id(t), (t, t))[1] for v, t in after.captured.items()}
    clones = restore(out, after, source).builder.clone_map
    for i, (old, new) in enumerate(zip(before.block.outputs, after.block.outputs, strict=False)):
        if i not in before.updates and new in clones:
            clones[old] = clones[new]
            clones[new].name = old.name
    return out


def _home(state: Any) -> Any:
    """Return the tensor with the value of state, or the state itself where it has none yet."""
    try:
        return home_of(state, global_scope())
    except UninitializedError:
        return state


def _capture(program: ProgramState, value: TracedValue, state: Any, known: dict[Any, Capture]) -> None:
    """Tie an input to its state: a scope variable, or a handle.

    Arguments:
        known: the captures of the program that it comes from.
    """
    builder = program.builder
    if state is default_generator.state or getattr(state, "name", None) == builder.word_home.name:
        handle, held = builder.word, builder.word_home
    elif isinstance(state, ScopeVariable):
        handle, held = known[state.name].handle if state.name in known else wrap(state), state
    else:
        handle, held = state, state._payload
    if isinstance(handle, Parameter):
        program.parameters[handle.name] = handle
    in_scope = isinstance(held, ScopeVariable)
    if in_scope:
        value.name = handle._name = held.name
        handle.persistable = True
    builder.captures[held.name if in_scope else id(handle)] = Capture(handle, value)
    builder.states[value] = held if in_scope else handle
    if not handle.stop_gradient:
        builder.root.leaves[value] = handle


def _update(builder: RecordingBuilder, value: TracedValue, new: TracedValue) -> None:
    handle = next(c.handle for c in builder.captures.values() if c.value is value)
    held = builder.states[value]
    write = Write(handle, "_payload", held if isinstance(held, ScopeVariable) else builder._adopt(handle))
    builder.root.log[id(handle), "_payload", False] = write
    builder.away.append((write, new))
