"""Sizes that travel through a program as tensors: `paddle.shape(x)[0] * 2` where a shape is wanted."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax

from ..core.symbolic import is_symbolic
from ..ir.block import Operator
from .frame import TracedValue

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
    "maximum": jax.core.max_dim,
    "minimum": jax.core.min_dim,
}
# Ops that preserve a size.
SAME = ("cast", "identity", "assign", "reshape", "squeeze", "detach")


def size_of(value: Any) -> Any:
    """Return how a value of a block under construction is made of sizes: a size, a list of them, or None.

    Only what follows from shapes is found; nothing is computed of data.
    """
    if not isinstance(value, TracedValue):
        return value if type(value) is int else None
    if value.frame is None or value.dtype.kind not in "iu":
        return None
    maker = next((op for op in reversed(value.frame.block.ops) if value in op.outputs), None)
    return None if maker is None else _known_result(maker)


def _known_result(op: Operator) -> Any:
    name, inputs, attrs = op.name, op.inputs, op.bound.attrs
    if name == "shape":
        return list(inputs[0].shape)
    if name == "dimension":
        return attrs[0]
    if name == "full" and type(inputs[0]) is int and op.outputs[0].shape in ((), (1,)):
        return [inputs[0]] if op.outputs[0].shape else inputs[0]
    if name in SAME:
        found = size_of(inputs[0])
        return found[0] if name in ("reshape", "squeeze") and not op.outputs[0].shape and _listed(found) else found
    if name == "stack":
        parts = [size_of(v) for v in inputs]
        return parts if all(_single(p) for p in parts) else None
    if name == "getitem":
        return _item(size_of(inputs[0]), inputs[1:], attrs[0])
    if name == "_range_count":
        return _range_length(*map(size_of, inputs))
    if name in ARITHMETIC and len(inputs) == 2:
        a, b = map(size_of, inputs)
        return ARITHMETIC[name](a, b) if _single(a) and _single(b) else None
    return None


def _range_length(start: Any, end: Any, step: Any) -> Any:
    """Return the length of a range."""
    start, end, step = (n[0] if _listed(n) and len(n) == 1 else n for n in (start, end, step))
    if all(isinstance(n, int) for n in (start, end, step)) and step:
        return len(range(start, end, step))
    return end if (start, step) == (0, 1) and _single(end) else None


def _item(sizes: Any, index: tuple[Any, ...], plan: Any) -> Any:
    """Return one of the sizes, or some in a row."""
    if not _listed(sizes) or len(plan) != 1 or len(index) != 1 or type(index[0]) is not int:
        return None
    kind, start = plan[0], index[0]
    if kind == ("at",):
        return sizes[start]
    return sizes[start :: kind[2]][: kind[1]] if kind[0] == "cut" and kind[2] > 0 else None


def _single(size: Any) -> bool:
    return type(size) is int or is_symbolic(size) if size is not None else False


def _listed(sizes: Any) -> bool:
    return isinstance(sizes, list)
