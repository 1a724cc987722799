"""Programs of the reference's earlier generations: `name.pdmodel` and `__model__`, protocol buffers of a ProgramDesc.

There values are variables by name, which operators write again; control flow are operators with a block of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .gradients import alike
from .graph import ModelBlock, ModelFeed, ModelFileError, ModelGraph, ModelNode, ModelWeight, naming, read_graph
from .legacy import CONTROL_INPUTS, GRADIENT, ROWS, gradient_of, normalized
from .weights import tensor_description
from .wire import doubles, fields, floats, signed, varints

MAX_FILE = 1 << 31
_ARRAY = 13  # the kind of variables that are lists of tensors
_NO_STATE = (9, 10, 17)  # kinds of variables: feeds, fetches, what only a run has
_KINDS: dict[int, tuple[int, bool]] = {  # kind of an attribute: the field that has it, and whether it is a list
    0: (3, False), 1: (4, False), 2: (5, False), 3: (6, True), 4: (7, True), 5: (8, True), 6: (10, False),
    7: (11, True), 8: (12, False), 9: (13, False), 10: (14, True), 11: (15, True), 12: (16, True), 13: (17, False),
    14: (18, True), 15: (19, False), 16: (20, False), 17: (21, True),
}  # fmt: skip


@dataclass
class OperatorDescription:
    """One operator as it stands in the file."""

    kind: str = ""
    inputs: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, list[str]] = field(default_factory=dict)
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass
class VariableDescription:
    """A declared variable."""

    name: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    kind: int = 7
    is_persistable: bool = False
    is_parameter: bool = False
    stops_gradient: bool = False
    needs_check: bool = False  # of its feed


def read_program(path: Path) -> ModelGraph:
    """Return the program of a file; see read_graph()."""
    return read_graph(path, parse_program, MAX_FILE)


def parse_program(data: bytes) -> ModelGraph:
    """Return the program that bytes are."""
    blocks = [_block(v) for n, v in fields(memoryview(data)) if n == 1]
    if not blocks:
        raise ModelFileError("it is no program: it has no blocks")
    return _graph(blocks)


Blocks = list[tuple[dict[str, VariableDescription], list[OperatorDescription]]]


def _graph(blocks: Blocks) -> ModelGraph:
    variables, operations = blocks[0]
    feeds: list[tuple[int, ModelFeed]] = []
    fetches: list[tuple[int, str]] = []
    for op in operations:
        if op.kind == "feed":
            (name,) = op.outputs["Out"]
            v = variables[name]
            feeds.append((int(op.attrs["col"]), ModelFeed(name, name, v.shape, v.dtype)))
        elif op.kind == "fetch":
            fetches.append((int(op.attrs["col"]), op.inputs["X"][0]))
    states = sorted(
        [v for v in variables.values() if v.is_persistable and v.kind not in _NO_STATE], key=lambda v: v.name.encode()
    )
    weights = [
        ModelWeight(v.name, v.name, v.shape, v.dtype, v.is_parameter, v.is_parameter and not v.stops_gradient, True)
        for v in states
    ]
    fed = {f.name for _, f in feeds} | {v.name for v in states}
    feeds += [(i, ModelFeed(v.name, v.name, v.shape, v.dtype)) for i, v in enumerate(_not_made(blocks[0], fed))]
    block = ModelBlock([], list(_nodes(blocks, 0, 0)), [])
    names = [r for _, r in sorted(fetches, key=_first)]
    return ModelGraph(weights, [f for _, f in sorted(feeds, key=_first)], names, block, names)


def _not_made(block: Any, known: set[str]) -> Iterator[VariableDescription]:
    """Return the values that are read before any operator makes them: the feeds of a training program."""
    variables, operations = block
    made = set(known)
    for op in operations:
        for name in [n for names in op.inputs.values() for n in names]:
            v = variables.get(name)
            if op.kind != "fetch" and v is not None and name not in made and v.kind == 7 and v.needs_check:
                made.add(name)
                yield v
        made.update(n for names in op.outputs.values() for n in names)


def _first(pair: tuple[int, Any]) -> int:
    return pair[0]


def _nodes(blocks: Blocks, number: int, depth: int) -> Iterator[ModelNode]:
    if not 0 <= number < len(blocks) or depth > len(blocks):
        raise ModelFileError(f"block {number} of {len(blocks)}, or blocks that hold themselves")
    variables, operations = blocks[number]
    for v in variables.values():
        if v.kind == _ARRAY:  # no operator makes it: it is there, and empty, where its block begins
            yield ModelNode("create_array", [], {}, [v.name])
    made = list[tuple[OperatorDescription, ModelNode]]()
    for op in operations:
        if op.kind in ("feed", "fetch"):
            continue
        if (forward := differentiated(op, made)) is not None:
            yield gradient_of(*forward, op)
            continue
        with naming(f"operator `{op.kind}`"):
            inner = op.attrs.pop("sub_block", None)
            node = normalized(op.kind, op.inputs, op.outputs, op.attrs)
            if inner is not None:
                results = op.inputs.get("Condition", []) if op.kind == "while" else []
                node.blocks = [ModelBlock([], list(_nodes(blocks, int(inner), depth + 1)), results)]
        made.append((op, node))
        yield node


def differentiated(
    op: OperatorDescription, before: list[tuple[OperatorDescription, ModelNode]]
) -> tuple[OperatorDescription, ModelNode] | None:
    """Return the operator that one is the gradient of: it has the operands and results of it that are no gradients."""
    kind = op.kind.removesuffix("_grad")
    if kind == op.kind or op.kind in ROWS:
        return None
    kept = {n: names for n, names in op.inputs.items() if not n.endswith(GRADIENT) and names}
    starts = {n: names for n, names in op.inputs.items() if n.endswith(GRADIENT)}

    def fits(other: OperatorDescription) -> bool:
        known = other.inputs | other.outputs
        named = [_are_of(names, known.get(n.removesuffix(GRADIENT))) for n, names in starts.items()]
        return (
            other.kind == kind
            and all(known.get(n, names) == names for n, names in kept.items())
            and alike(other.attrs, op.attrs)
            and (kind in CONTROL_INPUTS or all(named))  # a block is known by its scope
        )

    return next((pair for pair in reversed(before) if fits(pair[0])), None)


def _are_of(gradients: list[str], results: list[str] | None) -> bool:
    """Whether these are the gradients of those, by their names."""
    pairs = zip(gradients, results or (), strict=False)
    return all(g == "@EMPTY@" or g.startswith(r) for g, r in pairs)


# -- messages ------------------------------------------------------------------------------------------------------
def _text(value: Any) -> str:
    return bytes(value).decode("utf-8", "replace")


def _block(data: memoryview) -> tuple[dict[str, VariableDescription], list[OperatorDescription]]:
    variables, operations = dict[str, VariableDescription](), list[OperatorDescription]()
    for number, value in fields(data):
        if number == 3:
            v = _variable(value)
            variables[v.name] = v
        elif number == 4:
            with naming(f"operator {len(operations)}"):
                operations.append(_operation(value))
    return variables, operations


def _variable(data: memoryview) -> VariableDescription:
    out = VariableDescription()
    for number, value in fields(data):
        if number == 1:
            out.name = _text(value)
        elif number == 2:
            _type(value, out)
        elif number == 3:
            out.is_persistable = bool(value)
        elif number == 4:
            out.needs_check = bool(value)
        elif number == 5:
            out.is_parameter = bool(value)
        elif number == 6:
            out.stops_gradient = bool(value)
    return out


def _type(data: memoryview, out: VariableDescription) -> None:
    for number, value in fields(data):
        if number == 1:
            out.kind = int(value)
        elif number in (3, 4):
            for inner, description in fields(value):
                if inner == 1:
                    dtype, out.shape = tensor_description(description)
                    out.dtype = dtype.name


def _operation(data: memoryview) -> OperatorDescription:
    out = OperatorDescription()
    for number, value in fields(data):
        if number == 3:
            out.kind = _text(value)
        elif number in (1, 2):
            names = [_text(v) for _, v in fields(value)]
            (out.inputs if number == 1 else out.outputs)[names[0]] = names[1:]
        elif number == 4:
            name, found = _attribute(value)
            out.attrs[name] = found
    return out


def _attribute(data: memoryview) -> tuple[str, Any]:
    name, kind, values = "", -1, list[tuple[int, Any]]()
    for number, value in fields(data):
        if number == 1:
            name = _text(value)
        elif number == 2:
            kind = int(value)
        else:
            values.append((number, value))
    wanted, is_list = _KINDS[kind]
    found = [x for number, value in values if number == wanted for x in _values(kind, value)]
    return name, found if is_list else (found[0] if found else None)


def _values(kind: int, value: Any) -> list[Any]:
    """Return the values of an attribute field of some kind."""
    if kind in (0, 3):
        return [_int32(v) for v in varints(value)]
    if kind in (1, 4):
        return floats(value)
    if kind in (2, 5, 13, 14):
        return [_text(value)]
    if kind in (6, 7):
        return [bool(v) for v in varints(value)]
    if kind in (12, 15):
        return doubles(value)
    if kind in (16, 17):
        return [_scalar(value)]
    return varints(value)


def _int32(value: int) -> int:
    return value - (1 << 32) if value >> 31 == 1 else value


def _scalar(data: memoryview) -> Any:
    found = dict(fields(data))
    kind = found[1]
    if kind == 1:
        return bool(found.get(2, 0))
    if kind == 2:
        return signed(found.get(3, 0))
    if kind == 3:
        return doubles(found[4])[0]
    return complex(*[doubles(v)[0] for _, v in fields(found[5])])
