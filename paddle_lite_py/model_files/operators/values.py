"""Operators that make values, look at shapes, or put values together: they stay known where their operands are."""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.interpreter import state
from ...core.symbolic import is_symbolic
from ...core.unknown_size import Shape
from ...eager.tensor import Tensor
from ...ops.convert import to_tensor
from .table import KnownValue, P, known, number, numbers, operator, tensor

MOST_KNOWN = 16


def _counts(*values: Any) -> bool:
    """Whether all are known integers."""
    flat = [
        n for v in values if isinstance(v, KnownValue) for n in (v.value if isinstance(v.value, list) else [v.value])
    ]
    return all(isinstance(v, KnownValue) for v in values) and all(
        is_symbolic(n) or (isinstance(n, int) and not isinstance(n, bool)) for n in flat
    )


@operator("full_int_array")
def full_int_array(*, value: Any, dtype: str | None = None) -> KnownValue:
    return KnownValue(list(value), dtype or "int64")


@operator("full")
def full(*, shape: Any, value: Any, dtype: str | None = None) -> Any:
    dtype = dtype or "float32"
    value = int(value) if dtype.startswith(("int", "uint")) else bool(value) if dtype == "bool" else value
    if list(shape) in ([], [1]):
        return KnownValue([value] if shape else value, dtype)
    return P.full(list(shape), value, dtype)


@operator("assign_value_", "assign_value")
def assign_value(_out: Any = None, *, shape: Any, values: Any, dtype: str | None = None) -> Any:
    dtype = dtype or "float32"
    if dtype.startswith("int") and len(values) <= MOST_KNOWN and len(shape) < 2:
        found = [int(v) for v in values]
        return KnownValue(found if shape else found[0], dtype)
    return to_tensor(np.array(values).reshape(list(shape)), dtype=dtype)


@operator("shape64")
def shape(x: Any) -> KnownValue:
    found = tensor(x)._payload.shape
    return KnownValue(
        [int(n) if isinstance(n, int) else n for n in (found if isinstance(found, Shape) else tuple(found))]
    )


@operator("shape")
def shape32(x: Any) -> KnownValue:
    return KnownValue(shape(x).value, "int32")


@operator("numel")
def numel(x: Any) -> Any:
    out: Any = 1
    for n in tensor(x)._payload.shape:
        out = out * n
    return KnownValue(out)


@operator("combine", "builtin.combine")
def combine(*values: Any) -> list[Any]:
    return list(values)


@operator("builtin.split")
def split_values(values: Any) -> Any:
    return tuple(values)


@operator("slice")
def slice_(x: Any, starts: Any = None, ends: Any = None, *, axes: Any, decrease_axis: Any = ()) -> Any:
    first, last = _listed(starts), _listed(ends)
    if _counts(x) and isinstance(first, list) and isinstance(last, list) and isinstance(x.value, list):
        found = x.value[first[0] : last[0]]
        return KnownValue(found[0] if len(decrease_axis) else found, x.dtype)
    if not len(decrease_axis):
        return P.slice(tensor(x), list(axes), first, last)
    index: list[Any] = [slice(None)] * tensor(x).ndim
    for axis, start, end in zip(axes, first, last, strict=True):
        index[axis] = start if axis in decrease_axis else slice(start, end)
    return tensor(x)[tuple(index)]


@operator("stack")
def stack(values: Any, *, axis: int = 0) -> Any:
    if _counts(*values) and not any(isinstance(v.value, list) for v in values):
        return KnownValue([v.value for v in values], values[0].dtype)
    return P.stack(tensor(values), axis)


@operator("concat")
def concat(values: Any, axis: Any = None) -> Any:
    if _counts(*values) and all(isinstance(v.value, list) for v in values):
        return KnownValue([n for v in values for n in v.value], values[0].dtype)
    return P.concat(tensor(values), number(axis) if axis is not None else 0)


@operator("cast")
def cast(x: Any, *, dtype: str) -> Any:
    if _counts(x) and dtype.startswith("int"):
        return KnownValue(x.value, dtype)
    if isinstance(x, KnownValue) and isinstance(x.value, bool) and dtype.startswith("int"):
        return KnownValue(int(x.value), dtype)
    return P.cast(tensor(x), dtype)


@operator("assign", "share_data_", "share_data")
def assign(x: Any) -> Any:
    return x if isinstance(x, KnownValue) else P.assign(x)


@operator("assign_out_")
def assign_out(x: Any, _output: Any = None) -> Any:
    return assign(x)


@operator("squeeze")
def squeeze(x: Any, axis: Any = None) -> Any:
    if _counts(x) and isinstance(x.value, list) and len(x.value) == 1:
        return KnownValue(x.value[0], x.dtype)
    axes, array = numbers(axis), tensor(x)
    listed = axes if isinstance(axes, list) else ()
    sizes = [array.shape[a] for a in listed if -array.ndim <= a < array.ndim]  # one without dimensions has axis 0, too
    for size in filter(is_symbolic, sizes):
        builder: Any = state.interpreter
        builder.unknown.squeezed.add(str(size))
    return P.squeeze(array, axes if listed or isinstance(axes, Tensor) else None)


