"""Forms of operators that read and write at places, and of those whose results have a size that data tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model_files.writing.emitter import Unwritable
from ...model_files.writing.pir_text import FileValue, TensorType
from ..writer import OnnxWriter
from .table import form


@form("gather")
def gather(w: OnnxWriter, to: Any, x: FileValue, index: FileValue, axis: FileValue) -> FileValue:
    return w.node("Gather", x, index, to=to[0], axis=w.integers(axis, "an axis")[0])


@form("gather_nd")
def gather_nd(w: OnnxWriter, to: Any, x: FileValue, index: FileValue) -> FileValue:
    return w.node("GatherND", x, w.cast(index, "int64"), to=to[0])


@form("index_sample")
def index_sample(w: OnnxWriter, to: Any, x: FileValue, index: FileValue) -> FileValue:
    return w.node("GatherElements", x, index, to=to[0], axis=1)


@form("take_along_axis")
def take_along_axis(w: OnnxWriter, to: Any, x: FileValue, index: FileValue, axis: int) -> FileValue:
    return w.node("GatherElements", x, index, to=to[0], axis=axis)


@form("embedding")
def embedding(w: OnnxWriter, to: Any, x: FileValue, weight: FileValue, padding_idx: int) -> FileValue:
    if padding_idx >= 0:
        if weight not in w.known:
            raise Unwritable("a row of zeros in a table that a run computes has no form in ONNX")
        table = w.known[weight].copy()
        table[padding_idx] = 0
        weight = w.constant(table)
    return w.node("Gather", weight, x, to=to[0], axis=0)


# -- writes --------------------------------------------------------------------------------------------------------
_REDUCTIONS = {"assign": "none", "add": "add", "mul": "mul", "multiply": "mul", "amax": "max", "amin": "min"}


@form("put_along_axis")
def put_along_axis(
    w: OnnxWriter, to: Any, x: FileValue, index: FileValue, values: FileValue, axis: int, reduce: str,
    include_self: bool,
) -> FileValue:  # fmt: skip
    if reduce not in _REDUCTIONS or (reduce != "assign" and not include_self):
        raise Unwritable(f"ONNX has no form of put_along_axis with reduce={reduce!r}, include_self={include_self}")
    return w.node("ScatterElements", x, index, values, to=to[0], axis=axis, reduction=_REDUCTIONS[reduce])


def _column(w: OnnxWriter, index: FileValue) -> FileValue:
    """Indices of rows as coordinates."""
    return w.reshape(w.cast(index, "int64"), (*index.type.shape, 1))


@form("scatter")
def scatter(w: OnnxWriter, to: Any, x: FileValue, index: FileValue, updates: FileValue, overwrite: bool) -> FileValue:
    places = _column(w, index)
    if overwrite:
        return w.node("ScatterND", x, places, updates, to=to[0])
    nothing = w.expand(w.constant(0, x.type.dtype), updates.type.shape)
    empty = w.node("ScatterND", x, places, nothing, to=to[0])
    return w.node("ScatterND", empty, places, updates, to=to[0], reduction="add")


@form("scatter_nd_add")
def scatter_nd_add(w: OnnxWriter, to: Any, x: FileValue, index: FileValue, updates: FileValue) -> FileValue:
    return w.node("ScatterND", x, w.cast(index, "int64"), updates, to=to[0], reduction="add")


@form("index_add")
def index_add(w: OnnxWriter, _to: Any, x: FileValue, index: FileValue, value: FileValue, axis: int) -> FileValue:
    n = len(x.type.shape)
    order = [axis, *[i for i in range(n) if i != axis]]
    moved, added = w.transpose(x, order), w.transpose(value, order)
    made = w.node("ScatterND", moved, _column(w, index), added, to=moved.type, reduction="add")
    return w.transpose(made, [order.index(i) for i in range(n)])


@form("index_put")
def index_put(w: OnnxWriter, to: Any, x: FileValue, places: FileValue, value: FileValue, accumulate: bool) -> FileValue:
    found: list[FileValue] = []
    for at in w.items(places):
        found += coordinates(w, at) if at.type.dtype == "bool" else [at]
    index = _together(w, found)
    rest = x.type.shape[len(found) :]
    value = w.expand(value, (*index.type.shape[:-1], *rest))
    return w.node("ScatterND", x, index, value, to=to[0], reduction="add" if accumulate else "none")


def _together(w: OnnxWriter, parts: Sequence[FileValue]) -> FileValue:
    """Indices of several axes as coordinates."""
    n = max(len(p.type.shape) for p in parts)
    columns = zip(*[(1,) * (n - len(p.type.shape)) + tuple(p.type.shape) for p in parts], strict=True)
    common = tuple([next((m for m in column if m != 1), 1) for column in columns])
    spread = [w.reshape(w.expand(_not_negative(w, p), common), (*common, 1)) for p in parts]
    return w.joined(spread, n, TensorType((*common, len(parts)), "int64"))


def _not_negative(w: OnnxWriter, index: FileValue) -> FileValue:
    """Indices as int64; ONNX counts those below 0 from the end itself."""
    return w.cast(index, "int64")


@form("set_value_with_tensor", "set_value_with_tensor_")
def set_value(
    w: OnnxWriter, to: Any, x: FileValue, value: FileValue, starts: FileValue, ends: FileValue, steps: FileValue,
    axes: list[int], decrease_axes: list[int], none_axes: list[int],
) -> FileValue:  # fmt: skip
    """Return a write to slices: to the places that the same slices of the places of all elements have."""
    shape = x.type.shape
    total = math.prod(shape)
    kind = TensorType((total,), "int64")
    count = w.node("Range", w.constant(0, "int64"), w.size(total), w.constant(1, "int64"), to=kind)
    at = w.reshape(count, shape)
    inner = TensorType((None,) * len(shape), "int64")
    chosen = w.node("Slice", at, starts, ends, w.ints(axes), steps, to=inner)
    spread = _as_chosen(w, value, chosen, decrease_axes, none_axes)
    flat = w.node("Reshape", chosen, w.ints([-1, 1]), to=TensorType((None, 1), "int64"))
    values = w.node("Reshape", spread, w.ints([-1]), to=TensorType((None,), value.type.dtype))
    line = w.reshape(x, (total,))
    return w.reshape(w.node("ScatterND", line, flat, values, to=line.type), to[0].shape)


def _as_chosen(w: OnnxWriter, value: FileValue, chosen: FileValue, dropped: list[int], new: list[int]) -> FileValue:
    """Return a value in the shape of what it is written to, whose dropped axes have one element."""
    size = w.node("Shape", chosen, to=TensorType((len(chosen.type.shape),), "int64"))
    n, rank = len(value.type.shape), len(chosen.type.shape)
    if new:
        raise Unwritable("a write to a slice with a new axis has no form in ONNX")
    if dropped and n:
        kept = rank - len(dropped)
        whole = [1] * (kept - n) + list(value.type.shape)
        for axis in sorted(dropped):
            whole.insert(axis, 1)
        value = w.reshape(value, whole)
    return w.node("Expand", value, size, to=TensorType(chosen.type.shape, value.type.dtype))


# -- sizes that data tell ------------------------------------------------------------------------------------------
def coordinates(w: OnnxWriter, mask: FileValue) -> list[FileValue]:
    """Return the places of what is not zero: for each axis a vector."""
    n = len(mask.type.shape)
    found = w.node("NonZero", mask, to=TensorType((n, None), "int64"))
    rows = w.nodes_of("Split", [found], [TensorType((1, None), "int64")] * n, axis=0, num_outputs=n)
    return [w.node("Reshape", r, w.ints([-1]), to=TensorType((None,), "int64")) for r in rows]


@form("nonzero")
def nonzero(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
    found = w.node("NonZero", x, to=TensorType(to[0].shape[::-1], "int64"))
    return w.node("Transpose", found, to=to[0], perm=[1, 0])


@form("repeat_interleave_with_tensor_index")
def repeat_by(w: OnnxWriter, to: Any, x: FileValue, counts: FileValue, axis: int) -> FileValue:
    """By the place of the first running total that exceeds each place of the result."""
    n, total = counts.type.shape[0], to[0].shape[axis]
    counts = w.cast(counts, "int64")
    ends = w.node("CumSum", counts, w.constant(0, "int64"), to=counts.type)
    line = w.node(
        "Range", w.constant(0, "int64"), w.size(total), w.constant(1, "int64"), to=TensorType((total,), "int64")
    )
    pairs = w.reshape(line, (total, 1)), w.reshape(ends, (1, n))
    past = w.node("GreaterOrEqual", *pairs, to=TensorType((total, n), "bool"))
    index = w.node("ReduceSum", w.cast(past, "int64"), w.ints([1]), to=line.type, keepdims=0)
    return w.node("Gather", x, index, to=to[0], axis=axis)


@form("repeat_interleave")
def repeat_interleave(w: OnnxWriter, to: Any, x: FileValue, repeats: int, axis: int) -> FileValue:
    shape = list(x.type.shape)
    wide = [*shape[: axis + 1], repeats, *shape[axis + 1 :]]
    one = [*shape[: axis + 1], 1, *shape[axis + 1 :]]
    return w.reshape(w.expand(w.reshape(x, one), wide), to[0].shape)


@form("diagonal")
def diagonal(w: OnnxWriter, to: Any, x: FileValue, offset: int, axis1: int, axis2: int) -> FileValue:
    """Return every element of the last two axes, put behind one another, that is one row and one column further."""
    n = len(x.type.shape)
    first, second = axis1 % n, axis2 % n
    moved = w.transpose(x, [*[i for i in range(n) if i not in (first, second)], first, second])
    rows, columns = moved.type.shape[-2:]
    flat = w.reshape(moved, (*moved.type.shape[:-2], rows * columns))
    count = TensorType(to[0].shape[-1:], "int64")
    room = [w.size(n) for n in (rows + min(offset, 0), columns - max(offset, 0))]
    least = w.node("Max", w.node("Min", *room, to=room[0].type), w.constant(0, "int64"), to=room[0].type)
    line = w.node("Range", w.constant(0, "int64"), least, w.constant(1, "int64"), to=count)
    step = w.node("Mul", line, w.size(columns + 1), to=count)
    start = w.size(offset if offset >= 0 else -offset * columns)
    return w.node("Gather", flat, w.node("Add", step, start, to=count), to=to[0], axis=n - 2)


@form("bincount")
def bincount(w: OnnxWriter, to: Any, x: FileValue, weights: FileValue | None, length: FileValue) -> FileValue:
    dtype = to[0].dtype if weights is not None else "int64"
    empty = w.node("Expand", w.constant(0, dtype), w.cast(length, "int64"), to=TensorType(to[0].shape, dtype))
    added = w.expand(w.constant(1, dtype), x.type.shape) if weights is None else w.cast(weights, dtype)
    return w.node("ScatterElements", empty, w.cast(x, "int64"), added, to=empty.type, axis=0, reduction="add")


@form("searchsorted")
def searchsorted(w: OnnxWriter, _to: Any, sequence: FileValue, values: FileValue, right: bool) -> FileValue:
    """How many elements of the sequence are below each value."""
    if len(sequence.type.shape) != 1:
        raise Unwritable("ONNX has a form of searchsorted in one sequence alone")
    shape = (*values.type.shape, sequence.type.shape[0])
    wide = w.reshape(values, (*values.type.shape, 1))
    below = w.node("LessOrEqual" if right else "Less", sequence, wide, to=TensorType(shape, "bool"))
    kind = TensorType(values.type.shape, "int64")
    return w.node("ReduceSum", w.cast(below, "int64"), w.ints([len(shape) - 1]), to=kind, keepdims=0)


def distinct(w: OnnxWriter, x: FileValue, axis: int | None, count: Any) -> list[FileValue]:
    """The first places of distinct values in ascending order, for each value which it is, and how often it comes."""
    dtype = x.type.dtype
    if dtype not in ("float32", "float64", "int64", "int8"):
        x = w.cast(x, "float32" if "float" in dtype else "int64")
    length = np.prod(x.type.shape, dtype=object) if axis is None else x.type.shape[axis]
    kinds = [TensorType((None,), x.type.dtype), *[TensorType((n,), "int64") for n in (count, length, count)]]
    options = {} if axis is None else {"axis": axis % len(x.type.shape)}
    return w.nodes_of("Unique", [x], kinds, sorted=1, **options)[1:]
