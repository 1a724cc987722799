"""Sizes that travel through a program as tensors: `paddle.shape(x)[0] * 2` where a shape is wanted."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..core.interpreter import state
from ..core.symbolic import is_symbolic
from ..eager.tensor import Tensor
from ..ir.block import Operator
from .frame import TracedValue, origin

# Elements of tensors that are looked at, and rows of a table: loops over these are unrolled.
MAX_SIZES, MAX_ROWS = 64, 8


# By operator, what gives its result: of arrays of sizes, and of its attributes.
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "floor_divide": np.frompyfunc(operator.floordiv, 2, 1),
    "maximum": np.frompyfunc(jax.core.max_dim, 2, 1),
    "minimum": np.frompyfunc(jax.core.min_dim, 2, 1),
    "neg": np.negative,
}
REDUCTIONS: dict[str, Any] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": ELEMENTWISE["maximum"],
    "min": ELEMENTWISE["minimum"],
}
# Ops that preserve sizes, in the order of their elements.
SAME = ("cast", "identity", "assign", "reshape", "squeeze", "unsqueeze", "flatten", "detach")


def size_of(value: Any) -> Any:
    """Return how a value of a block under construction is made of sizes: a size, a list of them, or None.

    Only what follows from shapes and from numbers in the code is found; nothing is computed of data.
    """
    found = _sizes(value)
    return None if found is None or found.ndim > 1 else found.tolist()


def has_rows_of_sizes(tensor: Tensor) -> bool:
    """Whether a tensor is a table of known sizes, such as the height and width of each picture of a pyramid."""
    value = tensor._payload
    if tensor.ndim < 2 or value.dtype.kind not in "iu" or not _is_small(value.shape) or value.shape[0] > MAX_ROWS:
        return False
    if isinstance(value, TracedValue):
        return _sizes(value) is not None
    return id(tensor) in (state.interpreter.constants or {})


def _sizes(value: Any) -> Any:
    """Return the sizes of a value in an array; None where they are not known."""
    if not isinstance(value, TracedValue):
        return _array(value, ()) if type(value) is int else None
    value = origin(value)
    if value.frame is None or value.dtype.kind not in "iu" or not _is_small(value.shape):
        return None
    maker = next((op for op in reversed(value.frame.block.ops) if value in op.outputs), None)
    if maker is None:
        return _constant(value)
    found = _result(maker, maker.outputs.index(value))
    if not isinstance(found, np.ndarray):  # None, or one element of an array of objects
        return None if found is None else _array(found, value.shape)
    return found.reshape(value.shape)


def _is_small(shape: Any) -> bool:
    return all(isinstance(n, int) for n in shape) and np.prod(shape, dtype=int) <= MAX_SIZES


def _array(sizes: Any, shape: tuple[Any, ...]) -> Any:
    found = np.empty(shape, object)
    found[...] = sizes
    return found


def _constant(value: TracedValue) -> Any:
    """Return the numbers of a tensor that the code makes of numbers."""
    made = state.interpreter.constants or {}
    captures = getattr(state.interpreter, "captures", {})
    found = next((made[key] for key, c in captures.items() if c.value is value and key in made), None)
    return None if found is None else np.asarray(found[1]).astype(object)


def _result(op: Operator, at: int) -> Any:
    """Return the sizes of one result of an operator."""
    name, inputs = op.name, op.inputs
    if name == "shape":
        return _array(inputs[0].shape, (len(inputs[0].shape),))
    if name == "dimension":
        return op.bound.attrs[0]
    if name == "_range_count":
        return _range_length(*[n if n is None else n.reshape(-1)[0] for n in map(_sizes, inputs)])
    if name not in _KNOWN:
        return None
    parts = [_sizes(v) for v in inputs]
    if any(p is None for p in parts):
        return None
    attrs = dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=True))
    return _computed(name, parts, attrs, op.outputs[at].shape, at)


_KNOWN = {*ELEMENTWISE, *REDUCTIONS, *SAME, "full", "arange", "stack", "concat", "getitem", "_unbind", "cumsum"}
_KNOWN |= {"t", "transpose"}


def _computed(name: str, parts: list[Any], attrs: dict[str, Any], shape: tuple[int, ...], at: int) -> Any:
    """Return the sizes that an operator gives of those of its inputs."""
    first = parts[0]
    if name in ELEMENTWISE:
        return ELEMENTWISE[name](*parts)
    if name in REDUCTIONS:
        axis = attrs["axis"]
        return REDUCTIONS[name].reduce(first.reshape(-1) if axis is None else first, axis=0 if axis is None else axis)
    if name in SAME:
        return first.reshape(shape)
    if name == "full":
        return np.broadcast_to(first, shape)
    if name == "arange":
        return first + np.arange(shape[0]).astype(object) * parts[1]
    if name in ("stack", "concat"):
        return (np.stack if name == "stack" else np.concatenate)(parts, axis=attrs["axis"])
    if name == "cumsum":
        return np.add.accumulate(first, axis=0 if attrs["axis"] is None else attrs["axis"])
    if name in ("t", "transpose"):
        return first.transpose(attrs.get("perm"))
    return np.moveaxis(first, attrs["axis"], 0)[at] if name == "_unbind" else _items(first, parts[1:], attrs["plan"])


def _items(sizes: Any, starts: list[Any], plan: Any) -> Any:
    """Return some of the sizes: those that an index picks."""
    index: list[Any] = []
    places = iter(starts)
    for kind, *more in plan:
        start = next(places).item() if kind in ("at", "cut") else 0
        if not isinstance(start, int) or kind not in ("at", "all", "cut", "new"):
            return None
        index.append({"at": start, "all": slice(None), "new": None}.get(kind))
        if kind == "cut":
            index[-1] = (start + np.arange(more[0]) * more[1]).astype(int)
    return sizes[tuple(index)] if sum(isinstance(i, np.ndarray) for i in index) < 2 else None


def _range_length(start: Any, end: Any, step: Any) -> Any:
    """Return the length of a range."""
    if all(isinstance(n, int) for n in (start, end, step)) and step:
        return len(range(start, end, step))
    return end if (start, step) == (0, 1) and (isinstance(end, int) or is_symbolic(end)) else None