@operator("unsqueeze")
def unsqueeze(x: Any, axis: Any = None) -> Any:
    if _counts(x) and not isinstance(x.value, list) and numbers(axis) in ([0], [-1]):
        return KnownValue([x.value], x.dtype)
    return P.unsqueeze(tensor(x), numbers(axis))


@operator("full_with_tensor")
def full_with_tensor(value: Any, shape: Any, *, dtype: str | None = None) -> Any:
    filling = number(value)
    return P.full(
        _listed(shape), filling, dtype or (value.dtype if isinstance(value, KnownValue) else filling.dtype.name)
    )


def _listed(value: Any) -> Any:
    """Sizes as a list: known ones, and tensors of one element."""
    found = numbers(value)
    if isinstance(found, Tensor) and found.ndim == 1 and isinstance(found._payload.shape[0], int):
        found = list(P.unbind(found)) if found._payload.shape[0] > 1 else [found]
    if not isinstance(found, list):
        return found
    return [number(n) if isinstance(n, Tensor) else n[0] if isinstance(n, list) else n for n in found]


@operator("reshape")
def reshape(x: Any, shape: Any) -> Any:
    if _counts(x) and numbers(shape) in ([1], [-1]) and not isinstance(x.value, list):
        return KnownValue([x.value], x.dtype)
    if _counts(x) and numbers(shape) == []:
        return KnownValue(number(x), x.dtype)
    return P.reshape(tensor(x), _listed(shape))


@operator("expand")
def expand(x: Any, shape: Any) -> Any:
    return P.expand(tensor(x), _listed(shape))


@operator("tile")
def tile(x: Any, repeat_times: Any) -> Any:
    return P.tile(tensor(x), _listed(repeat_times))


def _arithmetic(name: str, function: Callable[[Any, Any], Any]) -> None:
    @operator(name)
    def compute(x: Any, y: Any) -> Any:
        if _counts(x, y) and not isinstance(x.value, list) and not isinstance(y.value, list):
            return KnownValue(function(x.value, y.value), x.dtype)
        if _counts(x, y):
            a, b = (v.value if isinstance(v.value, list) else [v.value] for v in (x, y))
            if 1 in (len(a), len(b)) or len(a) == len(b):
                n = max(len(a), len(b))
                pairs = zip(a * (n // len(a)), b * (n // len(b)), strict=True)
                return KnownValue([function(p, q) for p, q in pairs], x.dtype)
        return getattr(P, name)(tensor(x), tensor(y))


def _comparison(name: str, function: Callable[[Any, Any], bool]) -> None:
    @operator(name)
    def compare(x: Any, y: Any) -> Any:
        if _counts(x, y) and all(isinstance(n, int) for n in (number(x), number(y))):
            if all(not isinstance(v.value, list) or len(v.value) == 1 for v in (x, y)):
                return KnownValue(function(number(x), number(y)), "bool")
        return getattr(P, name)(tensor(x), tensor(y))


for _name, _compare in (
    ("less_than", python.lt),
    ("less_equal", python.le),
    ("greater_than", python.gt),
    ("greater_equal", python.ge),
    ("equal", python.eq),
    ("not_equal", python.ne),
):
    _comparison(_name, _compare)

for _name, _function in (
    ("add", python.add),
    ("subtract", python.sub),
    ("multiply", python.mul),
    ("floor_divide", python.floordiv),
    ("remainder", python.mod),
):
    _arithmetic(_name, _function)


@operator("scale", "scale_")
def scale(x: Any, scale: Any = None, *, bias: float = 0.0, bias_after_scale: bool = True) -> Any:
    factor = known(scale, 1.0)
    factor = factor[0] if isinstance(factor, list) else factor
    if _counts(x) and isinstance(factor, int | float) and float(factor).is_integer() and float(bias).is_integer():
        by, more = int(factor), int(bias)
        values = x.value if isinstance(x.value, list) else [x.value]
        found = [n * by + more if bias_after_scale else (n + more) * by for n in values]
        return KnownValue(found if isinstance(x.value, list) else found[0], x.dtype)
    return P.scale(tensor(x), factor, bias, bias_after_scale)


@operator("increment_", "increment")
def increment(x: Any, *, value: float = 1.0) -> Any:
    return scale(x, None, bias=value)


@operator("arange")
def arange(start: Any, end: Any, step: Any, *, dtype: str | None = None) -> Any:
    given = [number(n) for n in (start, end, step)]
    dtype = dtype or "int64"
    if dtype.startswith("int") and all(type(n) is int for n in given) and given[2]:
        count = range(*given)
        if len(count) <= MOST_KNOWN:
            return KnownValue(list(count), dtype)
    return P.arange(*given, dtype)


@operator("linspace")
def linspace(start: Any, stop: Any, num: Any, *, dtype: str | None = None) -> Any:
    return P.linspace(number(start), number(stop), number(num), dtype or "float32")


@operator("full_like")
def full_like(x: Any, value: Any, *, dtype: str | None = None) -> Any:
    return P.full_like(tensor(x), number(value), dtype)


@operator("eye")
def eye(num_rows: Any, num_columns: Any = None, *, dtype: str | None = None) -> Any:
    rows, columns = (None if n is None else _whole(number(n)) for n in (num_rows, num_columns))
    return P.eye(rows, columns, dtype or "float32")


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) else value
