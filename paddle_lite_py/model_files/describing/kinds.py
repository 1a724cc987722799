"""Operators of the newest generation in terms of the one before: the rows of legacy.py, read backwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.memo import once
from ..graph import ModelNode
from ..legacy import ROWS, LegacyRow
from ..program_desc import OperatorDescription
from ..weights import NUMBERS
from ..writing.emitter import Unwritable
from ..writing.pir_text import DTypeAttribute, FileValue, PlaceAttribute

# Names that stand for another one in the rows.
_NAMED = {
    "add": "elementwise_add", "subtract": "elementwise_sub", "multiply": "elementwise_mul",
    "divide": "elementwise_div", "maximum": "elementwise_max", "minimum": "elementwise_min",
    "remainder": "elementwise_mod", "floor_divide": "elementwise_floordiv", "elementwise_pow": "elementwise_pow",
    "hardswish": "hard_swish", "hardsigmoid": "hard_sigmoid",
}  # fmt: skip
_SPLITS = {
    "split_with_num": LegacyRow("split_", "X AxisTensor|axis", "Out*"),
    "split": LegacyRow("split_", "X sections AxisTensor|axis", "Out*"),
}
# Operators that also give the shape of what they were given, to their gradients.
_WITH_SHAPE = ("reshape2", "transpose2", "squeeze2", "unsqueeze2", "flatten_contiguous_range")
# Attributes that programs read there and that rows have no need of.
_DEFAULTS: dict[str, dict[str, Any]] = {
    **{kind: {"axis": -1} for kind in ROWS if kind.startswith("elementwise_")},
    "matmul_v2": {"trans_x": False, "trans_y": False},
}
_VALUES = {"bool": "bool_values", "float32": "fp32_values", "float64": "fp64_values", "int32": "int32_values",
           "int64": "int64_values"}  # fmt: skip


class KindOf(NamedTuple):
    """The earlier kind of an operator, and the row that leads from it to the operator."""

    kind: str
    row: LegacyRow


@once
def _kinds() -> dict[str, KindOf]:
    out: dict[str, KindOf] = {}
    for kind, row in ROWS.items():  # of several kinds the first one is the one that is written
        out.setdefault(row.op, KindOf(kind, row))
    out |= {name: KindOf(kind, ROWS[kind]) for name, kind in _NAMED.items() if kind in ROWS}
    return out | {name: KindOf("split", row) for name, row in _SPLITS.items()}


def kind_of(node: ModelNode) -> KindOf:
    """Return the earlier kind of an operator.

    Raises:
        Unwritable: if there is none.
    """
    found = _kinds().get(node.op)
    if found is None or node.blocks:
        raise Unwritable(f"`{node.op}` has no earlier form")
    return found


def attributes(node: ModelNode, row: LegacyRow) -> dict[str, Any]:
    """Return its attributes by the names and in the types of that generation."""
    names = {new: old for old, new in row.attrs.items()}
    kept = {k: v for k, v in node.attrs.items() if not isinstance(v, PlaceAttribute)}
    return {names.get(k, k): plain(v) for k, v in kept.items()}


def plain(value: Any) -> Any:
    """Return an attribute as a plain value; a dtype is its number."""
    if isinstance(value, DTypeAttribute):
        return NUMBERS[np.dtype(str(value))] if value else -1
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, bool):
        return value
    return int(value) if isinstance(value, int) else float(value) if isinstance(value, float) else value


def with_defaults(op: OperatorDescription) -> OperatorDescription:
    """Return the operator with the attributes that each of its kind has."""
    op.attrs = _DEFAULTS.get(op.kind, {}) | op.attrs
    return op


def gives_shape(kind: str) -> bool:
    """Whether an operator has a result `XShape`."""
    return kind in _WITH_SHAPE


# -- constants -----------------------------------------------------------------------------------------------------
def constant(node: ModelNode) -> tuple[Any, bool] | None:
    """Return the value of an operator that makes a constant, and whether it is one number; None for others."""
    if node.op == "full_int_array":
        return [int(v) for v in node.attrs["value"]], False
    if node.op == "full":
        return np.dtype(node.results[0].type.dtype).type(node.attrs["value"]).item(), True
    if node.op == "assign_value":
        return plain(node.attrs["values"]), False
    return None


def of_constant(value: Any, is_number: bool, of: FileValue, name: str) -> OperatorDescription:
    """Return the operator that makes a constant."""
    shape, dtype = [int(n) for n in of.type.shape], of.type.dtype
    if is_number:
        attrs = {"shape": shape, "value": value, "dtype": NUMBERS[np.dtype(dtype)]}
        return OperatorDescription("fill_constant", {}, {"Out": [name]}, attrs)
    if dtype not in _VALUES:
        raise Unwritable(f"a constant of {dtype}")
    attrs = {"shape": shape, _VALUES[dtype]: value, "dtype": NUMBERS[np.dtype(dtype)]}
    return OperatorDescription("assign_value", {}, {"Out": [name]}, attrs)


def tokens(kind: str, row: LegacyRow, n: int) -> list[str]:
    """Return what each of n operands is there: the axes of a reduction are an attribute.

    Raises:
        Unwritable: if there are more operands than that generation has.
    """
    found = row.operands.split()
    found += ["dim"] if kind.startswith("reduce_") and len(found) == 1 else []
    if n > len(found):
        raise Unwritable(f"`{kind}` of {n} operands")
    return found


def slot_of(token: str, is_list: bool) -> str:
    """Return the slot of an operand, of those that a token of a row lists."""
    names = token.split("|")
    fitting = [n for n in names if n.endswith("*") == is_list and (n[0].isupper() or len(names) == 1)]
    if not fitting:
        raise Unwritable(f"an operand of {token} that is {'several values' if is_list else 'a value'}")
    return fitting[0].removesuffix("*")


def attribute_of(token: str) -> str | None:
    """Return the attribute that a constant operand is there; None if it is none."""
    last = token.split("|")[-1]
    return last if last[0].islower() and not last.endswith("*") else None
