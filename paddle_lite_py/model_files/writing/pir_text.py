"""A graph as the text of `name.json`: what pir.py reads, with the kind of each attribute and the type of each value."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..graph import ModelBlock, ModelGraph, ModelNode
from ..pir import ELEMENTS

VERSION = 4
_ELEMENT_NAMES = {dtype: element for element, dtype in ELEMENTS.items()}
_DIALECTS = {"builtin": "0", "cf": "2"}


class TensorType(NamedTuple):
    """Shape and dtype of a value; a size that is no number is not known."""

    shape: tuple[Any, ...]
    dtype: str


class FileValue:
    """A value of a file: a tensor, or a list of tensors, whose type is a list then; None where it is left out."""

    __slots__ = ("type",)

    def __init__(self, kind: TensorType | list[TensorType] | None) -> None:
        self.type: Any = kind


class Long(int):
    """An attribute of 64 bits."""


class Double(float):
    """An attribute of 64 bits."""


class IntArray(list[int]):
    """Sizes or axes as one attribute."""


class DTypeAttribute(str):
    """A dtype as an attribute; empty for that of the operand."""

    __slots__ = ()


class PlaceAttribute(int):
    """Where a value is made: 0 anywhere, 1 in the host's memory."""


def to_text(graph: ModelGraph) -> bytes:
    """Return the text of a graph whose values are FileValues."""
    program = {"regions": [_TextWriter().region(graph)]}
    base = {"magic": "pir", "trainable": True, "version": VERSION}
    return json.dumps({"base_code": base, "program": program}, separators=(",", ":"), sort_keys=True).encode()


class _TextWriter:
    def __init__(self) -> None:
        self.numbers: dict[FileValue | None, int] = {None: 0}
        self.results, self.arguments, self.blocks = 0, 0, 0

    def region(self, graph: ModelGraph) -> dict[str, Any]:
        weights = [self.weight(w) for w in graph.weights]
        feeds = [
            {"name": f.name, "shape": IntArray(f.shape), "dtype": DTypeAttribute(f.dtype), "place": PlaceAttribute(0)}
            for f in graph.feeds
        ]
        block = self.block(graph.block)
        inner = block["blocks"][0]
        data = [
            self.operator(ModelNode("data", [], attrs, [feed.ref]))
            for attrs, feed in zip(feeds, graph.feeds, strict=True)
        ]
        fetches = [
            self.operator(ModelNode("fetch", [ref], {"name": name, "col": i}, [FileValue(ref.type)]))
            for i, (ref, name) in enumerate(zip(graph.fetches, graph.fetch_names, strict=True))
        ]
        inner["ops"] = [*weights, *data, *inner["ops"], *fetches]
        return block

    def block(self, block: ModelBlock) -> dict[str, Any]:
        k, self.blocks = self.blocks, self.blocks + 1
        arguments = []
        for value in block.arguments:
            self.arguments -= 1
            self.numbers[value] = self.arguments
            arguments.append({"#": self.arguments, "TT": _type(value.type)})
        ops = [self.operator(node) for node in block.nodes]
        if k:
            ops.append(self.operator(ModelNode("cf.yield", block.results, {}, [])))
        return {"#": f"region_{k}", "blocks": [{"#": f"block_{k}", "args": arguments, "ops": ops}]}

    def number(self, value: FileValue | None) -> int:
        """Return the number of a result, which it gets where it is met first."""
        if value not in self.numbers:
            self.results += 1
            self.numbers[value] = self.results
        return self.numbers[value]

    def result(self, value: FileValue) -> dict[str, Any]:
        return {"%": 0 if value.type is None else self.number(value), "TT": _type(value.type)}

    def weight(self, weight: Any) -> dict[str, Any]:
        flags = [int(weight.is_stored), int(not weight.is_trainable), int(weight.is_trainable)]
        held = [0, int(weight.is_parameter), 1, weight.name]
        return {"#": "p", "A": held, "DA": [], "O": self.result(weight.ref), "OA": flags, "QA": []}

    def operator(self, node: ModelNode) -> dict[str, Any]:
        dialect, _, name = node.op.rpartition(".")
        out = {
            "#": f"{_DIALECTS.get(dialect, '1')}.{name}",
            "A": [{"N": n, "AT": attribute(v)} for n, v in node.attrs.items()],
            "I": [{"%": self.number(v)} for v in node.operands],
        }
        if node.blocks:
            out["regions"] = [self.block(b) for b in node.blocks]
        out["O"] = [self.result(v) for v in node.results]
        marks = [("persistable", [True])] if node.op == "fetch" else []
        marks += [("stop_gradient", [not _is_inexact(v) for v in node.results])] if node.results else []
        return out | {"OA": [{"N": n, "AT": attribute(v)} for n, v in marks]}


def _is_inexact(value: FileValue) -> bool:
    types = value.type if isinstance(value.type, list) else [value.type]
    return any(t is not None and "float" in t.dtype or t is not None and "complex" in t.dtype for t in types)


def _type(kind: TensorType | list[TensorType] | None) -> dict[str, Any]:
    if kind is None:
        return {"#": "NULL"}
    if isinstance(kind, list):
        return {"#": "0.t_vec", "D": [_type(k) for k in kind]}
    shape = known_sizes(kind.shape)
    return {"#": "0.t_dtensor", "D": [{"#": f"0.t_{_ELEMENT_NAMES[kind.dtype]}"}, shape, "NCHW", [], 0]}


def known_sizes(shape: Iterable[Any]) -> list[int]:
    """Return a shape with -1 for what is not known."""
    return [int(n) if isinstance(n, int | np.integer) else -1 for n in shape]


def attribute(value: Any) -> dict[str, Any]:
    """Return an attribute, whose Python type says its kind."""
    if isinstance(value, DTypeAttribute):
        return {"#": "1.a_dtype", "D": str(value) or "Undefined(ALL_DTYPE)"}
    if isinstance(value, PlaceAttribute):
        return {"#": "1.a_place", "D": [int(value), 0, ""]}
    if isinstance(value, IntArray):
        return {"#": "1.a_intarray", "D": known_sizes(value)}
    if isinstance(value, list | tuple):
        return {"#": "0.a_array", "D": [attribute(v) for v in value]}
    if isinstance(value, bool | np.bool_):
        return {"#": "0.a_bool", "D": bool(value)}
    if isinstance(value, str):
        return {"#": "0.a_str", "D": value}
    if isinstance(value, int | np.integer):
        return {"#": "0.a_i64" if isinstance(value, Long) else "0.a_i32", "D": int(value)}
    return _floating(float(value) if isinstance(value, Double) else float(np.float32(value)), isinstance(value, Double))


def _floating(number: float, is_double: bool) -> dict[str, Any]:
    kind = "0.a_f64" if is_double else "0.a_f32"
    if math.isfinite(number):
        return {"#": kind, "D": number}
    return {"#": kind, "VD": "NaN" if math.isnan(number) else "INF" if number > 0 else "-INF"}
