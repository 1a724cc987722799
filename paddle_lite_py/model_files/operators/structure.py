"""Operators that move, choose and order elements."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn import functional as _functional
from .table import P, number, numbers, operator, tensor
from .values import _listed

F: Any = _functional


@operator("transpose")
def transpose(x: Any, *, perm: Any) -> Any:
    return P.transpose(tensor(x), list(perm))


@operator("flatten")
def flatten(x: Any, *, start_axis: int = 1, stop_axis: int = -1) -> Any:
    return P.flatten(tensor(x), start_axis, stop_axis)


@operator("split")
def split(x: Any, sections: Any, axis: Any = None) -> Any:
    return [P.split(tensor(x), _listed(sections), number(axis) if axis is not None else 0)]


@operator("split_with_num")
def split_with_num(x: Any, axis: Any = None, *, num: int) -> Any:
    return [P.split(tensor(x), num, number(axis) if axis is not None else 0)]


@operator("unstack")
def unstack(x: Any, *, axis: int = 0, num: int = 0) -> Any:
    return [P.unstack(tensor(x), axis, num or None)]


@operator("unbind")
def unbind(x: Any, *, axis: int = 0) -> Any:
    return [P.unbind(tensor(x), axis)]


@operator("strided_slice")
def strided_slice(x: Any, starts: Any, ends: Any, strides: Any, *, axes: Any) -> Any:
    return P.strided_slice(tensor(x), list(axes), _listed(starts), _listed(ends), _listed(strides))


@operator("set_value_", "set_value")
def set_value(
    x: Any, starts: Any, ends: Any, steps: Any, *, axes: Any, decrease_axes: Any = (), none_axes: Any = (),
    shape: Any = (), values: Any = (),
) -> Any:  # fmt: skip
    value = values[0] if list(shape) in ([], [1]) else P.to_tensor(list(values)).reshape(list(shape))
    return _set(x, value, starts, ends, steps, axes, decrease_axes, none_axes)


@operator("set_value_with_tensor_", "set_value_with_tensor")
def set_value_with_tensor(
    x: Any, values: Any, starts: Any, ends: Any, steps: Any, *, axes: Any, decrease_axes: Any = (),
    none_axes: Any = (),
) -> Any:  # fmt: skip
    return _set(x, tensor(values), starts, ends, steps, axes, decrease_axes, none_axes)


def _set(x: Any, value: Any, starts: Any, ends: Any, steps: Any, axes: Any, decrease: Any, none: Any) -> Any:
    out = P.assign(tensor(x))
    index: list[Any] = [slice(None)] * out.ndim
    bounds = zip(axes, _listed(starts), _listed(ends), _listed(steps), strict=True)
    for axis, start, end, step in bounds:
        index[axis] = start if axis in decrease else slice(start, end, step)
    for axis in sorted(none):
        index.insert(axis, None)
    value = value.astype(out.dtype) if isinstance(value, Tensor) else value
    out[tuple(index)] = value
    return out


@operator("roll")
def roll(x: Any, shifts: Any, *, axis: Any = ()) -> Any:
    return P.roll(tensor(x), numbers(shifts), list(axis) or None)


@operator("flip")
def flip(x: Any, *, axis: Any) -> Any:
    return P.flip(tensor(x), list(axis))


@operator("index_select")
def index_select(x: Any, index: Any, *, axis: int = 0) -> Any:
    return P.index_select(tensor(x), tensor(index), axis)


@operator("gather")
def gather(x: Any, index: Any, axis: Any = None) -> Any:
    return P.gather(tensor(x), tensor(index), number(axis) if axis is not None else 0)


@operator("take_along_axis")
def take_along_axis(x: Any, index: Any, *, axis: int) -> Any:
    return P.take_along_axis(tensor(x), tensor(index), axis, broadcast=False)


@operator("put_along_axis")
def put_along_axis(
    x: Any, index: Any, value: Any, *, axis: int, reduce: str = "assign", include_self: bool = True
) -> Any:
    return P.put_along_axis(tensor(x), tensor(index), tensor(value), axis, reduce, include_self, broadcast=False)


@operator("scatter")
def scatter(x: Any, index: Any, updates: Any, *, overwrite: bool = True) -> Any:
    return P.scatter(tensor(x), tensor(index), tensor(updates), overwrite)


@operator("index_add")
def index_add(x: Any, index: Any, add_value: Any, *, axis: int = 0) -> Any:
    return P.index_add(tensor(x), tensor(index), axis, tensor(add_value))


@operator("index_put")
def index_put(x: Any, indices: Any, value: Any, *, accumulate: bool = False) -> Any:
    return P.index_put(tensor(x), tuple(tensor(indices)), tensor(value), accumulate)


@operator("masked_fill")
def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return P.masked_fill(tensor(x), tensor(mask), tensor(value))


@operator("nonzero", "where_index")
def nonzero(x: Any) -> Any:
    return P.nonzero(tensor(x))


@operator("meshgrid")
def meshgrid(inputs: Any) -> Any:
    return [P.meshgrid(*tensor(inputs))]


@operator("expand_as")
def expand_as(x: Any, y: Any = None, *, target_shape: Any = ()) -> Any:
    return P.expand(tensor(x), list(target_shape)) if y is None else P.expand_as(tensor(x), tensor(y))


@operator("pad")
def pad(x: Any, pad_value: Any = None, *, paddings: Any) -> Any:
    return F.pad(tensor(x), list(paddings), value=number(pad_value) if pad_value is not None else 0.0)


@operator("pad3d")
def pad3d(x: Any, paddings: Any, *, mode: str = "constant", pad_value: float = 0.0, data_format: str = "NCDHW") -> Any:
    x, widths = tensor(x), _listed(paddings)
    return F.pad(x, widths, mode, pad_value, data_format, pad_from_left_axis=False)


@operator("topk")
def topk(x: Any, k: Any, *, axis: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    return tuple(P.topk(tensor(x), number(k), axis, largest, sorted))


@operator("argsort")
def argsort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    at = P.argsort(tensor(x), axis, descending, stable)
    return P.take_along_axis(tensor(x), at, axis), at


@operator("unique")
def unique(
    x: Any, *, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: Any = (), dtype: str | None = None,
) -> Any:  # fmt: skip
    asked = (return_index, return_inverse, return_counts)
    axes = list(axis) if isinstance(axis, list | tuple) else [axis]
    found = P.unique(tensor(x), *asked, axes[0] if axes else None, dtype or "int64")
    rest = iter(found[1:] if isinstance(found, tuple | list) else ())
    first = found[0] if isinstance(found, tuple | list) else found
    return (first, *[next(rest) if wanted else None for wanted in asked])


@operator("repeat_interleave")
def repeat_interleave(x: Any, *, repeats: int, axis: int) -> Any:
    return P.repeat_interleave(tensor(x), repeats, axis)


@operator("repeat_interleave_with_tensor_index")
def repeat_interleave_by(x: Any, repeats: Any, *, axis: int) -> Any:
    return P.repeat_interleave(tensor(x), tensor(repeats), axis)


@operator("shard_index")
def shard_index(x: Any, *, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    return P.shard_index(tensor(x), index_num, nshards, shard_id, ignore_value)


@operator("searchsorted")
def searchsorted(sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    return P.searchsorted(tensor(sequence), tensor(values), out_int32, right)


@operator("bincount")
def bincount(x: Any, weights: Any = None, minlength: Any = None) -> Any:
    return P.bincount(tensor(x), tensor(weights), number(minlength) if minlength is not None else 0)


@operator("one_hot")
def one_hot(x: Any, num_classes: Any = None) -> Any:
    return F.one_hot(tensor(x), number(num_classes))


@operator("embedding", "lookup_table_v2")
def embedding(x: Any, weight: Any, *, padding_idx: int = -1) -> Any:
    return F.embedding(tensor(x), tensor(weight), padding_idx if padding_idx >= 0 else None)


@operator("gaussian")
def gaussian(shape: Any, *, mean: float = 0.0, std: float = 1.0, dtype: str | None = None) -> Any:
    return P.cast(P.randn(_listed(shape)) * std + mean, dtype or "float32")


@operator("uniform")
def uniform(shape: Any, min: Any, max: Any, *, dtype: str | None = None) -> Any:
    return P.uniform(_listed(shape), dtype or "float32", number(min), number(max))


@operator("randint")
def randint(shape: Any, *, low: int, high: int, dtype: str | None = None) -> Any:
    return P.randint(low, high, _listed(shape), dtype or "int64")


@operator("randperm")
def randperm(*, n: int, dtype: str | None = None) -> Any:
    return P.randperm(n, dtype or "int64")


@operator("multinomial")
def multinomial(x: Any, num_samples: Any, *, replacement: bool = False) -> Any:
    return P.multinomial(tensor(x), number(num_samples), replacement)


@operator("frame")
def frame(x: Any, *, frame_length: int, hop_length: int, axis: int = -1) -> Any:
    from ...signal import frame as cut

    return cut(tensor(x), frame_length, hop_length, axis)


@operator("overlap_add")
def overlap_add(x: Any, *, hop_length: int, axis: int = -1) -> Any:
    from ...signal import overlap_add as add

    return add(tensor(x), hop_length, axis)


@operator("print")
def print_(x: Any) -> Any:
    return x
