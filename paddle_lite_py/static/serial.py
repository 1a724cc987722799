"""A whole static Program as JSON: what it computes and how it is trained, to go on with in another process."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtypes
from ..core.symbolic import is_symbolic
from ..eager.random import default_generator
from ..eager.tensor import Parameter, Tensor, wrap
from ..ir.block import Block, Value
from ..ir.control import Capacity
from ..ir.program import Program as IRProgram
from ..ir.serialize import FormatError, from_json, to_json
from ..ir.verify import verify
from ..optimizer import Optimizer
from ..optimizer.lr.described import describe, from_description
from ..tracing.checks import Checks, LoopBuffer
from ..tracing.size_facts import Fact
from .restore import restore
from .scope_variable import ScopeVariable

if TYPE_CHECKING:
    from .program_state import P, ProgramState

FORMAT = "paddle_lite_py.training"
VERSION = 1


def dumps(program: ProgramState) -> bytes:
    """Return a program with its gradients and updates; the values of its state are what static.save() writes.

    Raises:
        TypeError: if it holds what no file can: Python called back, a schedule made of functions.
    """
    builder = program.builder
    optimizers: list[Optimizer] = []
    finals = {name: value for name, (_, value) in builder.finals().items()}
    inputs = builder.root.block.inputs
    given = [_input(program, v, optimizers) for v in inputs]
    places = {d["name"]: i for i, d in enumerate(given) if d["kind"] not in ("feed", "rate", "constant")}
    block = Block(inputs, builder.root.block.ops, list(finals.values()))
    word = builder.word_home.home
    out = {
        "format": FORMAT,
        "version": VERSION,
        "program": to_json(IRProgram(block, [d["name"] for d in given], measured=builder.measured)),
        "constraints": builder.unknown.constraints,
        "inputs": given,
        "updates": [places[name] for name in finals],
        "rates": [describe(o._learning_rate) for o in optimizers],
        "random": word.tolist() if program.random_seed and word is not None else None,
    }
    return json.dumps(out).encode()


def _input(program: ProgramState, value: Value, optimizers: list[Optimizer]) -> dict[str, Any]:
    """Return the serialized form of an input."""
    builder = program.builder
    for name, feed in program.feeds.items():
        if feed is value:
            return {"kind": "feed", "name": name}
    for get, provided in builder.providers:
        if provided is value:
            return {"kind": "rate", "name": value.name, "of": _place(get, optimizers)}
    held = builder.states[value]
    if not isinstance(held, ScopeVariable):
        trainable, data = not held.stop_gradient, _data(held.numpy())
        return {"kind": "constant", "name": value.name, "trainable": trainable, "data": data}
    if held is builder.word_home:
        return {"kind": "random", "name": held.name}
    if builder.checks is not None and held is builder.variable_of(builder.checks.code):
        return {"kind": "checks", "name": held.name, "errors": builder.checks.texts()}
    if builder.loop_buffer is not None and held is builder.variable_of(builder.loop_buffer.needed):
        return {"kind": "room", "name": held.name}
    parameter = program.parameters.get(held.name)
    if parameter is None:
        return {"kind": "state", "name": held.name}
    return {"kind": "parameter", "name": held.name, "trainable": not parameter.stop_gradient}


def _place(get: Callable[[], Any], optimizers: list[Optimizer]) -> int:
    optimizer = getattr(get, "__self__", None)
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"the program asks Python ({get!r:.60}) for a value before each run, which no file can hold")
    if optimizer not in optimizers:
        optimizers.append(optimizer)
    return optimizers.index(optimizer)


def _data(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def loads(out: P, data: Any) -> P:
    """Let an empty program be the one that dumps() wrote, from its JSON.

    Raises:
        FormatError: if the data are damaged, or of a newer version.
    """
    if data.get("version") != VERSION:
        raise FormatError(f"program version is {data.get('version')!r}; this package reads version {VERSION}")
    try:
        return _fill(out, data)
    except (LookupError, TypeError, AttributeError, ArithmeticError, ValueError, RecursionError) as e:
        if isinstance(e, FormatError):
            raise
        raise FormatError(f"the program is damaged: {type(e).__name__}: {e}") from None


def _fill(out: P, data: dict[str, Any]) -> P:
    known = list(map(str, data.get("constraints", ())))
    out.builder.unknown.facts += map(Fact.parsed, known)
    made = verify(from_json(data["program"], known))
    values = made.block.inputs
    optimizers = [Optimizer(from_description(r)) for r in data["rates"]]
    captured: dict[Value, Any] = {}
    provided: dict[Value, Callable[[], Any]] = {}
    checks, loop_buffer = None, None
    for value, given in zip(values, data["inputs"], strict=True):
        if given["kind"] == "rate":
            provided[value] = _number(optimizers, given["of"])._rate
        elif given["kind"] == "checks":
            checks = Checks.of(given["errors"], "a loaded program")
            captured[value], checks.code.name = checks.code, given["name"]
        elif given["kind"] == "room":
            loop_buffer = LoopBuffer()
            captured[value], loop_buffer.needed.name, loop_buffer.capacity = (
                loop_buffer.needed,
                given["name"],
                _capacity(made),
            )
        elif given["kind"] != "feed":
            captured[value] = _held(given, value)
    made.input_names = [d["name"] for d in data["inputs"]]
    _check(made, data["updates"], captured)
    made.captured, made.updates = captured, {i: values[at] for i, at in enumerate(data["updates"])}
    restore(out, made, provided=provided)
    out.optimizers, out.builder.checks, out.builder.loop_buffer = list(optimizers), checks, loop_buffer
    if data["random"] is not None:
        out.random_seed = _number(data["random"], 0)
        out.builder.word_home.find(None).set_value(np.array(data["random"], np.uint32))
    return out


def _number(of: list[Any], at: Any) -> Any:
    if type(at) is not int or not 0 <= at < len(of):
        raise FormatError(f"{at!r:.60} is no number of what is expected")
    return of[at]


def _capacity(made: IRProgram) -> Capacity:
    """That of the loops of a program, which they share."""
    found = [a for op in made.ops() for a in op.bound.attrs if isinstance(a, Capacity)]
    return found[0] if found else Capacity()


def _held(given: dict[str, Any], value: Value) -> Any:
    """State in a scope, as a handle on it; or a tensor of the program's own."""
    name, kind = given["name"], given["kind"]
    if not isinstance(name, str) or any(map(is_symbolic, value.shape)):
        raise FormatError(f"state {name!r:.60} has no name or no known shape")
    if kind == "random":
        return default_generator.state
    if kind == "constant":
        return _constant(given, value)
    variable: Any = ScopeVariable(name, value.shape, value.dtype)
    if kind == "parameter":
        return Parameter.of_payload(variable, name, bool(given["trainable"]))
    if kind != "state":
        raise FormatError(f"an input is of the unknown kind {kind!r:.60}")
    return wrap(variable)


def _constant(given: dict[str, Any], value: Value) -> Tensor:
    raw = base64.b64decode(given["data"], validate=True)
    if len(raw) != value.dtype.itemsize * int(np.prod(value.shape, dtype=object)):
        raise FormatError(f"constant {given['name']!r:.60} has {len(raw)} bytes, which is not its size")
    out = Tensor(np.frombuffer(raw, value.dtype).reshape(value.shape), dtypes.from_numpy(value.dtype))
    out.name, out.stop_gradient = given["name"], not given["trainable"]
    return out


def _check(made: IRProgram, updates: list[Any], captured: dict[Value, Any]) -> None:
    """That names are one thing's each, and that state keeps its shape and dtype."""
    names = made.input_names
    if len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
        raise FormatError("two inputs of the program have one name")
    if len(updates) != len(made.block.outputs) or len(set(updates)) < len(updates):
        raise FormatError(f"{len(updates)} updates, but {len(made.block.outputs)} results of the program")
    for at, new in zip(updates, made.block.outputs, strict=True):
        old = _number(made.block.inputs, at)
        if old not in captured or (new.shape, new.dtype) != (old.shape, old.dtype):
            raise FormatError(f"state {old!r}, {old.dtype}{list(old.shape)}, is given another kind of value")
