"""A program whose operators name devices, taken apart into stages: a program for each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..eager.tensor import Tensor
from ..ir.block import Block, Operator, Value
from ..ir.program import Program as IRProgram
from .restore import restore

if TYPE_CHECKING:
    from .program_state import ProgramState
    from .recording import RecordingBuilder

_NUMBER = re.compile(r"\w+:(\d+)")


class ProgramStage(NamedTuple):
    """The part of a program that one process computes.

    Arguments:
        ops: its operators, in order.
        takes, gives: the values that come from the stage before, and go to the next one.
    """

    ops: list[Operator]
    takes: list[Value]
    gives: list[Value]


def stages_of(main: ProgramState) -> list[ProgramStage]:
    """Return the stages of a program by the devices that static.device_guard() has named for its operators.

    Raises:
        ValueError: if they name less than two, or a stage reads what a later one makes.
    """
    builder = main.builder
    builder.name_values()
    at: dict[Value, int] = {}
    places: list[int] = []
    words = _words(builder)
    for op in builder.root.block.ops:
        earlier = max([at.get(v, 0) for v in op.inputs if isinstance(v, Value) and v not in words], default=0)
        named = _NUMBER.fullmatch(builder.devices.get(op, ""))
        place = int(named[1]) if named else earlier
        if place < earlier:
            raise ValueError(
                f"device_guard: {op.name} at {op.where} is on device {place} and reads what device {earlier} makes; "
                "a pipeline goes from each device to the next one"
            )
        at |= dict.fromkeys(op.outputs, place)
        places.append(place)
    count = max(places, default=0) + 1
    if count < 2:
        raise ValueError(
            "DistributedStrategy: pipeline is on, and the program has one stage: name devices for its operators, "
            "with paddle.static.device_guard('gpu:0'), then 'gpu:1', and so on"
        )
    parts = [[op for op, p in zip(builder.root.block.ops, places, strict=True) if p == k] for k in range(count)]
    needed = [{v for op in part for v in op.inputs if isinstance(v, Value)} - words for part in parts]
    between = [
        [v for v, place in at.items() if place <= k and any(v in n for n in needed[k + 1 :])] for k in range(count - 1)
    ]
    return [ProgramStage(*found) for found in zip(parts, [[], *between], [*between, []], strict=True)]


def _words(builder: RecordingBuilder) -> set[Value]:
    """Return the states of the random stream that a program goes through: each stage has a stream of its own."""
    first = builder.captures.get(builder.word_home.name)
    words: set[Value] = set() if first is None else {first.value}
    for op in builder.root.block.ops:
        if any(v in words for v in op.inputs if isinstance(v, Value)):
            words |= {v for v in op.outputs if v.shape == (2,) and v.dtype == "uint32"}
    return words


def program_of(main: ProgramState, stage: ProgramStage, results: list[Value], out: ProgramState) -> list[Tensor]:
    """Let an empty program compute a stage: it is fed what the stage takes, and gives its results.

    Returns:
        The results, to fetch or to differentiate.
    """
    builder, words = main.builder, _words(main.builder)
    made = {v for op in stage.ops for v in op.outputs}
    read = {v for op in stage.ops for v in op.inputs if isinstance(v, Value)} | set(results)
    feeds = [v for v in main.feeds.values() if v in read]
    states: dict[Value, Any] = {v: s for v, s in builder.states.items() if v in read and v not in words}
    updates = {v: new for v, s in states.items() if (new := _last(builder, s)) in made}
    word = next((v for v in words if v in read and v not in made), None)
    if word is not None:
        states[word] = builder.word_home
        updates[word] = [v for op in stage.ops for v in op.outputs if v in words][-1]
    provided = [v for _, v in builder.providers if v in read]
    inputs = [*feeds, *stage.takes, *states, *provided]
    names = [str(v.name or f"provided_{i}") for i, v in enumerate(inputs)]
    outputs = [*results, *updates.values()]
    changed = {len(results) + i: v for i, v in enumerate(updates)}
    block = Block(inputs, stage.ops, outputs)
    restore(out, IRProgram(block, names, [str(v.name) for v in outputs], states, changed), main)
    out.random_seed = main.random_seed
    return out.fetches


def _last(builder: RecordingBuilder, variable: Any) -> Any:
    """Return the last value of state in a program, if it changes it."""
    found = builder.finals().get(getattr(variable, "name", ""))
    return None if found is None else found[1]
