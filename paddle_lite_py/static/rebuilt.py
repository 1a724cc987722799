"""A static Program made of a closed one: loaded, or as passes left it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..eager.random import default_generator
from ..eager.tensor import Parameter, wrap
from ..ir.graph import Twins
from ..ir.program import Program as Closed
from ..ir.program import Value
from ..tracing.frame import Capture, Write
from .frozen import home_of
from .program import Program
from .scope import global_scope
from .stored import Stored, UninitializedError

if TYPE_CHECKING:
    from .builder import StaticBuilder

_NUMBERED = re.compile(r"(.+)_(\d{1,9})\.tmp_\d+")


def rebuilt(
    closed: Closed, source: Program | None = None, provided: dict[Value, Callable[[], Any]] | None = None
) -> Program:
    """A program that computes what a closed one does; its results are to fetch.

    Arguments:
        closed: with its state in `captured`: Stored, or tensors.
        source: the program that it was made of: its values stand for those here, and what Python provides stays.
        provided: what Python gives before each run, where there is no source.
    """
    out = Program()
    builder = out.builder
    twins = Twins(builder.root)
    block = builder.root.block
    provided = provided or ({} if source is None else {v: g for g, v in source.builder.providers})
    block.inputs = [twins(v) for v in closed.block.inputs]
    block.ops = [twins.operator(op) for op in closed.block.ops]
    for value, given in zip(closed.block.inputs, closed.input_names, strict=True):
        made = twins(value)
        made.name = given
        if value in closed.captured:
            _capture(out, made, closed.captured[value], {} if source is None else source.builder.captures)
        elif value in provided:
            builder.providers.append((provided[value], made))
        else:
            out.feeds[given] = made
    name(builder)
    outputs = [twins(v) for v in closed.block.outputs]
    for at, value in closed.updates.items():
        _update(builder, twins(value), outputs[at])
    out.fetches = [builder.handle(v) for i, v in enumerate(outputs) if i not in closed.updates and isinstance(v, Value)]
    builder.twins = dict(twins.made)
    if source is not None:
        builder.twins |= {old: twins.made[v] for old, v in source.builder.twins.items() if v in twins.made}
        before = source.builder
        builder.checks, builder.loop_buffer, builder.unknown = before.checks, before.loop_buffer, before.unknown
    return out


def transformed(source: Program, change: Callable[[Closed], Closed]) -> Program:
    """A program made anew as a pass changes it."""
    before = source.closed()
    states = {id(home := _home(s)): (home, s) for s in before.captured.values()}
    before.captured = {v: _home(s) for v, s in before.captured.items()}
    after = change(before)
    if after is before:
        return source
    after.captured = {v: states.get(id(t), (t, t))[1] for v, t in after.captured.items()}
    out = rebuilt(after, source)
    twins = out.builder.twins
    for i, (old, new) in enumerate(zip(before.block.outputs, after.block.outputs, strict=False)):
        if i not in before.updates and new in twins:
            twins[old] = twins[new]
            twins[new].name = old.name
    return out


def _home(state: Any) -> Any:
    """The tensor with the value of state, or the state itself where it has none yet."""
    try:
        return home_of(state, global_scope())
    except UninitializedError:
        return state


def _capture(program: Program, value: Value, state: Any, known: dict[Any, Capture]) -> None:
    """Tie an input to its state: Stored, or a handle; `known` are the captures of the program that it comes from."""
    builder = program.builder
    if state is default_generator.state or getattr(state, "name", None) == builder.word_home.name:
        handle, held = builder.word, builder.word_home
    elif isinstance(state, Stored):
        handle, held = known[state.name].handle if state.name in known else wrap(state), state
    else:
        handle, held = state, state._data
    if isinstance(handle, Parameter):
        program.parameters[handle.name] = handle
    stored = isinstance(held, Stored)
    if stored:
        value.name = handle._name = held.name
        handle.persistable = True
    builder.captures[held.name if stored else id(handle)] = Capture(handle, value)
    builder.states[value] = held if stored else handle
    if not handle.stop_gradient:
        builder.root.leaves[value] = handle


def _update(builder: StaticBuilder, value: Value, new: Value) -> None:
    handle = next(c.handle for c in builder.captures.values() if c.value is value)
    held = builder.states[value]
    write = Write(handle, "_data", held if isinstance(held, Stored) else builder._adopt(handle))
    builder.root.log[id(handle), "_data", False] = write
    builder.away.append((write, new))


def name(builder: StaticBuilder) -> None:
    """Name the values that have no name yet: they are fetched by name. Later operators get other names."""
    for value in [v for op in builder.root.block.ops for v in op.outputs]:
        if value.name and (found := _NUMBERED.fullmatch(value.name)):
            stem, number = found.groups()
            builder.counts[stem] = max(builder.counts[stem], int(number) + 1)
    for op in builder.root.block.ops:
        if any(v.name is None for v in op.outputs):
            for i, value in enumerate(op.outputs):
                value.name = value.name or f"{op.name}_{builder.counts[op.name]}.tmp_{i}"
            builder.counts[op.name] += 1
