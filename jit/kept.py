"""The changes of a function that a file can hold: those of tensors, not those of Python objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.errors import warn_user
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.ir.block import Block, Value
from paddle_lite_py.ir.program import Program
from paddle_lite_py.ir.simplify import dead_code
from paddle_lite_py.tracing.effects import Argument, Effect
from paddle_lite_py.tracing.frame import Replay
from paddle_lite_py.tracing.trace import Traced


def for_file(traced: Traced, name: str, lost: list[str]) -> Traced:
    """Return the trace without what it writes to Python objects.

    Arguments:
        name: of the function, for messages.
        lost: takes what is left out.

    Raises:
        ValueError: if a later call would read what it writes.
    """
    left, at, places = [], traced.n_results, list(range(traced.n_results))
    read = {(id(w.owner), w.key) for w, *_ in traced.paths}
    given = _kinds(traced.structure)  # its results are new objects
    for effect in traced.effects:
        write = effect.write
        if isinstance(write.owner, Argument | Tensor) and write.key == "_payload" and effect.structure is nested.LEAF:
            left.append(effect)
            places += range(at, at + effect.n_leaves)
        elif (id(write.owner), write.key) in read or isinstance(write.owner, Argument | Tensor):
            raise ValueError(
                f"jit.save of `{name}`: it changes {_place(effect)}, which a saved program cannot keep; make it a "
                "buffer (register_buffer), and change that in place"
            )
        elif not _is_there(effect) and type(write.owner) not in given:
            lost.append(_place(effect))
        at += effect.n_leaves
    places += range(at, len(traced.program.block.outputs))
    if len(left) < len(traced.effects):
        traced = with_outputs(traced, places)._replace(effects=left, left=())
    return _with_written(traced)


def _with_written(traced: Traced) -> Traced:
    """The trace with an input for each tensor that it overwrites and never reads: a file keeps state as inputs."""
    known = {id(h) for h in traced.captures}
    owners = [e.write.owner for e in traced.effects if isinstance(e.write.owner, Tensor)]
    written = list({id(h): h for h in owners if id(h) not in known}.values())
    if not written:
        return traced
    program, at = traced.program, traced.n_args + len(traced.captures)
    values = {id(h): Value(tuple(h._payload.shape), h._payload.dtype) for h in written}
    inputs, names = list(program.block.inputs), list(program.input_names)
    inputs[at:at], names[at:at] = values.values(), [h._name or f"in{at + i}" for i, h in enumerate(written)]
    updates, place = dict(program.updates), traced.n_results
    for effect in traced.effects:
        if id(effect.write.owner) in values:
            updates[place] = values[id(effect.write.owner)]
        place += effect.n_leaves
    captured = program.captured | {values[id(h)]: h for h in written}
    block = Block(inputs, program.block.ops, program.block.outputs)
    program = Program(block, names, None, captured, updates, program.measured)
    return traced._replace(program=program, captures=[*traced.captures, *written])


def warn_of_lost(name: str, does: str, lost: list[str]) -> None:
    """Tell the user of what a saved program leaves out."""
    if lost:
        what = ", ".join(dict.fromkeys(lost))
        warn_user(f"jit.save of `{name}`: it {does} {what}, which a saved program does not do")


def _place(effect: Effect) -> str:
    if isinstance(effect.write.key, Replay):
        return f"a {type(effect.write.owner).__name__} ({effect.write.key.method})"
    key = f"[{effect.write.key!r}]" if effect.write.is_item else f".{effect.write.key}"
    return f"{type(effect.write.owner).__name__}{key}"


def _is_there(effect: Effect) -> bool:
    """True if what it writes is what is there already: `self.use_cache = use_cache`."""
    found = effect.structure
    return isinstance(found, nested.Static) and nested.flatten(effect.write.get(), lambda _: False, []) == found


def _kinds(structure: Any) -> set[type]:
    """Return the types of containers in a structure of results."""
    if not isinstance(structure, nested.Nest):
        return set()
    return {structure.kind}.union(*map(_kinds, structure.children)) - {list, dict, tuple}


def with_outputs(traced: Traced, places: Sequence[int]) -> Traced:
    """The trace with the outputs at those places, in that order; what nothing asks for any more is not computed."""
    program = traced.program
    now = {old: new for new, old in enumerate(places)}
    block = Block(program.block.inputs, program.block.ops, [program.block.outputs[i] for i in places])
    updates = {now[i]: v for i, v in program.updates.items() if i in now}
    same = {now[i]: now[j] for i, j in traced.same.items() if i in now and j in now}
    program = dead_code(Program(block, program.input_names, None, program.captured, updates, program.measured))
    return traced._replace(program=program, same=same)
