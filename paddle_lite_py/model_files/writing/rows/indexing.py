"""Rows of x[index] and x[index] = value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.symbolic import is_symbolic
from ....ops.index_plans import ALL, AT, CUT, FIXED, MASK, NEW, PICK
from ..emitter import Emitter, Unwritable
from ..pir_text import FileValue, Long, TensorType
from .shaping import cut, taken, wrapped
from .table import row

WHOLE = (1 << 31) - 1  # an end behind any axis


def _operands(plan: Any, operands: Sequence[Any]) -> list[Any]:
    it = iter(operands)
    return [next(it) if part[0] in (AT, CUT, PICK, MASK) else None for part in plan]


@row("getitem")
def getitem(w: Emitter, x: Any, operands: Sequence[Any], plan: Any) -> FileValue:
    """First the slices, then what tensors choose, then the axes that are dropped or new."""
    parts = [p for p in zip(plan, _operands(plan, operands), strict=True) if p[0][0] != NEW]
    x = _sliced(w, x, parts)
    dropped = [i for i, (part, at) in enumerate(parts) if part[0] == AT and not isinstance(at, FileValue)]
    for i, (part, at) in enumerate(parts):
        if part[0] == AT and isinstance(at, FileValue):
            shape = tuple([1 if i == k else n for k, n in enumerate(x.type.shape)])
            index = w.reshape(wrapped(w, at, x.type.shape[i]), (1,))
            x = taken(w, x, index, i, TensorType(shape, x.type.dtype))
            dropped.append(i)
    picks = [(i, at) for i, (part, at) in enumerate(parts) if part[0] == PICK]
    if picks:
        x = _pick(w, x, picks, dropped)
    return w.reshape(x, w.out[0].shape)


def _sliced(w: Emitter, x: FileValue, parts: Sequence[Any]) -> FileValue:
    bounds = []
    for i, (part, at) in enumerate(parts):
        if part[0] == CUT and isinstance(at, FileValue):
            x = _moving(w, x, i, at, part[1], part[2])
        elif part[0] in (AT, CUT, FIXED) and not isinstance(at, FileValue):
            bounds.append((i, *_bounds(part, at, x.type.shape[i])))
    if not bounds:
        return x
    axes, starts, ends, steps, sizes = zip(*bounds, strict=True)
    shape = list(x.type.shape)
    for i, n in zip(axes, sizes, strict=True):
        shape[i] = n
    return cut(w, x, axes, starts, ends, steps, TensorType(tuple(shape), x.type.dtype))


def _bounds(part: Any, at: Any, size: Any) -> tuple[Any, Any, Any, Any]:
    """Start, end, step and length of a slice."""
    if part[0] == AT:
        return at, at + 1 if at != -1 else WHOLE, 1, 1
    if part[0] == CUT:
        _, length, step = part
        end = at + length * step
        return at, end if end >= 0 else -WHOLE, step, length
    _, start, stop, step = part
    step = 1 if step is None else step
    first = start if start is not None else 0 if step > 0 else WHOLE
    last = stop if stop is not None else WHOLE if step > 0 else -WHOLE
    return first, last, step, -1


def _moving(w: Emitter, x: FileValue, axis: int, start: FileValue, length: Any, step: int) -> FileValue:
    """Return a slice whose start is a tensor."""
    if step != 1 or is_symbolic(length):
        raise Unwritable("a slice from where a tensor says, in steps, has no form there")
    first = w.reshape(w.cast(start, "int64"), (1,))
    last = w.op("add", first, w.full(int(length), "int64"))
    out = w.slice(x, axis, first, last)
    out.type = TensorType(tuple([length if i == axis else n for i, n in enumerate(x.type.shape)]), x.type.dtype)
    return out


def _pick(w: Emitter, x: FileValue, picks: Sequence[tuple[int, Any]], dropped: Sequence[int]) -> FileValue:
    """Return the elements selected by index tensors; dropped axes have one element."""
    axes = [i for i, _ in picks]
    if len(picks) == 1:
        (axis, index), shape = picks[0], x.type.shape
        out = (*shape[:axis], *index.type.shape, *shape[axis + 1 :])
        return taken(w, x, wrapped(w, index, shape[axis]), axis, TensorType(out, x.type.dtype))
    n, between = len(x.type.shape), [i for i in range(axes[0], axes[-1]) if i not in axes and i not in dropped]
    kept = [i for i in range(n) if i not in axes]
    first = 0 if between else sum(1 for i in kept if i < axes[0])
    moved = w.transpose(x, [*axes, *kept])
    common = _broadcast([at.type.shape for _, at in picks])
    places = [w.expand(wrapped(w, at, x.type.shape[i]), common) for i, at in picks]
    index = w.op("stack", w.combined(places), to=TensorType((*common, len(places)), "int64"), axis=len(common))
    rest = tuple([x.type.shape[i] for i in kept])
    found = w.op("gather_nd", moved, index, to=TensorType((*common, *rest), x.type.dtype))
    k = len(common)
    return w.transpose(found, [*range(k, k + first), *range(k), *range(k + first, k + len(rest))])


def _broadcast(shapes: Sequence[Any]) -> tuple[Any, ...]:
    n = max(map(len, shapes))
    columns = zip(*[(1,) * (n - len(s)) + tuple(s) for s in shapes], strict=True)
    return tuple([next((m for m in column if m != 1), 1) for column in columns])


@row("setitem")
def setitem(w: Emitter, x: Any, value: Any, operands: Sequence[Any], plan: Any) -> FileValue:
    found, dtype = _operands(plan, operands), x.type.dtype
    kinds = {part[0] for part in plan}
    value = w.tensor(value, dtype)
    if MASK in kinds:
        return _masked(w, x, value, plan, found)
    if PICK in kinds:
        if kinds - {PICK, ALL} or any(p[0] == PICK for p in plan[len(_leading(plan)) :]):
            raise Unwritable("a write to places that tensors and slices choose together has no form there")
        places = [w.cast(at, "int64") for at in _leading(found)]
        return w.op("index_put", x, w.combined(places), value, accumulate=False)
    return _written(w, x, value, plan, found)


def _leading(parts: Sequence[Any]) -> list[Any]:
    out = []
    for part in parts:
        if part is None or part == (ALL,):
            break
        out.append(part)
    return out


def _masked(w: Emitter, x: FileValue, value: FileValue, plan: Any, found: Sequence[Any]) -> FileValue:
    if any(p[0] not in (MASK, ALL) for p in plan) or plan[0][0] != MASK or value.type.shape not in ((), (1,)):
        raise Unwritable("a write under a mask of more than one number has no form there: use where")
    (mask,) = [f for f in found if f is not None]
    mask = w.reshape(mask, (*mask.type.shape, *[1] * (len(x.type.shape) - len(mask.type.shape))))
    return w.op("where", w.expand(mask, x.type.shape), w.expand(w.reshape(value, ()), x.type.shape), x, to=x.type)


def _written(w: Emitter, x: FileValue, value: FileValue, plan: Any, found: Sequence[Any]) -> FileValue:
    """Return a write to slices; what starts where a tensor says is one element there."""
    axes, decreased, new, axis = list[int](), list[int](), list[int](), 0
    starts, ends, steps = list[Any](), list[Any](), list[int]()
    for part, at in zip(plan, found, strict=True):
        if part[0] == NEW:
            new.append(axis + len(new))
            continue
        if part[0] != ALL:
            first, last, step = _ends(w, part, at, x.type.shape[axis])
            axes.append(axis)
            starts.append(first)
            ends.append(last)
            steps.append(step)
            if part[0] == AT:
                decreased.append(axis)
        axis += 1
    bounds = [_bound(w, b) for b in (starts, ends, steps)]
    attrs = {"axes": list(map(Long, axes)), "decrease_axes": list(map(Long, decreased))}
    return w.op("set_value_with_tensor", x, value, *bounds, **attrs, none_axes=list(map(Long, new)))


def _ends(w: Emitter, part: Any, at: Any, size: Any) -> tuple[Any, Any, int]:
    if not isinstance(at, FileValue):
        return _bounds(part, at, size)[:3]
    step = part[2] if part[0] == CUT else 1
    length = part[1] if part[0] == CUT else 1
    if step != 1 or is_symbolic(length):
        raise Unwritable("a write from where a tensor says, in steps, has no form there")
    first = w.reshape(wrapped(w, at, size), ())
    return first, w.op("add", first, w.full(int(length), "int64")), 1


def _bound(w: Emitter, values: Sequence[Any]) -> FileValue:
    """Bounds as one tensor."""
    if not any(isinstance(v, FileValue) for v in values):
        return w.sizes(values)
    parts = [v if isinstance(v, FileValue) else w.size(v) for v in values]
    return w.op("stack", w.combined(parts), to=TensorType((len(parts),), "int64"), axis=0)
