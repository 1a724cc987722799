"""Steps that read and write at indices: XLA's windows, as places in the flat array."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.lax import GatherScatterMode

from .rules import rule
from .steps import WRAPS, HostStep, UnknownStepError

Function = Callable[..., Any]
_DROP, _CLIP = GatherScatterMode.FILL_OR_DROP, GatherScatterMode.CLIP
_INT, _UINT = np.dtype(np.int64), np.dtype(np.uint64)
_count = np.count_nonzero
_PROMISE = GatherScatterMode.PROMISE_IN_BOUNDS


class WindowPlaces(NamedTuple):
    """Where the windows of an array lie: for each index the place of its first element, and from there each element.

    Arguments:
        shape: of the array.
        sizes: of a window along each axis of the array.
        mapped: the axis that each number of an index is for.
        batched: axes of the array that go along with axes of the indices: (axis, axis of the indices).
        inner: the axes of the windowed array for those axes of the array that windows keep: (axis, its axis there).
        outer: the axes of the windowed array for the axes of the indices.
        rank: of the windowed array.
    """

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    mapped: tuple[int, ...]
    batched: tuple[tuple[int, int], ...]
    inner: tuple[tuple[int, int], ...]
    outer: tuple[int, ...]
    rank: int

    def places(self, mode: Any, n_indices: tuple[int, ...], wraps: bool = False) -> Callable[[Any], tuple[Any, Any]]:
        """From indices to the places of all elements, and for each index whether its window lies within (None: all)."""
        strides = [math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))]
        last = np.array([self.shape[a] - self.sizes[a] for a in self.mapped], np.int64)
        steps = np.array([strides[a] for a in self.mapped], np.int64)
        offsets = self._offsets(strides, n_indices)
        spread = tuple([n_indices[self.outer.index(i)] if i in self.outer else 1 for i in range(self.rank)])
        most = last.view(_UINT)
        most = most.reshape(()) if most.size == 1 else most
        stride = steps.reshape(()) if len(steps) == 1 else steps
        lone, moved = len(steps) == 1, bool(offsets.any()) or offsets.size > 1

        def places(indices: Any) -> tuple[Any, Any]:
            start = indices if indices.dtype is _INT else indices.astype(_INT)
            inside = None
            if _count(start.view(_UINT) > most):  # a negative one is a large one
                start = start + (start < 0) * (last + 1) if wraps else start
                inside = ((start >= 0) & (start <= last)).all(-1).reshape(spread) if mode == _DROP else None
                start = np.minimum(np.maximum(start, 0), last)
            if not lone:
                at = start.dot(steps)
            else:
                at = start if steps[0] == 1 else start * stride
            at = at.reshape(spread)
            return at + offsets if moved else at, inside

        return places

    @property
    def rows(self) -> int | None:
        """The axis of which whole rows are taken, where that is all, and the rows take its place; otherwise None."""
        if len(self.mapped) != 1 or self.batched:
            return None
        (axis,) = self.mapped
        kept = [a for a in range(len(self.shape)) if a != axis]
        at = [a if a < axis else a + len(self.outer) - 1 for a in kept]
        whole = all(self.sizes[a] == self.shape[a] for a in kept) and self.sizes[axis] == 1
        return axis if whole and self.inner == tuple(zip(kept, at, strict=True)) else None

    def _offsets(self, strides: Sequence[int], n_indices: tuple[int, ...]) -> np.ndarray:
        """Return the offsets of a window's elements from its position."""
        total = np.zeros((1,) * self.rank, np.int64)
        parts = [(axis, at, self.sizes[axis]) for axis, at in self.inner]
        parts += [(axis, self.outer[of], n_indices[of]) for axis, of in self.batched]
        for axis, at, size in parts:
            column = [-1 if i == at else 1 for i in range(self.rank)]
            total = total + (np.arange(size, dtype=np.int64) * strides[axis]).reshape(column)
        return total


@rule("gather")
def _gather(step: HostStep) -> Function:
    p, (x, indices) = step.params, step.given
    numbers, made, mode = p["dimension_numbers"], step.made[0], p["mode"]
    batching = tuple(numbers.operand_batching_dims)
    kept = [a for a in range(len(x.shape)) if a not in (*numbers.collapsed_slice_dims, *batching)]
    outer = tuple([i for i in range(len(made.shape)) if i not in numbers.offset_dims])
    windows = WindowPlaces(
        x.shape, tuple(p["slice_sizes"]), tuple(numbers.start_index_map),
        tuple(zip(batching, numbers.start_indices_batching_dims, strict=True)),
        tuple(zip(kept, numbers.offset_dims, strict=True)), outer, len(made.shape),
    )  # fmt: skip
    mode, n_indices = _known(mode), indices.shape[:-1]
    wraps = p.get(WRAPS, False)
    places, fill = windows.places(mode, n_indices, wraps), _fill_value(p["fill_value"], x.dtype)

    def gather(x: Any, indices: Any) -> Any:
        at, inside = places(indices)
        found = x.take(at) if x.size else np.full(made.shape, fill, x.dtype)
        return found if inside is None else np.where(inside, found, fill)

    axis = windows.rows
    if step.known[1] is not None and x.size and (found := places(step.known[1]))[1] is None:
        at = found[0]
        if axis is None:
            return lambda x, _: x.take(at)
        chosen = step.known[1].astype(np.int64).reshape(n_indices)
        chosen += (chosen < 0) * x.shape[axis]
        return lambda x, _: x.take(chosen, axis, mode="clip")
    if axis is None or not x.shape[axis]:
        return gather
    size, looks = np.array(x.shape[axis], _UINT), wraps or mode == _DROP

    def rows(x: Any, indices: Any) -> Any:
        start = indices if indices.dtype is _INT else indices.astype(_INT)
        if looks and _count(start.view(_UINT) >= size):
            return gather(x, indices)
        return x.take(start.reshape(n_indices), axis, mode="clip")

    return rows


