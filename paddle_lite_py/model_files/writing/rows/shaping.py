"""Rows of operators that make tensors, and that move, choose and order elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.symbolic import has_symbolic, is_symbolic
from ..emitter import ANYWHERE, Emitter, Unwritable, plain
from ..pir_text import Double, DTypeAttribute, FileValue, Long, TensorType
from .table import row


# -- tensors that are made -----------------------------------------------------------------------------------------
def filled(w: Emitter, value: Any, out: TensorType) -> FileValue:
    """Return a tensor of one number, which may be a value."""
    if not isinstance(value, FileValue) and not has_symbolic(out.shape):
        return w.full(plain(value, out.dtype), out.dtype, out.shape)
    if isinstance(value, FileValue):
        return w.expand(w.reshape(w.cast(value, out.dtype), ()), out.shape)
    number = w.full(plain(value, out.dtype), out.dtype, [1])
    return w.op("full_with_tensor", number, w.sizes(out.shape), to=out, dtype=DTypeAttribute(out.dtype))


@row("full")
def full(w: Emitter, fill_value: Any, _shape: Any, _dtype: Any) -> FileValue:
    return filled(w, fill_value, w.out[0])


@row("full_like")
def full_like(w: Emitter, x: Any, fill_value: Any, _dtype: Any) -> FileValue:
    out = w.out[0]
    if isinstance(fill_value, FileValue):
        return filled(w, fill_value, out)
    number = w.full(plain(fill_value, out.dtype), out.dtype, [1])
    return w.op("full_like", x, number, to=out, dtype=DTypeAttribute(out.dtype), place=ANYWHERE)


@row("constant")
def constant(w: Emitter, value: Any, _dtype: Any, _shape: Any = None) -> FileValue:
    out = w.out[0]
    found = np.asarray(value, out.dtype)
    return filled(w, found.reshape(-1)[0], out) if found.size == 1 else w.array(found)


@row("dimension")
def dimension(w: Emitter, size: Any) -> FileValue:
    if isinstance(size, tuple):
        return w.sizes(size)
    return w.size(size)


@row("shape")
def shape(w: Emitter, input: Any) -> FileValue:
    return w.op("shape64", input, to=w.out[0])


@row("numel")
def numel(w: Emitter, x: Any) -> FileValue:
    return w.op("numel", x, to=w.out[0])


@row("arange")
def arange(w: Emitter, start: Any, step: Any, length: Any, _dtype: Any) -> FileValue:
    """By the number of elements, which is exact for floats too."""
    out = w.out[0]
    first = [w.full(0, "int64", [1]), w.reshape(w.size(length), (1,)), w.full(1, "int64", [1])]
    indices = w.op("arange", *first, to=TensorType(out.shape, "int64"), dtype=DTypeAttribute("int64"), place=ANYWHERE)
    if not isinstance(start, FileValue) and (start, step) == (0, 1):
        return w.cast(indices, out.dtype)
    wide = out.dtype if "int" in out.dtype else "float64"
    steps = w.op("multiply", w.cast(indices, wide), w.tensor(step, wide))
    return w.cast(w.op("add", steps, w.tensor(start, wide)), out.dtype)


@row("linspace")
def linspace(w: Emitter, start: Any, stop: Any, num: Any, _dtype: Any) -> FileValue:
    out = w.out[0]
    ends = [w.reshape(w.tensor(v, out.dtype), (1,)) for v in (start, stop)]
    return w.op("linspace", *ends, w.count(num), to=out, dtype=DTypeAttribute(out.dtype), place=ANYWHERE)


@row("eye")
def eye(w: Emitter, rows: Any, columns: Any, _dtype: Any) -> FileValue:
    out = w.out[0]
    return w.op("eye", w.count(rows), w.count(columns), to=out, dtype=DTypeAttribute(out.dtype), place=ANYWHERE)


@row("one_hot")
def one_hot(w: Emitter, x: Any, num_classes: Any) -> FileValue:
    return w.op("one_hot", x, w.count(num_classes), to=w.out[0])


# -- shapes --------------------------------------------------------------------------------------------------------
@row("reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "_atleast")
def reshape(w: Emitter, x: Any, **_attrs: Any) -> FileValue:
    return w.reshape(x, w.out[0].shape)


@row("expand", "broadcast_to")
def expand(w: Emitter, x: Any, _shape: Any) -> FileValue:
    return w.expand(x, w.out[0].shape)


@row("expand_as")
def expand_as(w: Emitter, x: Any, _y: Any) -> FileValue:
    return w.expand(x, w.out[0].shape)


@row("_broadcast_tensors")
def broadcast_tensors(w: Emitter, inputs: Sequence[FileValue]) -> tuple[FileValue, ...]:
    return tuple([w.expand(x, out.shape) for x, out in zip(inputs, w.out, strict=True)])


@row("transpose")
def transpose(w: Emitter, x: Any, perm: Any) -> FileValue:
    n = len(x.type.shape)
    return w.transpose(x, [p % n for p in perm])


@row("permute")
def permute(w: Emitter, x: Any, dims: Any) -> FileValue:
    return transpose(w, x, dims)


@row("t", "matrix_transpose")
def t(w: Emitter, x: Any) -> FileValue:
    n = len(x.type.shape)
    return w.transpose(x, [*range(n - 2), n - 1, n - 2]) if n > 1 else x


@row("swapaxes")
def swapaxes(w: Emitter, x: Any, axis0: int, axis1: int) -> FileValue:
    order = list(range(len(x.type.shape)))
    order[axis0], order[axis1] = order[axis1], order[axis0]
    return w.transpose(x, order)


@row("moveaxis")
def moveaxis(w: Emitter, x: Any, source: Any, destination: Any) -> FileValue:
    n = len(x.type.shape)
    given, wanted = ([a % n for a in ([v] if isinstance(v, int) else v)] for v in (source, destination))
    rest = iter([a for a in range(n) if a not in given])
    places = dict(zip(wanted, given, strict=True))
    return w.transpose(x, [places[i] if i in places else next(rest) for i in range(n)])


@row("tile")
def tile(w: Emitter, x: Any, repeat_times: Any) -> FileValue:
    return w.op("tile", x, w.sizes(repeat_times), to=w.out[0])


@row("concat")
def concat(w: Emitter, inputs: Sequence[Any], axis: int) -> FileValue:
    return joined(w, inputs, axis, w.out[0])


def joined(w: Emitter, inputs: Sequence[Any], axis: int, out: TensorType) -> FileValue:
    """Tensors behind one another."""
    parts = w.combined([w.cast(x, out.dtype) for x in inputs])
    return w.op("concat", parts, w.number(axis % max(len(out.shape), 1)), to=out)


@row("stack")
def stack(w: Emitter, inputs: Sequence[Any], axis: int) -> FileValue:
    out = w.out[0]
    return w.op("stack", w.combined([w.cast(x, out.dtype) for x in inputs]), to=out, axis=axis)


@row("_split")
def split(w: Emitter, x: Any, parts: Any, axis: int) -> tuple[FileValue, ...]:
    axis %= len(x.type.shape)
    kinds, at, total = list(w.out), w.number(axis), x.type.shape[axis]
    if not isinstance(parts, tuple | list):
        if is_symbolic(total):
            return tuple(w.items(w.op("split_with_num", x, at, to=kinds, num=len(kinds))))
        parts = [total // len(kinds)] * len(kinds)
    rest = total - sum(n for n in parts if is_symbolic(n) or n != -1)
    sizes = [n if is_symbolic(n) or n != -1 else rest for n in parts]
    return tuple(w.items(w.op("split", x, w.sizes(sizes), at, to=kinds)))


@row("_unstack", "_unbind")
def unbind(w: Emitter, x: Any, axis: int) -> tuple[FileValue, ...]:
    return tuple(w.items(w.op("unbind", x, to=list(w.out), axis=axis)))


@row("_meshgrid")
def meshgrid(w: Emitter, inputs: Sequence[FileValue], indexing: str) -> tuple[FileValue, ...]:
    if indexing != "ij":
        raise Unwritable("meshgrid with indexing='xy' has no form there: use 'ij', and transpose")
    return tuple(w.items(w.op("meshgrid", w.combined(inputs), to=list(w.out))))


@row("flip")
def flip(w: Emitter, x: Any, axis: Any) -> FileValue:
    return w.flip(x, [axis] if isinstance(axis, int) else axis)


@row("roll")
def roll(w: Emitter, x: Any, shifts: Any, axis: Any = None) -> FileValue:
    steps, axes = ((v,) if isinstance(v, int) else v or () for v in (shifts, axis))
    return w.op("roll", x, w.sizes(steps), axis=[Long(a) for a in axes])


@row("slice")
def slice_(w: Emitter, input: Any, axes: Any, starts: Any, ends: Any) -> FileValue:
    starts, ends = map(_each, (starts, ends))
    if any(isinstance(v, FileValue) for v in (*starts, *ends)):
        raise Unwritable("its bounds are tensors")
    return cut(w, input, axes, starts, ends, [1] * len(axes), w.out[0])


def _each(sizes: Any) -> Sequence[Any]:
    """Sizes as a sequence: one of a tensor of one element is a number."""
    return sizes if isinstance(sizes, tuple | list) else (sizes,)


@row("crop")
def crop(w: Emitter, x: Any, _shape: Any, offsets: Any) -> FileValue:
    out = w.out[0]
    starts = [0] * len(out.shape) if offsets is None else _each(offsets)
    ends = [at + n for at, n in zip(starts, out.shape, strict=True)]
    return cut(w, x, range(len(out.shape)), starts, ends, [1] * len(out.shape), out)


@row("strided_slice")
def strided_slice(w: Emitter, x: Any, axes: Any, starts: Any, ends: Any, strides: Any) -> FileValue:
    return cut(w, x, axes, _each(starts), _each(ends), _each(strides), w.out[0])


def cut(w: Emitter, x: FileValue, axes: Any, starts: Any, ends: Any, steps: Any, out: TensorType) -> FileValue:
    """Return the part of a tensor between bounds, in steps."""
    axes = [int(a) for a in axes]
    if all(s == 1 for s in steps):
        attrs = {"axes": list(map(Long, axes)), "infer_flags": [Long(1)] * len(axes), "decrease_axis": list[int]()}
        return w.op("slice", x, w.sizes(starts), w.sizes(ends), to=out, **attrs)
    return w.op("strided_slice", x, w.sizes(starts), w.sizes(ends), w.ints(steps), to=out, axes=axes)


@row("pad")
def pad(w: Emitter, x: Any, widths: Any, mode: str, value: Any) -> FileValue:
    return padded(w, x, list(widths), mode, value, w.out[0])


def padded(w: Emitter, x: FileValue, widths: list[Any], mode: str, value: Any, out: TensorType) -> FileValue:
    """A tensor with elements around it; by `pad3d` if that will do: some kernels of `pad` write beyond their memory."""
    n, number = len(x.type.shape), w.numbers.get(value, value)
    if has_symbolic(tuple([tuple(pair) for pair in widths])):
        raise Unwritable("paddings known only at run time have no form there")
    if n > 5 or any(sum(p) for p in widths[:-3]) or isinstance(number, FileValue):
        if mode != "constant":
            raise Unwritable(f"a padding by {mode!r} of the first axes has no form there")
        flat = [int(v) for pair in widths for v in pair]
        return w.op("pad", x, w.reshape(w.tensor(number, x.type.dtype), (1,)), to=out, paddings=flat)
    image = w.reshape(x, (1,) * (5 - n) + tuple(x.type.shape))
    pairs = ([(0, 0)] * 5 + widths)[-3:]
    around = w.ints([v for pair in reversed(pairs) for v in pair])
    attrs = {"mode": mode, "pad_value": Double(number if mode == "constant" else 0), "data_format": "NCDHW"}
    made = w.op("pad3d", image, around, to=TensorType((1,) * (5 - n) + out.shape, x.type.dtype), **attrs)
    return w.reshape(made, out.shape)


# -- places --------------------------------------------------------------------------------------------------------
def wrapped(w: Emitter, index: Any, size: Any) -> FileValue:
    """Indices as int64, those below 0 counted from the end."""
    if not isinstance(index, FileValue):
        return w.full(int(index), "int64")
    if index in w.not_negative:
        return w.cast(index, "int64")
    index = w.cast(index, "int64")
    zero = w.once("zero", lambda: w.full(0, "int64"))
    below = w.op("less_than", index, zero, to=TensorType(index.type.shape, "bool"))
    length = w.once(("size", str(size)), lambda: w.size(size))
    return w.op("add", index, w.op("multiply", w.cast(below, "int64"), length))


@row("gather")
def gather(w: Emitter, x: Any, index: Any, axis: Any = None) -> FileValue:
    axis = (axis or 0) % len(x.type.shape)
    return taken(w, x, wrapped(w, index, x.type.shape[axis]), axis, w.out[0])


@row("index_select")
def index_select(w: Emitter, x: Any, index: Any, axis: int) -> FileValue:
    return gather(w, x, index, axis)


def taken(w: Emitter, x: FileValue, index: FileValue, axis: int, out: TensorType) -> FileValue:
    """Slices of a tensor along an axis, by indices of any shape."""
    flat = index if len(index.type.shape) == 1 else w.reshape(index, (_product(index.type.shape),))
    shape = (*x.type.shape[:axis], *flat.type.shape, *x.type.shape[axis + 1 :])
    found = w.op("gather", x, flat, w.number(axis), to=TensorType(shape, x.type.dtype))
    return w.reshape(found, out.shape)


def _product(shape: Sequence[Any]) -> Any:
    out: Any = 1
    for n in shape:
        out = out * n
    return out


@row("embedding")
def embedding(w: Emitter, x: Any, weight: Any, row: int | None) -> FileValue:
    padding = Long(-1 if row is None else row)
    return w.op("embedding", x, weight, to=w.out[0], padding_idx=padding, sparse=False)


@row("gather_nd")
def gather_nd(w: Emitter, x: Any, index: Any) -> FileValue:
    return w.op("gather_nd", x, index, to=w.out[0])


@row("index_sample")
def index_sample(w: Emitter, x: Any, index: Any) -> FileValue:
    return w.op("index_sample", x, index, to=w.out[0])


@row("_take_flat")
def take_flat(w: Emitter, x: Any, index: Any, shape: Any = None) -> FileValue:
    x = x if shape is None else w.expand(x, shape)
    n = _product(x.type.shape)
    return taken(w, w.reshape(x, (n,)), wrapped(w, index, n), 0, w.out[0])


@row("_flat_nonzero")
def flat_nonzero(w: Emitter, mask: Any, _size: Any) -> FileValue:
    flat, out = w.reshape(mask, (_product(mask.type.shape),)), w.out[0]
    return w.squeeze(w.op("nonzero", flat, to=TensorType((*out.shape, 1), "int64")), 1)


@row("_unravel")
def unravel(w: Emitter, flat: Any, shape: Any) -> tuple[FileValue, ...]:
    found = []
    for n in reversed(shape):
        size = w.size(n)
        found.append(w.op("remainder", flat, size))
        flat = w.op("floor_divide", flat, size)
    return tuple(reversed(found))


@row("take_along_axis")
def take_along_axis(w: Emitter, arr: Any, indices: Any, axis: int, broadcast: bool) -> FileValue:
    axis %= len(arr.type.shape)
    out = w.out[0]
    if broadcast:
        indices = w.expand(indices, out.shape)
        arr = w.expand(arr, [arr.type.shape[i] if i == axis else n for i, n in enumerate(out.shape)])
    return w.op("take_along_axis", arr, wrapped(w, indices, arr.type.shape[axis]), to=out, axis=axis)


@row("scatter")
def scatter(w: Emitter, x: Any, index: Any, updates: Any, overwrite: bool) -> FileValue:
    index = w.reshape(index, (_product(index.type.shape),))
    return w.op("scatter", x, index, w.cast(updates, x.type.dtype), overwrite=overwrite)


@row("scatter_nd_add")
def scatter_nd_add(w: Emitter, x: Any, index: Any, updates: Any) -> FileValue:
    return w.op("scatter_nd_add", x, index, w.cast(updates, x.type.dtype))


@row("index_put")
def index_put(w: Emitter, x: Any, indices: Sequence[Any], value: Any, accumulate: bool) -> FileValue:
    places = [i if i.type.dtype == "bool" else w.cast(i, "int64") for i in indices]
    return w.op("index_put", x, w.combined(places), w.tensor(value, x.type.dtype), accumulate=accumulate)


@row("_index_add")
def index_add(w: Emitter, x: Any, index: Any, value: Any, axis: int) -> FileValue:
    return w.op("index_add", x, index, w.tensor(value, x.type.dtype), axis=axis)


# -- order ---------------------------------------------------------------------------------------------------------
def _ordered(w: Emitter, x: FileValue, axis: int, descending: bool, stable: bool) -> list[FileValue]:
    shape = x.type.shape
    types = [x.type, TensorType(shape, "int64")]
    return w.emit("argsort", [x], types, axis=axis, descending=descending, stable=stable)


@row("argsort")
def argsort(w: Emitter, x: Any, axis: int, descending: bool, _stable: bool) -> FileValue:
    return w.cast(_ordered(w, x, axis, descending, True)[1], w.out[0].dtype)


@row("sort")
def sort(w: Emitter, x: Any, axis: int, descending: bool, _stable: bool) -> FileValue:
    return _ordered(w, x, axis, descending, False)[0]


@row("topk")
def topk(w: Emitter, x: Any, k: Any, axis: Any, largest: bool) -> tuple[FileValue, ...]:
    at = -1 if axis is None else axis
    return tuple(w.emit("topk", [x, w.count(k)], w.out, axis=at, largest=largest, sorted=True))


@row("kthvalue")
def kthvalue(w: Emitter, x: Any, k: int, axis: Any, keepdim: bool) -> tuple[FileValue, ...]:
    return tuple(w.emit("kthvalue", [x], w.out, k=Long(k), axis=-1 if axis is None else axis, keepdim=keepdim))
