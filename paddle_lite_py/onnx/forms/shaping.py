"""Forms of operators that make tensors, and that move, choose and order elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...model_files.writing.pir_text import FileValue, TensorType
from ..writer import OnnxWriter
from .table import form


# -- tensors that are made -----------------------------------------------------------------------------------------
@form("full_with_tensor")
def full_with_tensor(w: OnnxWriter, to: Any, number: FileValue, shape: FileValue) -> FileValue:
    return w.node("Expand", w.reshape(w.cast(number, to[0].dtype), ()), shape, to=to[0])


@form("full_like")
def full_like(w: OnnxWriter, to: Any, x: FileValue, number: FileValue) -> FileValue:
    shape = w.node("Shape", x, to=TensorType((len(x.type.shape),), "int64"))
    return full_with_tensor(w, to, number, shape)


@form("arange")
def arange(w: OnnxWriter, to: Any, start: FileValue, end: FileValue, step: FileValue) -> FileValue:
    ends = [w.reshape(w.cast(v, to[0].dtype), ()) for v in (start, end, step)]
    return w.node("Range", *ends, to=to[0])


def _count(w: OnnxWriter, n: Any) -> FileValue:
    """Return the numbers below a size."""
    zero, one = w.constant(0, "int64"), w.constant(1, "int64")
    return w.node("Range", zero, w.size(n), one, to=TensorType((n,), "int64"))


@form("linspace")
def linspace(w: OnnxWriter, to: Any, start: FileValue, stop: FileValue, num: FileValue) -> FileValue:
    """By the distance from the nearer end, so that both ends are exact."""
    dtype, one = to[0].dtype, TensorType((1,), to[0].dtype)
    line = w.cast(_count(w, to[0].shape[0]), dtype)
    last = w.node("Sub", w.reshape(w.cast(num, dtype), (1,)), w.constant([1], dtype), to=one)
    step = w.node(
        "Div", w.node("Sub", stop, start, to=one), w.node("Max", last, w.constant([1], dtype), to=one), to=one
    )
    first = w.node("Add", start, w.node("Mul", line, step, to=to[0]), to=to[0])
    back = w.node("Mul", w.node("Sub", last, line, to=to[0]), step, to=to[0])
    is_first = w.node("Less", w.node("Add", line, line, to=to[0]), last, to=TensorType(to[0].shape, "bool"))
    is_only = w.node("Equal", last, w.constant([0], dtype), to=TensorType((1,), "bool"))
    chosen = w.node("Or", is_first, is_only, to=is_first.type)
    return w.node("Where", chosen, first, w.node("Sub", stop, back, to=to[0]), to=to[0])


@form("eye")
def eye(w: OnnxWriter, to: Any, _rows: FileValue, _columns: FileValue) -> FileValue:
    rows, columns = (w.reshape(_count(w, n), s) for n, s in zip(to[0].shape, ((-1, 1), (1, -1)), strict=True))
    return w.cast(w.node("Equal", rows, columns, to=TensorType(to[0].shape, "bool")), to[0].dtype)


@form("one_hot")
def one_hot(w: OnnxWriter, to: Any, x: FileValue, num_classes: FileValue) -> FileValue:
    values = w.constant(np.array([0, 1]), to[0].dtype)
    depth = w.reshape(w.cast(num_classes, "int64"), ())
    return w.node("OneHot", w.cast(x, "int64"), depth, values, to=to[0], axis=-1)


# -- shapes --------------------------------------------------------------------------------------------------------
@form("shape64")
def shape64(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
    return w.node("Shape", x, to=to[0])


@form("numel")
def numel(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
    return w.node("Size", x, to=to[0])


@form("unsqueeze", "squeeze", "pixel_unshape")
def reshaped(w: OnnxWriter, to: Any, x: FileValue, _axes: FileValue) -> FileValue:
    return w.reshape(x, to[0].shape)


@form("tile")
def tile(w: OnnxWriter, to: Any, x: FileValue, times: FileValue) -> FileValue:
    n = times.type.shape[0]
    x = w.reshape(x, (*[1] * (n - len(x.type.shape)), *x.type.shape))
    if n < len(x.type.shape):
        times = w.joined([w.ints([1] * (len(x.type.shape) - n)), times])
    return w.node("Tile", x, times, to=to[0])


@form("concat")
def concat(w: OnnxWriter, to: Any, parts: FileValue, axis: FileValue) -> FileValue:
    return w.joined(w.items(parts), w.integers(axis, "an axis")[0], to[0])


@form("stack")
def stack(w: OnnxWriter, to: Any, parts: FileValue, axis: int) -> FileValue:
    axis %= len(to[0].shape)
    shape = [1 if i == axis else n for i, n in enumerate(to[0].shape)]
    return w.joined([w.reshape(x, shape) for x in w.items(parts)], axis, to[0])


def _parts(w: OnnxWriter, x: FileValue, axis: int, types: list[TensorType]) -> FileValue:
    """Return a tensor in as many parts of the same size along an axis."""
    return w.combined(w.nodes_of("Split", [x], types, axis=axis, num_outputs=len(types)))


@form("split")
def split(w: OnnxWriter, to: Any, x: FileValue, sizes: FileValue, axis: FileValue) -> FileValue:
    at = w.integers(axis, "an axis")[0] % len(x.type.shape)
    return w.combined(w.nodes_of("Split", [x, sizes], to[0], axis=at))


@form("split_with_num")
def split_with_num(w: OnnxWriter, to: Any, x: FileValue, axis: FileValue) -> FileValue:
    return _parts(w, x, w.integers(axis, "an axis")[0] % len(x.type.shape), to[0])


@form("unbind")
def unbind(w: OnnxWriter, to: Any, x: FileValue, axis: int) -> FileValue:
    axis, kinds = axis % len(x.type.shape), to[0]
    whole = [TensorType((*k.shape[:axis], 1, *k.shape[axis:]), k.dtype) for k in kinds]
    parts = w.items(_parts(w, x, axis, whole))
    return w.combined([w.reshape(p, k.shape) for p, k in zip(parts, kinds, strict=True)])


@form("meshgrid")
def meshgrid(w: OnnxWriter, to: Any, parts: FileValue) -> FileValue:
    found = []
    for i, (x, kind) in enumerate(zip(w.items(parts), to[0], strict=True)):
        spread = [n if i == k else 1 for k, n in enumerate(kind.shape)]
        found.append(w.expand(w.reshape(x, spread), kind.shape))
    return w.combined(found)


@form("transpose")
def transpose(w: OnnxWriter, _to: Any, x: FileValue, perm: list[int]) -> FileValue:
    return w.transpose(x, perm)


@form("flip")
def flip(w: OnnxWriter, to: Any, x: FileValue, axis: list[int]) -> FileValue:
    n, least = len(axis), -(1 << 62)
    return w.node("Slice", x, w.ints([-1] * n), w.ints([least] * n), w.ints(axis), w.ints([-1] * n), to=to[0])


@form("roll")
def roll(w: OnnxWriter, to: Any, x: FileValue, shifts: FileValue, axis: list[int]) -> FileValue:
    """Return the last elements in front; of a flat tensor if there is no axis."""
    if not axis:
        flat = w.reshape(x, (math.prod(x.type.shape),))
        return w.reshape(roll(w, [flat.type], flat, shifts, [0]), to[0].shape)
    for shift, at in zip(w.integers(shifts, "a shift"), axis, strict=True):
        n = x.type.shape[at]
        index = w.node("Sub", _count(w, n), w.constant(shift, "int64"), to=TensorType((n,), "int64"))
        index = w.node("Mod", index, w.size(n), to=index.type)
        x = w.node("Gather", x, index, to=to[0], axis=int(at))
    return x


@form("slice")
def slice_(
    w: OnnxWriter, to: Any, x: FileValue, starts: FileValue, ends: FileValue, axes: list[int],
    decrease_axis: list[int],
) -> FileValue:  # fmt: skip
    kept = [n for i, n in enumerate(x.type.shape) if i not in decrease_axis] if decrease_axis else to[0].shape
    kind = TensorType(tuple(kept) if decrease_axis else to[0].shape, x.type.dtype)
    found = w.node("Slice", x, starts, ends, w.ints(axes), to=kind)
    if not decrease_axis:
        return found
    return w.node("Squeeze", found, w.ints(decrease_axis), to=to[0])


@form("strided_slice")
def strided_slice(
    w: OnnxWriter, to: Any, x: FileValue, starts: FileValue, ends: FileValue, steps: FileValue, axes: list[int]
) -> FileValue:
    return w.node("Slice", x, starts, ends, w.ints(axes), steps, to=to[0])


def _triangle(name: str, upper: int) -> None:
    @form(name)
    def write(w: OnnxWriter, to: Any, x: FileValue, diagonal: int = 0) -> FileValue:
        return w.node("Trilu", x, w.constant(diagonal, "int64"), to=to[0], upper=upper)


_triangle("triu", 1)
_triangle("tril", 0)
PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@form("pad3d")
def pad3d(
    w: OnnxWriter, to: Any, x: FileValue, widths: FileValue, mode: str, pad_value: float, data_format: str
) -> FileValue:
    before = w.integers(widths, "a padding")
    pairs = list(zip(before[::2], before[1::2], strict=True))[::-1]
    pairs = [(0, 0), *pairs, (0, 0)] if data_format == "NDHWC" else [(0, 0), (0, 0), *pairs]
    flat = [low for low, _ in pairs] + [high for _, high in pairs]
    value = w.constant(pad_value, x.type.dtype)
    return w.node("Pad", x, w.ints(flat), value, to=to[0], mode=PAD_MODES[mode])


@form("pad")
def pad(w: OnnxWriter, to: Any, x: FileValue, value: FileValue, paddings: list[int]) -> FileValue:
    flat = [*paddings[::2], *paddings[1::2]]
    return w.node("Pad", x, w.ints(flat), w.reshape(value, ()), to=to[0])


# -- order ---------------------------------------------------------------------------------------------------------
def _largest(
    w: OnnxWriter, x: FileValue, k: FileValue, axis: int, largest: bool, types: Any
) -> tuple[FileValue, FileValue]:
    """Return the first k elements in an order, equal ones as they stand, and their places."""
    dtype = x.type.dtype
    kinds = [types[0], TensorType(types[0].shape, "int64")]
    if dtype in ("bool", "int8", "uint8", "int16"):
        x, kinds[0] = w.cast(x, "int32"), TensorType(types[0].shape, "int32")
    found, places = w.nodes_of("TopK", [x, k], kinds, axis=axis, largest=int(largest), sorted=1)
    return w.cast(found, dtype), places


@form("argsort")
def argsort(w: OnnxWriter, to: Any, x: FileValue, axis: int, descending: bool) -> Any:
    if not x.type.shape:
        return x, w.constant(0, "int64")
    return _largest(w, x, w.row_of(w.size(x.type.shape[axis])), axis, descending, to)


@form("topk")
def topk(w: OnnxWriter, to: Any, x: FileValue, k: FileValue, axis: int, largest: bool) -> Any:
    found, places = _largest(w, x, w.row_of(w.cast(k, "int64")), axis, largest, to)
    return found, w.cast(places, to[1].dtype)


@form("kthvalue")
def kthvalue(w: OnnxWriter, to: Any, x: FileValue, k: int, axis: int) -> Any:
    axis %= len(x.type.shape)
    first = TensorType(tuple([k if i == axis else n for i, n in enumerate(x.type.shape)]), x.type.dtype)
    both = _largest(w, x, w.ints([k]), axis, False, [first])
    return [w.reshape(w.slice(v, axis, k - 1, k), t.shape) for v, t in zip(both, to, strict=True)]
