"""What an index is parsed to: a plan, which is static and hashable, and operands: index tensors, starts of slices.

Starts are operands rather than part of the plan so that x[0], x[1], ... are one compiled function.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.interpreter import state
from ..core.unknown_size import UnknownSize
from ..eager.pending import payload_of
from ..eager.tensor import Tensor
from .convert import to_tensor
from .dynamic import concrete, is_eager
from .search import coordinates

# Kinds of parts. A part is (kind,), but for CUT (kind, length, step), FIXED (kind, start, stop, step) and
# MASK (kind, number of dimensions). AT, CUT, PICK and MASK take an operand each.
ALL, AT, CUT, FIXED, NEW, PICK, MASK = "all", "at", "cut", "fixed", "new", "pick", "mask"
Plan = tuple[tuple[Any, ...], ...]
_ALL, _AT, _NEW = (ALL,), (AT,), (NEW,)
_MASKS = (Tensor, np.ndarray, np.bool_)
_BOUNDS = {int, type(None)}  # of slices that need no look at a tensor
USE_INSTEAD = "where(mask, x, 0), a sum over mask * x, or x[mask] = value"


class Parsed(NamedTuple):
    """A parsed index: the plan and its operands."""

    plan: Plan
    operands: list[Any]


def parse(x: Tensor, index: Any, keep_masks: bool = False) -> Parsed:
    """Parse an index into `x` to a plan; masks become index tensors unless `keep_masks`.

    Raises:
        IndexError: if there are too many indices, or one is out of range, or a mask does not fit.
        TypeError: if a part is not a valid index.
    """
    shape = tuple(payload_of(x).shape)
    parts = [_plain(p) for p in (index if isinstance(index, tuple) else (index,))]
    plan: list[tuple[Any, ...]] = []
    operands: list[Any] = []
    dims = iter(range(len(shape)))
    for part in _without_ellipsis(parts, len(shape)):
        for kind, operand in _parse_part(part, shape, dims, keep_masks):
            plan.append(kind)
            if kind[0] in (AT, CUT, PICK, MASK):
                operands.append(operand)
    plan.extend([(ALL,) for _ in dims])
    return Parsed(tuple(plan), operands)


def _plain(part: Any) -> Any:
    """Convert lists and arrays to tensors, numbers and 0-D integer arrays to ints."""
    if part is None or part is Ellipsis or isinstance(part, slice | Tensor | bool):
        return part
    if isinstance(part, UnknownSize) and state.interpreter.size_answers.for_file:
        return part.number()
    if isinstance(part, np.bool_) or (isinstance(part, np.ndarray) and not part.ndim):
        return part.item() if part.dtype == bool else operator.index(part.item())
    if isinstance(part, list | range | np.ndarray):
        return to_tensor(part) if len(part) else Tensor(np.zeros(0, np.int64))
    try:
        return operator.index(part)
    except TypeError:
        raise TypeError(
            f"a tensor cannot be indexed with {part!r} ({type(part).__name__}); "
            "expected an integer, a slice, ..., None, or a tensor or list of integers or booleans"
        ) from None


def truths(parts: tuple[Any, ...], of_tensors: bool = True) -> tuple[Any, ...]:
    """Return the parts of an index with bools in the place of masks without dimensions, whose values are needed."""
    kinds = _MASKS if of_tensors else _MASKS[1:]
    return tuple([_truth(p) if p.__class__ in kinds and not p.ndim else p for p in parts])


def _truth(part: Any) -> Any:
    return bool(concrete(to_tensor(part), "x[mask]", USE_INSTEAD)) if part.dtype == "bool" else part


def has_bools(parts: tuple[Any, ...]) -> bool:
    """Whether a part of an index is True or False."""
    return any(p is True or p is False for p in parts)


def with_axes_for_bools(x: Tensor, parts: tuple[Any, ...]) -> tuple[Tensor, tuple[Any, ...]]:
    """Return a tensor and parts of an index without bools.

    As in NumPy, a bool is a mask without dimensions: it picks all or nothing of a new axis of size 1. Several are
    broadcast, as other index tensors are, so that x[True, True] has one new axis.
    """
    plain = _without_ellipsis([_plain(p) for p in parts], x.ndim)
    at = [sum(map(_width, plain[:i])) for i, p in enumerate(plain) if isinstance(p, bool)]
    for n, axis in enumerate(at):
        x = x.unsqueeze(axis + n)
    return x, tuple([Tensor(np.zeros(int(p), np.int64)) if isinstance(p, bool) else p for p in plain])


def _width(part: Any) -> int:
    """Return the number of dimensions that a part of the index consumes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.ndim if isinstance(part, Tensor) and part.dtype == "bool" else 1


