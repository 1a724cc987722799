"""x[index] and x[index] = value; see index_plans.py for what an index is parsed to."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core import small
from ..core.interpreter import state
from ..core.memo import Memo
from ..dispatch.define import add_methods, op
from ..eager.execute import EAGER
from ..eager.pending import payload_of
from ..eager.tensor import Tensor, wrap
from ..eager.views import link
from ..registry.op import SINGLE
from ..registry.view import ViewRule, ViewStep
from .index_plans import (
    ALL,
    AT,
    CUT,
    FIXED,
    MASK,
    NEW,
    PICK,
    Plan,
    has_bools,
    parse,
    parse_plain,
    truths,
    with_axes_for_bools,
)

_LARGE = 1e38  # from here on a number may overflow as a float32


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
    are_numbers = all(isinstance(operand, int) for operand in operands)  # others read empty tensors where no run gets
    for part in plan:
        kind = part[0]
        operand: Any = next(it) if kind in (AT, CUT, PICK, MASK) else None
        for _ in range(0 if kind == NEW else part[1] if kind == MASK else 1):
            size, n, step = x.shape[dim], x.shape[dim], 1
            start: Any = 0
            if kind == AT:
                start, n = _position(operand, size, dim, are_numbers), 1
            elif kind == CUT:
                n, step = part[1], part[2]
                start = operand + (n - 1) * step if step < 0 and n else operand
            for column, value in zip(box, (start, n, step), strict=True):
                column.append(value)
            dim += 1
    return box


def _position(index: Any, size: Any, dim: int, are_numbers: bool) -> Any:
    """Return an index of a dimension, counted from its start."""
    if not isinstance(index, int):
        return jnp.where(index < 0, index + size, index)
    if isinstance(size, int) and not -size <= index < size and (size or are_numbers):
        raise IndexError(f"index {index} is out of range for dimension {dim} of size {size}")
    return index if index >= 0 else index + size


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
    shape = payload_of(x).shape
    if index.__class__ is Tensor and shape and payload_of(index).shape and payload_of(index).dtype.kind == "i":
        return state.interpreter.run(_along(PICK, len(shape)), (x, index))
    parts = index if index.__class__ is tuple else (index,)
    plain = parse_plain(shape, parts)
    if plain is not None:
        return _part_of(x, parts, *plain)
    parts = truths(parts)
    if has_bools(parts):
        x, parts = with_axes_for_bools(x, parts)
    plan, operands = parse(x, parts)
    return _getitem(x, operands, plan)


def _part_of(x: Tensor, parts: tuple[Any, ...], plan: Plan, operands: list[Any]) -> Any:
    """Return the part of x that an index selects; `plan` and `operands` are what its parts were parsed to."""
    bound = _bound.get(plan)
    if bound is None:
        bound = _bound.put(plan, _getitem.__op__.bind((plan,), (SINGLE, len(operands))))
    array = _at_hand(x)
    if array is not None:
        part = np.asarray(array[parts])
        made = wrap(part if part.flags.c_contiguous else part.copy())
        link(x, made, bound, tuple(operands))
        return made
    return state.interpreter.run(bound, (x, *operands))


def _at_hand(x: Tensor) -> np.ndarray | None:
    """Return the array of a tensor if indexing it is one step of NumPy: it is small and takes no gradient."""
    if x.__class__ is not Tensor or not x.stop_gradient or state.interpreter is not EAGER or state.timer is not None:
        return None
    array = x._payload
    usual = array.__class__ is np.ndarray and array.size <= small.most() and array.dtype in small.DTYPES
    return array if usual else None


# Key: the plan; indexing does not depend on the default dtype.
_bound: Memo[Any, Any] = Memo("indices by numbers", 1024)


# Key: the kind, the number of dimensions and the axis.
_along_axis: Memo[Any, Any] = Memo("indices along one axis", 1024)


def _along(kind: str, ndim: int, axis: int = 0) -> Any:
    found = _along_axis.get((kind, ndim, axis))
    if found is None:
        plan = (*[(ALL,)] * axis, (kind,), *[(ALL,)] * (ndim - axis - 1))
        found = _along_axis.put((kind, ndim, axis), _getitem.__op__.bind((plan,), (SINGLE, 1)))
    return found


# For ops that return all slices along an axis: each slice is a view by an index.
SLICES = _BASIC._replace(each=lambda bound, ndim, i: ViewStep(_along(AT, ndim, bound.attrs[0] % ndim), (i,)))


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Compute `x[index] = value`: rebind `x` to a new array; gradients flow to the value and the remaining elements."""
    x._rebind(set_items(x, index, value))


def set_items(x: Tensor, index: Any, value: Any) -> Any:
    """Return `x` with the elements at an index replaced."""
    parts = index if index.__class__ is tuple else (index,)
    plain = parse_plain(payload_of(x).shape, parts)
    if plain is not None:
        array = _with_part(x, parts, value)
        return _setitem(x, value, plain[1], plain[0]) if array is None else wrap(array)
    if not has_bools(parts := truths(parts, of_tensors=False)):
        plan, operands = parse(x, parts, keep_masks=True)
        if not _has(plan, MASK) or _fills(value, plan):
            return _setitem(x, value, operands, plan)
    if has_bools(parts := truths(parts)):
        wide, parts = with_axes_for_bools(x, parts)
        return set_items(wide, parts, value).reshape(x.shape)
    plan, operands = parse(x, parts)
    return _setitem(x, value, operands, plan)


def _with_part(x: Tensor, parts: tuple[Any, ...], value: Any) -> np.ndarray | None:
    """Return the array of x with a part replaced; None where that takes more than a step of NumPy, or fails."""
    array = _at_hand(x)
    if array is None:
        return None
    kind = value.__class__
    if kind is Tensor:
        value = _at_hand(value)
        if value is None or value.dtype != array.dtype:
            return None
    elif not _is_exact(value, kind, array.dtype.kind):
        return None
    out = array.copy()
    try:
        out[parts] = value
    except (ValueError, OverflowError):
        return None
    return out


def _is_exact(value: Any, kind: type, of: str) -> bool:
    """Whether NumPy puts a number into an array of a kind of dtypes as XLA does, or raises OverflowError."""
    return kind is bool or (kind is int and of in "iu") or (of == "f" and kind in (int, float) and abs(value) < _LARGE)


add_methods([("__getitem__", getitem), ("__setitem__", setitem)])
