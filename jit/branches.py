"""Staged `if`: both branches become blocks of one cond operator, and what they leave behind is joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dy2static import Undefined
from paddle_lite_py.core import structure as nested
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.ir import control
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.frame import CONTENTS, Frame, TracedValue, Write, is_leaf, origin
from paddle_lite_py.tracing.size_conditions import SizeCondition

from . import grown, merge
from .cells import (
    EXPRESSION,
    Cell,
    Path,
    before,
    content,
    detach,
    follow,
    look_for_leaves,
    store,
    variables,
    written_cell,
)
from .errors import branch_mismatch, replaced_and_changed, there_or_not, too_deep

# Staged statements inside of each other; a program that needs more is a recursion without an end.
MAX_DEPTH = 48


class Outputs:
    """The outputs that two open frames are given, pair by pair."""

    def __init__(self, builder: Builder, condition: TracedValue, true: Path, false: Path) -> None:
        self.builder, self.condition = builder, condition
        self.paths, self.frames = (true, false), (true.frame, false.frame)
        self.pairs: list[tuple[TracedValue, TracedValue]] = []
        self.specs: list[tuple[Any, Any]] = []  # the shape of each pair, None for a size that differs, and the dtype
        self.are_numbers: list[bool] = []  # for each pair, whether both are Python numbers in eager code
        self.sides: dict[TracedValue, tuple[TracedValue, TracedValue]] = {}  # the pair of each output, once emitted

    def add(self, a: Any, b: Any, shape: Any, dtype: Any) -> None:
        """Add one output: in each frame a tensor, a number, or None for zeros that nothing reads."""
        made = []
        for frame, x in zip(self.frames, self.final(a, b), strict=True):
            with self.builder.inner(frame):
                zero = x is None
                made.append(merge.zeros(self.builder, shape, dtype) if zero else merge.as_value(self.builder, x, dtype))
        self.pairs.append((made[0], made[1]))
        self.specs.append((shape, made[0].dtype))
        self.are_numbers.append(all(x is None or merge.is_number_like(x) for x in (a, b)))

    def agreed(self, shape: Any, true: Any, false: Any) -> Any:
        """Return a shape with the sizes that one branch says to be those of the other."""
        pairs = zip(shape, merge.shape_of(true), merge.shape_of(false), strict=True)
        agreed = self.builder.sizes.branches.agreed
        return tuple([agreed(self.frames, m, n) if size is None else size for size, m, n in pairs])

    def named(self) -> list[tuple[Any, Any]]:
        """Return the specs, with a name for each size that differs: those of one name are equal on both sides."""
        found = []
        for (shape, dtype), (a, b) in zip(self.specs, self.pairs, strict=True):
            sizes = zip(shape, a.shape, b.shape, strict=True)
            found.append((tuple([f"{m} or {n}" if size is None else size for size, m, n in sizes]), dtype))
        return found

    def final(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Return the same on both sides as the branches have left it."""
        return self.paths[0].final(a), self.paths[1].final(b)


def if_(
    builder: Builder, pred: Tensor, body: Callable[[], None], orelse: Callable[[], None], state: Any, where: Any
) -> None:
    """Trace both branches and leave the joined state behind."""
    condition = builder.value_of(pred)
    aliases = builder.aliases
    stale = dict(aliases.stale)
    true = _followed(builder, body, state, _branch(builder, condition, where), pred, True)
    aliases.stale, stale = stale, aliases.stale
    negation = builder.negations.get(origin(condition))
    false = _followed(builder, orelse, state, _branch(builder, negation, where), pred, False)
    aliases.stale = stale | aliases.stale
    start = state.get()
    outs = Outputs(builder, condition, true, false)
    joined = [
        _join(outs, cell, t, f, old, where)
        for cell, t, f, old in zip(variables(state), true.values, false.values, start, strict=True)
    ]
    writes = _without_items({k: w for path in (true, false) for k, (w, _) in path.written.items()})
    stored = [
        (k, w, _join(outs, written_cell(w, state.bodies), _after(true, k, w), _after(false, k, w), before(w), where))
        for k, w in writes.items()
    ]
    tensors = iter(_emit(builder, pred, outs, where))
    made = [_restore(j, tensors) for j in joined]
    state.set(made)
    for one, t, f in zip(made, true.values, false.values, strict=True):
        aliases.join(one, (t, f), where)
    for key, write, j in stored:
        now = _restore(j, tensors)
        if write.key == "_payload" and all(map(is_leaf, outs.sides.get(now._payload, ()))):
            detach(now)
        store(builder, write, now)
        if write.key not in ("_payload", "_grad"):
            aliases.join(now, (_after(true, key, write), _after(false, key, write)), where)