def _without_ellipsis(parts: list[Any], ndim: int) -> list[Any]:
    used = sum(map(_width, parts))
    if used > ndim:
        raise IndexError(f"too many indices: {used} for a tensor of {ndim} dimensions")
    at = next((i for i, p in enumerate(parts) if p is Ellipsis), None)
    if at is None:
        return parts
    if any(p is Ellipsis for p in parts[at + 1 :]):
        raise IndexError("an index can hold only one ...")
    return parts[:at] + [slice(None)] * (ndim - used) + parts[at + 1 :]


def _parse_part(part: Any, shape: tuple[Any, ...], dims: Iterator[int], keep_masks: bool) -> list[Any]:
    """(part of the plan, operand) for each dimension that a part of the index names."""
    if part is None:
        return [((NEW,), None)]
    if isinstance(part, Tensor) and part.dtype == "bool":
        return _parse_mask(part, [shape[next(dims)] for _ in range(part.ndim)], keep_masks)
    dim = next(dims)
    if isinstance(part, slice):
        return [_parse_slice(part, shape[dim])]
    if isinstance(part, Tensor):
        if not part.dtype.is_integer:
            raise TypeError(f"an index tensor is {part.dtype.name}; expected integers or booleans")
        if part.dtype == "uint8":  # a mask for PyTorch, positions for NumPy
            raise TypeError("an index tensor is uint8; expected .astype('bool') for a mask, 'int64' for positions")
        return [((AT,) if part.ndim == 0 else (PICK,), part)]
    return [_parse_int(part, shape[dim], dim)]


def _parse_int(i: int, size: Any, dim: int) -> Any:
    if not isinstance(size, int):
        return (AT,), i
    if not -size <= i < size:
        raise IndexError(f"index {i} is out of range for dimension {dim} of size {size}")
    return (AT,), i % size


def _parse_slice(part: slice, size: Any) -> Any:
    bounds = part.start, part.stop, part.step
    if part.step in (None, 1) and isinstance(part.start, Tensor) and isinstance(part.stop, Tensor):
        is_one_row = state.interpreter.is_one_row
        if is_one_row is not None and is_one_row(part.start, part.stop, size):
            return (CUT, 1, 1), part.start
    start, stop, step = [b._static_value("the bound of a slice") if isinstance(b, Tensor) else b for b in bounds]
    if start is None and stop is None and step in (None, 1):
        return (ALL,), None
    if step == 0:
        raise ValueError("the step of a slice cannot be 0")
    if not all(isinstance(b, int | np.integer | None) for b in (size, start, stop, step)):
        return (FIXED, start, stop, step), None
    return _cut(slice(start, stop, step), size)


def _cut(part: slice, size: int) -> Any:
    start, stop, step = part.indices(size)
    n = len(range(start, stop, step))
    if n == size and step == 1:
        return _ALL, None
    return (CUT, n, step), start if n else 0


def parse_plain(shape: tuple[Any, ...], parts: tuple[Any, ...]) -> tuple[Plan, list[Any]] | None:
    """Parse what most indices are: numbers in range, slices by numbers, None and `...`, into a shape that is known.

    It gives what parse() gives, in a third of the time; None where that has to look, or to raise.
    """
    plan: list[tuple[Any, ...]] = []
    operands: list[Any] = []
    dim, ndim, gap = 0, len(shape), None
    for part in parts:
        if part is None:
            plan.append(_NEW)
            continue
        if part is Ellipsis and gap is None:
            gap = ndim - sum([p is not None for p in parts]) + 1
            if gap < 0:
                return None
            plan.extend([_ALL] * gap)
            dim += gap
            continue
        if dim >= ndim or (size := shape[dim]).__class__ is not int:
            return None
        dim += 1
        if part.__class__ is int:
            if not -size <= part < size:
                return None
            plan.append(_AT)
            operands.append(part if part >= 0 else part + size)
        elif part.__class__ is slice and {part.start.__class__, part.stop.__class__, part.step.__class__} <= _BOUNDS:
            if part.step == 0:
                return None
            kind, start = _cut(part, size)
            plan.append(kind)
            if start is not None:
                operands.append(start)
        else:
            return None
    plan.extend([_ALL] * (ndim - dim))
    return tuple(plan), operands


def _parse_mask(mask: Tensor, sizes: list[Any], keep_masks: bool) -> list[Any]:
    if all(isinstance(n, int) for n in (*sizes, *payload_of(mask).shape)) and list(mask.shape) != sizes:
        raise IndexError(f"the mask has shape {[*mask.shape]}, but the dimensions it stands for have sizes {sizes}")
    if keep_masks:
        return [((MASK, mask.ndim), mask)]
    if not is_eager():
        return [((PICK,), found) for found in coordinates(mask, "x[mask]", USE_INSTEAD)]
    return [((PICK,), to_tensor(found)) for found in np.nonzero(concrete(mask, "x[mask]", USE_INSTEAD))]
