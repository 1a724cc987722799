"""Steps that fold an axis: reductions, running sums, order, and products of matrices."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtypes import numpy_name
from .rules import BASELINE_RULES, rule
from .steps import HostStep, UnknownStepError

Function = Callable[..., Any]
FOLDS: dict[str, Any] = {
    **{"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum},
    **{"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor},
}


@rule(*[f"reduce_{name}" for name in FOLDS])
def _reduce(step: HostStep) -> Any:
    name, axes, dtype = step.name.removeprefix("reduce_"), tuple(step.params["axes"]), step.made[0].dtype
    fold, one = f"_{name}_of", axes[0] if len(axes) == 1 else axes  # a number takes NumPy less time
    if not step.given[0].shape:
        return "{0}"
    if all(step.given[0].shape[a] == 1 for a in axes):
        return f"{{0}}.reshape({step.made[0].shape})"
    if name in ("sum", "prod"):
        rest = step.made[0].shape
        if len(axes) > 1 and sorted(axes) == list(range(len(rest), len(rest) + len(axes))):
            if 0 in step.given[0].shape:
                return f"{fold}({{0}}, {axes}, _{numpy_name(dtype)})"
            last = f"reshape({(*rest, -1)})" if rest else "ravel()"
            return f"{fold}({{0}}.{last}, -1, _{numpy_name(dtype)})"
        return _by_parts(step, FOLDS[name]) or f"{fold}({{0}}, {one}, _{numpy_name(dtype)})"
    start = _least(name, dtype) if 0 in step.given[0].shape else None
    if start is not None:
        return lambda x: FOLDS[name].reduce(x, axes, initial=start)
    return _by_parts(step, FOLDS[name]) or f"{fold}({{0}}, {one})"


# NumPy starts over for each row, which takes as long as twenty elements.
_SHORT, _ROWS_EACH = 16, 20


def _by_parts(step: HostStep, combine: Any) -> Function | None:
    """The reduction of many short rows, one element of all of them after the other; None where that is no faster."""
    shape = step.given[0].shape
    if tuple(step.params["axes"]) != (len(shape) - 1,) or not 0 < shape[-1] <= _SHORT:
        return None
    if math.prod(shape[:-1]) < _ROWS_EACH * shape[-1]:
        return None

    def fold(x: Any) -> Any:
        out = x[..., 0].copy()
        for i in range(1, shape[-1]):
            combine(out, x[..., i], out=out)
        return out

    return fold


def _least(name: str, dtype: np.dtype) -> Any:
    """Return the result of a reduction over no elements."""
    if name not in ("max", "min"):
        return None
    if dtype.kind == "f":
        return dtype.type(-math.inf if name == "max" else math.inf)
    if dtype.kind == "b":
        return name == "min"
    return np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max


@rule("argmax", "argmin")
def _arg(step: HostStep) -> Function:
    find, (axis,) = getattr(np, step.name), step.params["axes"]
    if step.given[0].shape[axis] == 0:
        raise UnknownStepError("the place of the largest of no elements")
    dtype = step.made[0].dtype
    return lambda x: find(x, axis).astype(dtype)


_RUNNING: dict[str, Any] = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
_RUNNING["cumlogsumexp"] = np.logaddexp


@rule(*_RUNNING)
def _running(step: HostStep) -> Function:
    if step.made[0].dtype.kind == "c" and step.name not in ("cumsum", "cumprod"):
        raise UnknownStepError("an order of complex numbers")
    fold, axis, dtype = _RUNNING[step.name].accumulate, step.params["axis"], step.made[0].dtype
    if not step.params["reverse"]:
        return lambda x: fold(x, axis, dtype)
    return lambda x: np.flip(fold(np.flip(x, axis), axis, dtype), axis)


@rule("sort")
def _sort(step: HostStep) -> Function:
    axis, keys = step.params["dimension"], step.params["num_keys"]
    if len(step.given) == 1:
        return lambda x: (np.sort(x, axis, kind="stable"),)
    along = _along(step.given[0].shape, axis)

    def sort(*arrays: Any) -> Any:
        if keys == 1:
            order = arrays[0].argsort(axis, kind="stable")
        else:
            order = np.lexsort(arrays[:keys][::-1], axis)
        at = along(order)
        return tuple([a.take(at) for a in arrays])

    return sort


def _along(shape: tuple[int, ...], axis: int) -> Callable[[Any], Any]:
    """From the places along an axis to those in the flat array."""
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    places = np.indices(shape, sparse=True)
    first = sum([n * at for i, (n, at) in enumerate(zip(strides, places, strict=True)) if i != axis])
    stride = np.array(strides[axis])
    return lambda order: (order if stride == 1 else order * stride) + first


@rule("top_k")
def _top_k(step: HostStep) -> Function:
    k, axis = step.params["k"], step.params.get("axis", -1)
    shape, kind = step.given[0].shape, step.made[1].dtype
    place = axis % len(shape)
    along, last, before = _along(shape, place), np.array(shape[place] - 1), (slice(None),) * place
    turned, largest = (*before, slice(None, None, -1)), (*before, slice(-1, -k - 1, -1))

    def top_k(x: Any) -> Any:
        # Of equal ones the first comes first.
        order = last - x[turned].argsort(axis, kind="stable")[largest]
        return x.take(along(order)), order.astype(kind)

    return top_k


# NumPy's library gives larger products to its own threads, which wait for each other by spinning: where others have
# work, that takes a hundred times as long.
_MOST_AT_ONCE = 1 << 18
# Of fewer rows at once a product reads the other matrix too often.
_FEW_ROWS = 8


def in_blocks(x: Any, y: Any, out: Any) -> Any:
    """A product of matrices, or of many, some rows at a time; where these alone would be too much some columns too."""
    if x.ndim > 2:
        for i in np.ndindex(x.shape[:-2]):
            in_blocks(x[i], y[i], out[i])
        return out
    depth, columns = y.shape
    rows = _MOST_AT_ONCE // (depth * columns)
    if rows >= _FEW_ROWS:
        for start in range(0, len(x), rows):
            np.dot(x[start : start + rows], y, out[start : start + rows])
        return out
    rows = min(len(x), 2 * _FEW_ROWS)
    width = max(_MOST_AT_ONCE // (depth * rows), 1)
    for start in range(0, len(x), rows):
        for first in range(0, columns, width):
            out[start : start + rows, first : first + width] = x[start : start + rows].dot(y[:, first : first + width])
    return out


@rule("dot_general")
def _dot_general(step: HostStep) -> Any:
    return product(step, _MOST_AT_ONCE)


@rule("dot_general", table=BASELINE_RULES)
def _whole_dot_general(step: HostStep) -> Any:
    return product(step, sys.maxsize)


def product(step: HostStep, most: int) -> Any:
    """The text of a product of matrices, of which at most so many products of numbers are the library's at once."""
    ((of_x, of_y), (batch_x, batch_y)), (x, y) = step.params["dimension_numbers"], step.given
    if x.dtype != step.made[0].dtype or y.dtype != x.dtype or x.dtype == bool:
        raise UnknownStepError("a product in another dtype")
    free_x = [i for i in range(len(x.shape)) if i not in (*of_x, *batch_x)]
    free_y = [i for i in range(len(y.shape)) if i not in (*of_y, *batch_y)]
    batch, depth = _sizes(x, batch_x), math.prod(_sizes(x, of_x))
    rows, columns = math.prod(_sizes(x, free_x)), math.prod(_sizes(y, free_y))
    left = _transpose_text("{0}", x, (*batch_x, *free_x, *of_x), (*batch, rows, depth))
    right = _transpose_text("{1}", y, (*batch_y, *of_y, *free_y), (*batch, depth, columns))
    shape = step.made[0].shape
    if rows * depth * columns <= most or x.dtype.kind != "f":
        made = f"({left} @ {right})" if batch else f"{left}.dot({right})"
    else:
        made = f"_in_blocks({left}, {right}, _empty({(*batch, rows, columns)}, {{0}}.dtype))"
    return made if shape == (*batch, rows, columns) else f"{made}.reshape({shape})"


def _transpose_text(name: str, aval: Any, order: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Return the text of an array with its axes in an order, in a shape."""
    turned = name if order == tuple(range(len(order))) else f"{name}.transpose({order})"
    return turned if tuple([aval.shape[i] for i in order]) == shape else f"{turned}.reshape({shape})"


def _sizes(x: Any, axes: Any) -> tuple[int, ...]:
    return tuple([x.shape[i] for i in axes])