def _branch(builder: Builder, condition: TracedValue | None, where: Any) -> Frame:
    frame = Frame(builder.frame)
    if frame.depth > MAX_DEPTH:
        raise too_deep(MAX_DEPTH, where)
    if condition is not None:
        frame.known_true.add(origin(condition))
    return frame


def _followed(builder: Builder, body: Any, state: Any, frame: Frame, pred: Tensor, side: bool) -> Path:
    """Trace a branch, in which more may be known of open sizes."""
    if not isinstance(pred, SizeCondition):
        return follow(builder, body, state, frame=frame)
    branches = builder.sizes.branches
    branches.enter(frame, pred.facts[side])
    try:
        return follow(builder, body, state, frame=frame)
    finally:
        branches.leave(frame)


class _Partial(NamedTuple):
    """The structure of a variable that is not defined on every path; without a flag, one follows its leaves."""

    structure: Any
    flag: TracedValue | None
    name: str
    where: Any


def _without_items(writes: dict[Any, Write]) -> dict[Any, Write]:
    """Return the writes but those to single items of a container of which one path has changed all that it holds."""
    whole = {id(w.owner) for w in writes.values() if w.key is CONTENTS}
    return {k: w for k, w in writes.items() if not (w.is_item and w.key is not CONTENTS and id(w.owner) in whole)}


def _after(path: Path, key: Any, write: Write) -> Any:
    if key in path.written:
        return content(path.written[key][1])
    return path.contents_of(write) if write.key is CONTENTS else before(write)


def _join(outs: Outputs, cell: Cell, true: Any, false: Any, start: Any, where: Any) -> Any:
    """Structure of a variable after the statement; its leaves are new outputs."""
    if true is false:
        return nested.Static(true)
    if not cell.live:
        return nested.Static(start)
    if merge.is_absent(true) or merge.is_absent(false):
        if merge.is_absent(true) and merge.is_absent(false):
            return nested.Static(true)
        if cell.is_place and outs.builder.aliases.decides:
            raise there_or_not(cell.name, where)
        joined = _one_sided(outs, true, false)
        if cell.internal or joined is None:
            return nested.Static(Undefined(cell.name, where)) if joined is None else joined
        return _partial(outs, joined, cell, true, false, where)
    if cell.is_gradient and (merge.is_blank(true) or merge.is_blank(false)):
        joined = _one_sided(outs, None if merge.is_blank(true) else true, None if merge.is_blank(false) else false)
        return nested.Static(true) if joined is None else joined
    if outs.paths[0].has_changed(true) or outs.paths[1].has_changed(false):
        raise replaced_and_changed(cell.name, where)
    true, false = _of_one_length(outs, true, false)
    (ts, tl), (fs, fl) = merge.parts(true), merge.parts(false)
    if not merge.alike(ts, fs):
        raise branch_mismatch(cell.name, merge.describe(true), merge.describe(false), where)
    joined = _join_tree(outs, cell, ts, iter(tl), iter(fl), where)
    if merge.presence_flag(true) is None and merge.presence_flag(false) is None:
        return joined
    return _partial(outs, joined, cell, true, false, where)


def _of_one_length(outs: Outputs, true: Any, false: Any) -> tuple[Any, Any]:
    """Return what both branches leave; lists of two lengths as ones of which only a run knows the length."""
    if merge.alike(merge.parts(true)[0], merge.parts(false)[0]):
        return true, false
    ends = []
    for frame, own, other in zip(outs.frames, (true, false), (false, true), strict=True):
        with outs.builder.inner(frame):
            ends.append(grown.begun(outs.builder, own, other))
    return (true, false) if None in ends else (ends[0], ends[1])


def _partial(outs: Outputs, joined: Any, cell: Cell, true: Any, false: Any, where: Any) -> Any:
    there = merge.is_there(true), merge.is_there(false)
    if there[0] is True and there[1] is False:
        return _Partial(joined, outs.condition, cell.name, where)
    if there[0] is False and there[1] is True:
        return _Partial(joined, outs.builder.negation(outs.condition), cell.name, where)
    outs.add(*there, (), "bool")
    return _Partial(joined, None, cell.name, where)


