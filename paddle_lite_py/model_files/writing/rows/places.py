"""JAX's primitives that read and write at places, which have a form where they do so with whole slices."""

from __future__ import annotations

from typing import Any

from ....core.symbolic import is_symbolic
from ..emitter import Emitter, Unwritable
from ..pir_text import FileValue, TensorType
from .primitives import iota, primitive
from .shaping import joined, taken


@primitive("gather")
def gather(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    """Slices along one axis by indices, or elements along it; indices are taken to be those of elements."""
    (x, index), numbers, out = inputs, params["dimension_numbers"], types[0]
    n, k, mapped = len(x.type.shape), len(index.type.shape) - 1, set(numbers.start_index_map)
    batched = list(numbers.operand_batching_dims)
    chosen = mapped | set(batched)
    if not batched and not k:
        return _slice_at(w, x, index, params, out)
    sizes = [1 if i in chosen else m for i, m in enumerate(x.type.shape)]
    if set(numbers.collapsed_slice_dims) != mapped or list(params["slice_sizes"]) != sizes:
        raise Unwritable("it chooses parts of slices")
    if len(mapped) == 1:
        (axis,) = mapped
        places = w.cast(w.reshape(index, index.type.shape[:-1]), "int64")
        if not batched and list(numbers.offset_dims) == [*range(axis), *range(axis + k, n - 1 + k)]:
            return taken(w, x, places, axis, out)
        if batched == [i for i in range(n) if i != axis] and k == n:
            return w.op("take_along_axis", x, places, to=out, axis=axis)
    return _gathered(w, x, index, numbers, out)


def _slice_at(w: Emitter, x: FileValue, index: FileValue, params: dict[str, Any], out: TensorType) -> FileValue:
    """Return one slice, from where an index says."""
    known, index = w.numbers.get(index), w.cast(index, "int64")
    for i, axis in enumerate(params["dimension_numbers"].start_index_map):
        length = params["slice_sizes"][axis]
        first: Any = w.slice(index, 0, i, i + 1)
        last: Any = w.op("add", first, w.reshape(w.size(length), (1,)))
        if known is not None and not is_symbolic(length):
            first, last = int(known), int(known) + length
        shape = tuple([length if k == axis else n for k, n in enumerate(x.type.shape)])
        x = w.slice(x, axis, first, last)
        x.type = TensorType(shape, x.type.dtype)
    return w.reshape(x, out.shape)


def _gathered(w: Emitter, x: FileValue, index: FileValue, numbers: Any, out: TensorType) -> FileValue:
    """Slices by indices of several axes, those of a batch each from its own part."""
    batched, mapped = list(numbers.operand_batching_dims), list(numbers.start_index_map)
    rest = [i for i in range(len(x.type.shape)) if i not in batched and i not in mapped]
    places, k = w.cast(index, "int64"), len(index.type.shape) - 1
    own = [_line(w, places.type, axis) for axis in numbers.start_indices_batching_dims]
    if own:
        kind = TensorType((*places.type.shape[:-1], len(batched) + len(mapped)), "int64")
        places = joined(w, [*own, places], k, kind)
    moved = w.transpose(x, [*batched, *mapped, *rest])
    kind = TensorType((*places.type.shape[:-1], *moved.type.shape[len(batched) + len(mapped) :]), x.type.dtype)
    found, offsets = w.op("gather_nd", moved, places, to=kind), list(numbers.offset_dims)
    batch = iter(range(k))
    return w.transpose(found, [k + offsets.index(i) if i in offsets else next(batch) for i in range(len(out.shape))])


def _line(w: Emitter, of: TensorType, axis: int) -> FileValue:
    """Return the place on an axis, in the shape of indices of one axis."""
    shape = (*of.shape[:-1], 1)
    return iota(w, [], {"dimension": axis}, [TensorType(shape, "int64")])


def _scatter(name: str) -> None:
    @primitive(name)
    def write(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
        """Slices of the first axes, at places that are taken to be there."""
        (x, index, updates), numbers = inputs, params["dimension_numbers"]
        first, k = list(range(index.type.shape[-1])), len(index.type.shape) - 1
        n = len(updates.type.shape)
        plain = list(numbers.inserted_window_dims) == first == list(numbers.scatter_dims_to_operand_dims)
        if not plain or list(numbers.update_window_dims) != list(range(k, n)) or numbers.operand_batching_dims:
            raise Unwritable("it writes parts of slices")
        places = w.cast(index, "int64")
        if name == "scatter-add":
            return w.op("scatter_nd_add", x, places, updates, to=types[0])
        each = [w.reshape(w.slice(places, k, i, i + 1), places.type.shape[:-1]) for i in first]
        return w.op("index_put", x, w.combined(each), updates, to=types[0], accumulate=False)


_scatter("scatter")
_scatter("scatter-add")
