"""Programs of the reference's third generation: `name.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .graph import ModelBlock, ModelFeed, ModelFileError, ModelGraph, ModelNode, ModelWeight, naming, read_graph

MAX_FILE = 1 << 30
MAX_DEPTH = 64
ELEMENTS = {
    "bool": "bool", "i8": "int8", "ui8": "uint8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16",
    "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
}  # fmt: skip
_NOT_FINITE = {"INF": float("inf"), "-INF": float("-inf"), "NaN": float("nan"), "NAN": float("nan")}


def read_pir(path: Path) -> ModelGraph:
    """Return the program of a file; see read_graph()."""
    return read_graph(path, parse_pir, MAX_FILE)


def parse_pir(data: bytes) -> ModelGraph:
    """Return the program that bytes are."""
    found = json.loads(data)
    base = found.get("base_code") if isinstance(found, dict) else None
    if not isinstance(base, dict) or base.get("magic") != "pir":
        raise ModelFileError("it is no program of the reference")
    return _GraphReader().graph(found)


class _GraphReader:
    def __init__(self) -> None:
        self.weights: list[ModelWeight] = []
        self.feeds: list[ModelFeed] = []
        self.fetches: list[tuple[int, Any, str]] = []
        self.combined: dict[Any, list[Any]] = {}  # several values that are one operand

    def graph(self, data: Any) -> ModelGraph:
        (region,) = data["program"]["regions"]
        block = self.block(region, 0)
        fetches = sorted(self.fetches, key=lambda f: f[0])
        refs, names = [ref for _, ref, _ in fetches], [name for *_, name in fetches]
        return ModelGraph(self.weights, self.feeds, refs, block, names)

    def block(self, region: Any, depth: int) -> ModelBlock:
        if depth > MAX_DEPTH:
            raise ModelFileError(f"blocks lie deeper in each other than in any program ({MAX_DEPTH})")
        (block,) = region["blocks"]
        out = ModelBlock([a["#"] for a in block.get("args", ())], [], [])
        for i, op in enumerate(block["ops"]):
            with naming(f"operator {i} (`{op.get('#')}`)" if isinstance(op, dict) else f"operator {i}"):
                self.operator(op, out, depth)
        return out

    def operator(self, op: Any, block: ModelBlock, depth: int) -> None:
        kind = op["#"]
        if kind == "p":
            return self.weights.append(_weight(op))
        operands = [self.combined.get(o["%"], o["%"] or None) for o in op.get("I", ())]
        if kind == "0.combine":
            self.combined[op["O"][0]["%"]] = operands
            return None
        if kind == "2.yield":
            block.results = operands
            return None
        dialect, _, name = kind.partition(".")
        attrs = {a["N"]: attribute(a["AT"]) for a in op.get("A", ())}
        results = [o["%"] or None for o in op.get("O", ())]
        if kind == "1.data":
            shape, dtype = dims(op["O"][0]["TT"])
            if _is_state(op):
                return self.weights.append(
                    ModelWeight(results[0], str(attrs["name"]), shape, dtype, False, False, False)
                )
            return self.feeds.append(ModelFeed(results[0], str(attrs["name"]), shape, dtype))
        if kind == "1.fetch":
            return self.fetches.append((int(attrs["col"]), operands[0], str(attrs["name"])))
        layer = str(attrs.pop("struct_name", "")).strip("/")
        blocks = [self.block(r, depth + 1) for r in op.get("regions", ())]
        name = {"0": "builtin.", "1": "", "2": "cf.", "3": "custom."}.get(dialect, f"{dialect}.") + name
        block.nodes.append(ModelNode(name, operands, attrs, results, blocks, layer))
        return None


def _is_state(op: Any) -> bool:
    """Whether an input is what an optimizer keeps between runs."""
    return any(a["N"] == "persistable" and attribute(a["AT"]) == [True] for a in op.get("OA", ()))


def _weight(op: Any) -> ModelWeight:
    _, is_parameter, _, name = op["A"]
    flags = op.get("OA") or [1, 1, 0]
    shape, dtype = dims(op["O"]["TT"])
    return ModelWeight(op["O"]["%"], str(name), shape, dtype, bool(is_parameter), not flags[1], bool(flags[0]))


def dims(kind: Any) -> tuple[tuple[int, ...], str]:
    """Shape and dtype of a type of tensors."""
    element, shape = kind["D"][0], kind["D"][1]
    return tuple(map(int, shape)), ELEMENTS[element["#"].partition("t_")[2]]


def attribute(data: Any) -> Any:
    """Return the value of an attribute."""
    kind = data["#"]
    if "VD" in data:
        return _NOT_FINITE[data["VD"]]
    value = data.get("D")
    if kind == "0.a_array":
        return [attribute(v) for v in value]
    if kind == "1.a_dtype":
        return None if str(value).startswith("Undefined") else str(value)
    if kind == "1.a_scalar":
        return value[1] if len(value) == 2 else complex(*value[1:])
    if kind == "0.a_c64" or kind == "0.a_c128":
        return complex(*value)
    return value