def _join_tree(outs: Outputs, cell: Cell, tree: Any, true: Iterator[Any], false: Iterator[Any], where: Any) -> Any:
    if isinstance(tree, nested.Nest):
        children = [_join_tree(outs, cell, c, true, false, where) for c in tree.children]
        return tree._replace(children=tuple(children))
    if tree is not nested.LEAF:
        return tree
    t, f = next(true), next(false)
    if t is f or merge.is_same_number(t, f):
        return nested.Static(t)
    try:
        shape, dtype = merge.join(*outs.final(t, f), any_size=outs.builder.unknown is not None)
        if None in shape and any(frame.holds for frame in outs.frames):
            shape = outs.agreed(shape, *outs.final(t, f))
        exact = outs.builder.aliases.decides and cell.name is not EXPRESSION
        if exact and not merge.is_of_kind(*outs.final(t, f), dtype):
            raise merge.Mismatch
    except merge.Mismatch:
        raise branch_mismatch(cell.name, merge.describe(t), merge.describe(f), where) from None
    outs.add(t, f, shape, dtype)
    return nested.LEAF


def _one_sided(outs: Outputs, true: Any, false: Any) -> Any:
    """Return a value that exists in one branch only: zeros stand for it in the other, where nothing reads it.

    None for a value without tensors and numbers, which nothing can stand for.
    """
    missing_true = merge.is_absent(true) or true is None
    structure, leaves = merge.parts(false if missing_true else true)
    if not leaves:
        return None
    for x in leaves:
        kind = merge.natural_dtype(x)
        shape = tuple(x._payload.shape) if isinstance(x, Tensor) else ()
        outs.add(None if missing_true else x, x if missing_true else None, shape, kind)
    return structure


def _restore(structure: Any, tensors: Iterator[Any]) -> Any:
    if isinstance(structure, _Partial):
        value = nested.unflatten(structure.structure, tensors)
        flag = next(tensors)._payload if structure.flag is None else structure.flag
        return merge.with_presence(value, flag, structure.name, structure.where)
    return nested.unflatten(structure, tensors)


def _emit(builder: Builder, pred: Tensor, outs: Outputs, where: Any) -> list[Tensor]:
    """Return the cond operator in the current frame."""
    true, false = outs.frames
    operands = list(dict.fromkeys([*true.operands, *false.operands]))
    for path, side in zip(outs.paths, (0, 1), strict=True):
        look_for_leaves(path, [p[side] for p in outs.pairs], where)
    for frame, side in zip(outs.frames, (0, 1), strict=True):
        finish(frame, operands, [p[side] for p in outs.pairs])
    bound = control.cond(true.block, false.block)
    grad = any(v.requires_grad for v in true.block.outputs + false.block.outputs)
    inputs = (builder.value_of(pred), *operands)
    differ = any(None in shape for shape, _ in outs.specs) or builder.finds_sizes(bound)
    values = builder.append_measured(bound, inputs, outs.named()) if differ else builder.emit(bound, inputs, grad)
    next(op for op in reversed(builder.frame.block.ops) if op.bound is bound).where = where
    for value, (a, b), number in zip(values, outs.pairs, outs.are_numbers, strict=True):
        value.requires_grad, value.is_number = a.requires_grad or b.requires_grad, number
    outs.sides = dict(zip(values, outs.pairs, strict=True))
    return [builder.handle(v) for v in values]


def finish(
    frame: Frame, operands: list[TracedValue], outputs: list[TracedValue], leading: list[TracedValue] | None = None
) -> None:
    """Close a frame: its inputs in the order of `operands`, after the leading ones that it already has."""
    lifted = set(frame.lifted.values())
    inner = dict(zip(frame.operands, [v for v in frame.block.inputs if v in lifted], strict=True))
    inputs: list[Any] = list(leading or [])
    for outer in operands:
        made = inner.get(outer) or TracedValue(outer.shape, outer.dtype, frame, outer.requires_grad)
        inputs.append(made)
    frame.block.inputs = inputs
    frame.block.outputs = list(outputs)
    frame.closed = True