def _known(mode: Any) -> Any:
    found = GatherScatterMode.from_any(mode) if mode is not None else _DROP
    if found not in (_DROP, _CLIP, _PROMISE):
        raise UnknownStepError(f"indices in the mode {mode}")
    return found


def _fill_value(given: Any, dtype: np.dtype) -> Any:
    """Return the value of elements outside of the array."""
    if given is not None:
        return dtype.type(given)
    if dtype.kind == "f":
        return dtype.type(math.nan)
    if dtype.kind == "b":
        return np.True_
    return dtype.type(np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max)


_COMBINED: dict[str, Any] = {"scatter": None, "scatter-add": np.add, "scatter_add": np.add, "scatter-mul": np.multiply}
_COMBINED |= {"scatter_mul": np.multiply, "scatter-min": np.minimum, "scatter_min": np.minimum}
_COMBINED |= {"scatter-max": np.maximum, "scatter_max": np.maximum}


@rule(*_COMBINED)
def _scatter(step: HostStep) -> Function:
    p, (x, indices, updates) = step.params, step.given
    numbers, combine, mode = p["dimension_numbers"], _COMBINED[step.name], _known(p["mode"])
    batching = tuple(numbers.operand_batching_dims)
    kept = [a for a in range(len(x.shape)) if a not in (*numbers.inserted_window_dims, *batching)]
    inner = tuple(zip(kept, numbers.update_window_dims, strict=True))
    sizes = [1] * len(x.shape)
    for axis, at in inner:
        sizes[axis] = updates.shape[at]
    outer = tuple([i for i in range(len(updates.shape)) if i not in numbers.update_window_dims])
    windows = WindowPlaces(
        x.shape, tuple(sizes), tuple(numbers.scatter_dims_to_operand_dims),
        tuple(zip(batching, numbers.scatter_indices_batching_dims, strict=True)), inner, outer, len(updates.shape),
    )  # fmt: skip
    places = windows.places(_CLIP if mode == _CLIP else _DROP, indices.shape[:-1])
    shape, start = updates.shape, step.known[1]
    if start is not None and not outer and places(start)[1] is None:
        return _scatter_into(
            combine, _constant_box(x.shape, start, numbers.scatter_dims_to_operand_dims, dict(inner), shape)
        )

    if start is not None and (found := places(start))[1] is None:
        at = np.broadcast_to(found[0], shape).reshape(-1)
        if len(np.unique(at)) == at.size:
            return _scatter_to(combine, at)

    def scatter(x: Any, indices: Any, updates: Any) -> Any:
        at, inside = places(indices)
        out = x.flatten()
        if inside is not None:
            inside = np.broadcast_to(inside, shape)
            at, updates = np.broadcast_to(at, shape)[inside], updates[inside]
        _put(combine, out, at, updates)
        return out.reshape(x.shape)

    return scatter


def _constant_box(shape: Any, start: Any, mapped: Any, inner: dict[int, int], sizes: Any) -> tuple[Any, ...]:
    """Return the index of one window whose place is known."""
    first = dict.fromkeys(range(len(shape)), 0) | dict(zip(mapped, start.tolist(), strict=True))
    return tuple([slice(n, n + sizes[inner[axis]]) if axis in inner else n for axis, n in first.items()])


def _scatter_into(combine: Any, box: tuple[Any, ...]) -> Function:
    def scatter(x: Any, _: Any, updates: Any) -> Any:
        out = x.copy()
        out[box] = updates if combine is None else combine(out[box], updates)
        return out

    return scatter


def _scatter_to(combine: Any, at: np.ndarray) -> Function:
    """Into places of the flat array that are known, and differ from each other."""

    def scatter(x: Any, _: Any, updates: Any) -> Any:
        out, new = x.flatten(), updates.ravel()
        out[at] = new if combine is None else combine(out[at], new)
        return out.reshape(x.shape)

    return scatter


def _put(combine: Any, out: Any, at: Any, updates: Any) -> None:
    if combine is None:
        out[at] = updates
    else:
        combine.at(out, at.reshape(-1), updates.reshape(-1))  # flat, which NumPy has faster code for


@rule("dynamic_slice", moves=True)
def _dynamic_slice(step: HostStep) -> str:
    return f"{{0}}[{_box(step.given[0].shape, step.params['slice_sizes'], 1)}]"


def _box(shape: Sequence[int], sizes: Sequence[int], first: int) -> str:
    """The text of the index of a window, whose starts are arguments from `first` on, and which is moved inside."""
    parts = [
        ":" if str(n) == str(size) else f"(_at{i} := min(max(int({{{i}}}), 0), {n - size})) : _at{i} + {size}"
        for i, (n, size) in enumerate(zip(shape, sizes, strict=True), first)
    ]
    return ", ".join(parts) or "()"


@rule("dynamic_update_slice", moves=True)
def _dynamic_update_slice(step: HostStep) -> str:
    return f"_replaced({{0}}, {{1}}, _index[{_box(step.given[0].shape, step.given[1].shape, 2)}])"


def replace_window(x: Any, update: Any, box: Any) -> Any:
    """Return an array with a window of it replaced."""
    out = x.copy()
    out[box] = update
    return out
