"""x[index] and x[index] = value.

An index is parsed into a plan, which is static and hashable, and its operands: index tensors and the starts of slices.
Starts are operands rather than part of the plan so that x[0], x[1], ... are one compiled function.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.interpreter import state
from ..core.memo import Memo
from ..dispatch.define import add_methods, op
from ..eager.pending import payload_of
from ..eager.tensor import Tensor
from ..registry.op import SINGLE
from ..registry.view import ViewRule, ViewStep
from .convert import to_tensor
from .dynamic import concrete, is_eager
from .search import coordinates

# Kinds of parts. A part is (kind,), but for CUT (kind, length, step), FIXED (kind, start, stop, step) and
# MASK (kind, number of dimensions). AT, CUT, PICK and MASK take an operand each.
ALL, AT, CUT, FIXED, NEW, PICK, MASK = "all", "at", "cut", "fixed", "new", "pick", "mask"
Plan = tuple[tuple[Any, ...], ...]
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
    parts = _without_truths([_plain(p) for p in (index if isinstance(index, tuple) else (index,))])
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
    if isinstance(part, list | range | np.ndarray):
        if isinstance(part, np.ndarray) and not part.ndim:
            return operator.index(part.item())
        return to_tensor(part) if len(part) else Tensor(np.zeros(0, np.int64))
    try:
        return operator.index(part)
    except TypeError:
        raise TypeError(
            f"a tensor cannot be indexed with {part!r} ({type(part).__name__}); "
            "expected an integer, a slice, ..., None, or a tensor or list of integers or booleans"
        ) from None


def _without_truths(parts: list[Any]) -> list[Any]:
    """True among other parts is a new axis of size 1, which broadcasts where index tensors are."""
    if any(p is False for p in parts):
        raise TypeError("False among the parts of an index selects nothing; use x[False], or a slice such as 0:0")
    picked = any(isinstance(p, Tensor) and p.ndim for p in parts)
    return [None if p is True else p for p in parts if not (picked and p is True)]


def _width(part: Any) -> int:
    """Return the number of dimensions that a part of the index consumes."""
    if part is None or part is Ellipsis:
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
        return [((AT,) if part.ndim == 0 else (PICK,), part)]
    return [_parse_int(part, shape[dim], dim)]


def _parse_int(i: int, size: Any, dim: int) -> Any:
    if not isinstance(size, int):
        return (AT,), i if i >= 0 else Tensor(np.int64(i))
    if not -size <= i < size:
        raise IndexError(f"index {i} is out of range for dimension {dim} of size {size}")
    return (AT,), i % size


def _parse_slice(part: slice, size: Any) -> Any:
    start, stop, step = [b._static_value("the bound of a slice") if isinstance(b, Tensor) else b for b in _bounds(part)]
    if start is None and stop is None and step in (None, 1):
        return (ALL,), None
    if step == 0:
        raise ValueError("the step of a slice cannot be 0")
    if not all(isinstance(b, int | np.integer | None) for b in (size, start, stop, step)):
        return (FIXED, start, stop, step), None
    positions = range(*slice(start, stop, step).indices(size))
    if len(positions) == size and positions.step == 1:
        return (ALL,), None
    return (CUT, len(positions), positions.step), positions.start if len(positions) else 0


def _bounds(part: slice) -> tuple[Any, Any, Any]:
    return part.start, part.stop, part.step


def _parse_mask(mask: Tensor, sizes: list[Any], keep_masks: bool) -> list[Any]:
    if all(isinstance(n, int) for n in (*sizes, *payload_of(mask).shape)) and list(mask.shape) != sizes:
        raise IndexError(f"the mask has shape {[*mask.shape]}, but the dimensions it stands for have sizes {sizes}")
    if keep_masks:
        return [((MASK, mask.ndim), mask)]
    if not is_eager():
        return [((PICK,), found) for found in coordinates(mask, "x[mask]", USE_INSTEAD)]
    return [((PICK,), to_tensor(found)) for found in np.nonzero(concrete(mask, "x[mask]", USE_INSTEAD))]


class Box(NamedTuple):
    """The block selected by ints and slices, with one entry per dimension."""

    starts: list[Any]
    sizes: list[Any]
    steps: list[int]

    def span(self) -> list[Any]:
        """Sizes including the elements skipped by steps."""
        return [(n - 1) * abs(s) + 1 if s != 1 and n else n for n, s in zip(self.sizes, self.steps, strict=True)]


def _box(x: Any, operands: list[Any], plan: Plan) -> Box:
    box, it, dim = Box([], [], []), iter(operands), 0
    for part in plan:
        kind = part[0]
        operand: Any = next(it) if kind in (AT, CUT, PICK, MASK) else None
        for _ in range(0 if kind == NEW else part[1] if kind == MASK else 1):
            size, n, step = x.shape[dim], x.shape[dim], 1
            start: Any = 0
            if kind == AT:
                start, n = operand if isinstance(operand, int) else jnp.where(operand < 0, operand + size, operand), 1
            elif kind == CUT:
                n, step = part[1], part[2]
                start = operand + (n - 1) * step if step < 0 and n else operand
            for column, value in zip(box, (start, n, step), strict=True):
                column.append(value)
            dim += 1
    return box


def _is_whole(x: Any, box: Box) -> bool:
    return all(s is m for s, m in zip(box.span(), x.shape, strict=True)) or tuple(box.span()) == tuple(x.shape)


def _slice_box(x: Any, box: Box) -> Any:
    """Slice the block out of `x`."""
    if not _is_whole(x, box):
        if all(isinstance(s, int) for s in box.starts):
            stops = [s + n for s, n in zip(box.starts, box.span(), strict=True)]
            x = jax.lax.slice(x, box.starts, stops)
        else:  # zeros of an empty tensor, in an iteration that no run reaches
            whole = jnp.zeros(box.span(), x.dtype) if 0 in x.shape else x
            x = jax.lax.dynamic_slice(whole, _starts(box), box.span())
    if any(s != 1 for s in box.steps):
        x = x[tuple([slice(None, None, s) for s in box.steps])]
    return x


def _starts(box: Box) -> list[Any]:
    return [jnp.asarray(s).astype(jnp.int64) for s in box.starts]


def _paste(x: Any, box: Box, new: Any) -> Any:
    """Return `x` with the block replaced."""
    if any(s != 1 for s in box.steps):
        whole = _slice_box(x, Box(box.starts, box.span(), [1] * x.ndim))
        new = whole.at[tuple([slice(None, None, s) for s in box.steps])].set(new)
    return new if _is_whole(x, box) else jax.lax.dynamic_update_slice(x, new, _starts(box))


def _unknown_slices(plan: Plan) -> tuple[Any, ...]:
    """Return the slices of unknown sizes as an index of their own; the rest is whole."""
    out: list[Any] = []
    for part in plan:
        if part[0] != NEW:
            out += [slice(*part[1:])] if part[0] == FIXED else [slice(None)] * (part[1] if part[0] == MASK else 1)
    return tuple(out)


def _has(plan: Plan, *kinds: str) -> bool:
    return any(part[0] in kinds for part in plan)


def _result_shape(sizes: list[Any], plan: Plan) -> list[Any]:
    """Return the shape of the block after ints removed and None added dimensions."""
    it, out = iter(sizes), []
    for part in plan:
        if part[0] == NEW:
            out.append(1)
        elif part[0] == AT:
            next(it)
        else:
            out += [next(it) for _ in range(part[1] if part[0] == MASK else 1)]
    return out


def _picks(operands: list[Any], plan: Plan) -> tuple[Any, ...]:
    """Return the index tensors at the positions of their dimensions."""
    it, out = iter(operands), []
    for part in plan:
        operand = next(it) if part[0] in (AT, CUT, PICK, MASK) else None
        if part[0] != AT:
            out.append(operand if part[0] == PICK else slice(None))
    return tuple(out)


def _write_back(x: Any, new: Any, step: ViewStep) -> Any:
    return _setitem(x, new, list(step.others), step.bound.attrs[0])


def _view_array(array: np.ndarray, step: ViewStep) -> np.ndarray:
    index: list[Any] = []
    starts = iter([o if isinstance(o, int) else 0 for o in step.others])
    for kind, *rest in step.bound.attrs[0]:
        if kind == NEW:
            index.append(None)
        elif kind == AT:
            index.append(next(starts))
        elif kind == CUT:
            length, by = rest
            start = next(starts)
            stop = start + length * by
            index.append(slice(start, stop if stop >= 0 else None, by) if length else slice(0, 0))
        else:
            index.append(slice(*rest) if kind == FIXED else slice(None))
    return array[(*index, ...)]  # a view even of one element


_BASIC = ViewRule(_write_back, _view_array, anywhere=True)


@op(name="getitem", views=lambda attrs: None if _has(attrs["plan"], PICK, MASK) else _BASIC)
def _getitem(x: Any, operands: list[Any], /, plan: Plan) -> Any:
    if _has(plan, FIXED):
        x = x[_unknown_slices(plan)]
    box = _box(x, operands, plan)
    out = _slice_box(x, box).reshape(_result_shape(box.sizes, plan))
    return out[_picks(operands, plan)] if _has(plan, PICK) else out


@op(name="setitem")
def _setitem(x: Any, value: Any, operands: list[Any], /, plan: Plan) -> Any:
    value = jnp.asarray(value).astype(x.dtype)
    if _has(plan, FIXED):
        whole = _unknown_slices(plan)
        inner = tuple([(ALL,) if part[0] == FIXED else part for part in plan])
        return x.at[whole].set(_set_items(x[whole], value, operands, inner))
    return _set_items(x, value, operands, plan)


def _set_items(x: Any, value: Any, operands: list[Any], plan: Plan) -> Any:
    box = _box(x, operands, plan)
    shape = _result_shape(box.sizes, plan)
    if _has(plan, PICK):
        held = _slice_box(x, box).reshape(shape)
        new = held.at[_picks(operands, plan)].set(value)
    elif _has(plan, MASK):
        new = _masked(_slice_box(x, box).reshape(shape), value, operands, plan)
    else:
        new = jnp.broadcast_to(_trim(value, len(shape)), shape)
    return _paste(x, box, new.reshape(box.sizes))


def _trim(value: Any, ndim: int) -> Any:
    """Without leading dimensions of size 1 that the target lacks, which NumPy allows as well."""
    while value.ndim > ndim and value.shape[0] == 1:
        value = value[0]
    return value


def _mask_at(plan: Plan) -> tuple[int, int]:
    """Number of dimensions of the mask and of those behind it."""
    at = next(i for i, part in enumerate(plan) if part[0] == MASK)
    return plan[at][1], sum(part[0] != AT for part in plan[at + 1 :])


def _masked(held: Any, value: Any, operands: list[Any], plan: Plan) -> Any:
    """held with the value where the only mask of the plan holds."""
    ndim, behind = _mask_at(plan)
    kinds = [part[0] for part in plan if part[0] in (AT, CUT, PICK, MASK)]
    mask = operands[kinds.index(MASK)]
    mask = mask.reshape(*mask.shape, *([1] * behind))
    if value.ndim > behind:  # its mask dimension has size 1, and broadcasts over all dimensions of the mask
        at = value.ndim - behind
        value = value.reshape(*value.shape[: at - 1], *([1] * ndim), *value.shape[at:])
    return jnp.where(mask, _trim(value, held.ndim), held)


def _fills(value: Any, plan: Plan) -> bool:
    """True if the value is the same for every element under the only mask, so that `where` can write it."""
    if sum(part[0] == MASK for part in plan) != 1 or _has(plan, PICK):
        return False
    _, behind = _mask_at(plan)
    shape = payload_of(value).shape if isinstance(value, Tensor) else np.shape(value)
    return len(shape) <= behind or shape[len(shape) - behind - 1] == 1


def getitem(x: Tensor, index: Any) -> Any:
    """Compute `x[index]` as NumPy does; index tensors may be traced, masks and slice bounds need their values."""
    if isinstance(index, bool):
        return getitem(x.unsqueeze(0), slice(0, int(index))).clone()
    if isinstance(index, Tensor) and index.ndim == 0 and index.dtype == "bool":
        return getitem(x, bool(concrete(index, "x[mask]", USE_INSTEAD)))
    if (bound := _bound_of_one(x, index)) is not None:
        return state.interpreter.run(bound, (x, index))
    plan, operands = parse(x, index)
    return _getitem(x, operands, plan)


def _bound_of_one(x: Tensor, index: Any) -> Any:
    """The op for one number or one tensor of integers, the most frequent indices, without a look at the rest."""
    shape = payload_of(x).shape
    if index.__class__ is int:
        at_hand = shape and isinstance(shape[0], int) and 0 <= index < shape[0]
        return _along(AT, len(shape)) if at_hand else None
    if index.__class__ is Tensor and shape and payload_of(index).shape and payload_of(index).dtype.kind in "iu":
        return _along(PICK, len(shape))
    return None


# Key: the kind, the number of dimensions and the axis; indexing does not depend on the default dtype.
_bound: Memo[Any, Any] = Memo("indices along one axis", 1024)


def _along(kind: str, ndim: int, axis: int = 0) -> Any:
    found = _bound.get((kind, ndim, axis))
    if found is None:
        plan = (*[(ALL,)] * axis, (kind,), *[(ALL,)] * (ndim - axis - 1))
        found = _bound.put((kind, ndim, axis), _getitem.__op__.bind((plan,), (SINGLE, 1)))
    return found


# For ops that return all slices along an axis: each slice is a view by an index.
SLICES = _BASIC._replace(each=lambda bound, ndim, i: ViewStep(_along(AT, ndim, bound.attrs[0] % ndim), (i,)))


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Compute `x[index] = value`: rebind `x` to a new array; gradients flow to the value and the remaining elements."""
    x._rebind(set_items(x, to_tensor(index) if isinstance(index, bool) else index, value))


def set_items(x: Tensor, index: Any, value: Any) -> Any:
    """Return `x` with the elements at an index replaced."""
    plan, operands = parse(x, index, keep_masks=True)
    if _has(plan, MASK) and not _fills(value, plan):
        plan, operands = parse(x, index)
    return _setitem(x, value, operands, plan)


add_methods([("__getitem__", getitem), ("__setitem__", setitem)])
