"""Views: handles whose elements are those of another tensor, so that a change of either shows in both.

Payloads are immutable, so a view has a payload of its own, and knows its root (the tensor that has the storage) and the
steps that lead there. A root knows its views by weak references. What is written into a view is put back into the root
by an op, which gradients flow through, and then the other views take their elements anew. Tensors that `detach()` gave
are *mates*: roots with the same payload, each with its own place in the graph.

Views are made in each forward pass, and seldom written to. So making one only notes how it was made: the code that
calls ops sets `_view` and adds a weak reference, and all else is found out when something is written.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.arrays import Handle
from ..core.interpreter import no_grad, state
from ..core.memo import Memo
from ..registry.op import REGISTRY
from ..registry.view import ViewStep
from .pending import payload_of
from .view_layout import can_lie, layout, row_major, start

# Views of a root that are noted before dead ones are looked for.
MANY = 64
# Steps of a view before they are made one.
MAX_STEPS = 8
_ref: Any = weakref.ref


class View(NamedTuple):
    """The content of `_view` as a plain tuple: the root, the last step, and `_view` of what that step was made on."""

    root: Any
    bound: Any
    others: tuple[Any, ...]
    before: Any


class Viewers(list[Any]):
    """Weak references to the views of a root. The mates of a root, itself among them, share one list of their own."""

    limit = MANY
    mates: Viewers | None = None

    def add(self, view: Handle) -> None:
        """Note one more view."""
        if len(self) >= self.limit:
            self.forget()
        self.append(_ref(view))

    def forget(self) -> None:
        """Let those go that are no more."""
        self[:] = [r for r in self if r() is not None]
        self.limit = max(MANY, 2 * len(self))


def steps(view: Any) -> list[ViewStep]:
    """Return the steps from the root to a view."""
    found = []
    while view is not None:
        found.append(ViewStep(view[1], view[2]))
        view = view[3]
    return found[::-1]


def root_of(x: Handle) -> Handle:
    """Return the tensor that has the storage of x."""
    return x if x._view is None else x._view[0]


def family(x: Handle) -> list[Handle]:
    """Return the root of x, and the other roots of the same elements."""
    root = root_of(x)
    return [root, *_mates(root)]


def shares_with(x: Handle, ids: set[int]) -> bool:
    """Whether x is on the storage of one of the roots with these ids."""
    if x._view is None and x._views is None:
        return id(x) in ids
    return any(id(r) in ids for r in family(x))


# -- making views ----------------------------------------------------------------------------------------------------
def note(x: Handle, made: Handle) -> None:
    """Tell the root of x of a view of x, in which `_view` says how x gave it."""
    parent = x._view
    if parent is None:
        _viewers(x).add(made)
        return
    root, bound, others = parent[0], made._view[1], made._view[2]
    depth, at = 2, parent[3]
    while at is not None:
        depth, at = depth + 1, at[3]
    if not (bound.views.anywhere or _stays(payload_of(root), bound, others, parent)):
        made._view = None  # a copy, as the reference makes one
        return
    one = None
    if depth > MAX_STEPS:
        one = _in_one(payload_of(root), [*steps(parent), ViewStep(bound, others)])
    made._view = (root, bound, others, parent) if one is None else (root, *one, None)
    viewers = root._views
    (_viewers(root) if viewers is None else viewers).add(made)


def _stays(root: Any, bound: Any, others: tuple[Any, ...], parent: Any) -> bool:
    """Whether what an op makes of a view can be a view too, by how the elements of that lie."""
    key, at = [root.shape, root.dtype, bound], parent
    while at is not None:
        key.append(at[1])
        at = at[3]
    found = _in_place.get(tuple(key))
    if found is None:
        found = _in_place.put(tuple(key), can_lie(root, [*steps(parent), ViewStep(bound, others)]))
    return found


def _in_one(root: Any, path: list[ViewStep]) -> ViewStep | None:
    """The steps to a view as one, so that `x = x[1:]` again and again is no ever longer path; None if it cannot be."""
    if not all(isinstance(n, int) for n in (*root.shape, *[o for step in path for o in step.others])):
        return None
    seen, item = layout(root, path), root.dtype.itemsize
    if seen.dtype != root.dtype:
        return None
    strides = tuple([s // item for s in seen.strides])
    return ViewStep(REGISTRY["as_strided"].bind((seen.shape, strides, start(seen) * item)))


def _viewers(root: Handle) -> Viewers:
    if root._views is None:
        root._views = Viewers()
    return root._views


def link(x: Any, made: Any, bound: Any, others: tuple[Any, ...]) -> None:
    """Note that a view op has made a tensor, or a tuple of them, from the tensor x."""
    try:
        viewers = x._views
    except AttributeError:  # an array
        return
    if others:  # an index may be changed later; the view stays where it is
        others = others if others[0].__class__ is int and len(others) == 1 else tuple(map(_freeze_index, others))
    if made.__class__ not in (tuple, list):
        made._view = (x, bound, others, None)
        if viewers is None or len(viewers) >= viewers.limit:
            note(x, made)
        else:
            viewers.append(_ref(made))
        return
    key = bound, len(made), len(payload_of(x).shape)
    each = _each.get(key)
    if each is None:
        each = _each.put(key, [bound.views.each(bound, key[2], i) for i in range(key[1])])
    for part, (one, at) in zip(made, each, strict=True):
        part._view = (x, one, at, None)
        viewers = x._views
        if viewers is None or len(viewers) >= viewers.limit:
            note(x, part)
        else:
            viewers.append(_ref(part))


# Key: shape and dtype of the root, and the bound ops on the way.
_in_place: Memo[Any, bool] = Memo("views of views", 1024)
# Of the op that gives several views, the step to each of them.
# Key: the bound op, the number of results and of dimensions.
_each: Memo[Any, list[ViewStep]] = Memo("views made together", 256)


def _freeze_index(index: Any) -> Any:
    return index if isinstance(index, int) or not hasattr(index, "_twin") else index._twin()


def alias(x: Handle, out: Handle) -> Handle:
    """Make `out`, which has the payload of x, a tensor on the same storage with its own place in the graph."""
    if x._view is not None:
        root = x._view[0].detach()
        out._view = (root, *x._view[1:])
        _viewers(root).add(out)
        return out
    viewers = x._views
    if viewers is None:
        viewers = x._views = Viewers()
    mates = viewers.mates
    if mates is None:
        mates = viewers.mates = Viewers()
        mates.append(_ref(x))
    if len(mates) >= mates.limit:
        mates.forget()
    mates.append(_ref(out))
    out._views = viewers = Viewers()
    viewers.mates = mates
    return out


def find_sharing(tensors: list[Handle]) -> tuple[Any, ...]:
    """Which of some tensors share elements with an earlier one or with their root among them: (index of that, steps).

    None for the others; nothing at all where there are none.
    """
    if all(t._view is None and t._views is None for t in tensors):
        return ()
    groups: dict[int, int] = {}
    for i, t in enumerate(tensors):
        if t._view is None:
            groups.setdefault(id(t), i)
            for mate in _mates(t):
                groups.setdefault(id(mate), i)
    found = tuple([_place(i, t, groups) for i, t in enumerate(tensors)])
    return found if any(f is not None for f in found) else ()


def _place(i: int, x: Handle, groups: dict[int, int]) -> tuple[int, tuple[ViewStep, ...]] | None:
    path = steps(x._view)
    at = groups.get(id(x if x._view is None else x._view[0]), i)
    fixed = all(isinstance(o, int) for step in path for o in step.others)
    return (at, tuple(path)) if at != i and fixed else None


def share(tensors: list[Handle], found: tuple[Any, ...]) -> None:
    """Tie tensors to each other as shared() found it of others."""
    for x, place in zip(tensors, found, strict=False):
        if place is None:
            continue
        root = tensors[place[0]]
        if not place[1]:
            alias(root, x)
            continue
        view = None
        for step in place[1]:
            view = (root, *step, view)
        x._view = view
        _viewers(root).add(x)


# -- writing ---------------------------------------------------------------------------------------------------------
def write(x: Handle, new: Handle) -> None:
    """Make a tensor that shares its elements `new`, of the same shape, and show that in what shares them."""
    if x._view is None:
        x._become(new)
        _update_views(x)
        return
    root, path = x._view[0], steps(x._view)
    if state.grad_enabled and not root.stop_gradient and root.is_leaf:
        # The data of a leaf change, and it remains one.
        x._become(new)
        with no_grad():
            _write_back(x, root, path, new)
        return
    _write_back(x, root, path, new)


def _write_back(x: Handle, root: Handle, path: list[ViewStep], new: Handle) -> None:
    root._become(_write_through(root, path, new))
    if any(step.rule.overlaps for step in path):
        _update_views(root)
        return
    x._become(new)
    _update_views(root, x)


def replaced(x: Handle) -> None:
    """The same where x has its new payload already, past the graph."""
    with no_grad():
        write(x, x)


def _write_through(root: Handle, path: list[ViewStep], new: Handle) -> Handle:
    """Return the root with the elements of a view replaced."""
    seen = [root]
    for step in path[:-1]:
        seen.append(_apply_step(seen[-1], step))
    for x, step in zip(reversed(seen), reversed(path), strict=True):
        new = step.rule.back(x, new, step)
    return new


def _apply_step(x: Handle, step: ViewStep) -> Handle:
    return state.interpreter.run(step.bound, (x, *step.others))


def _live(viewers: Viewers | None) -> list[Handle]:
    return [] if viewers is None else [v for r in list(viewers) if (v := r()) is not None]


def _mates(root: Handle) -> Iterator[Handle]:
    if root._views is not None and root._views.mates is not None:
        yield from [m for r in root._views.mates if (m := r()) is not None and m is not root]


def _update_views(root: Handle, but: Handle | None = None) -> None:
    """Show the elements of a root in its views, and in its mates and their views."""
    _refresh(root, but)
    with no_grad():
        for mate in _mates(root):
            if state.interpreter.sees(mate):
                mate._become(root)
                _refresh(mate)
    if root._views is not None and not _live(root._views) and not any(True for _ in _mates(root)):
        root._views = None


def _refresh(root: Handle, but: Handle | None = None) -> None:
    for view in _live(root._views):
        if view is not but and view._view is not None and state.interpreter.sees(view):
            seen = root
            for step in steps(view._view):
                seen = _apply_step(seen, step)
            view._become(seen)


# -- other storage ---------------------------------------------------------------------------------------------------
def reshaped(x: Handle, new: Handle, hidden: Handle) -> None:
    """Make x, in place, `new` of another shape or dtype: on its own storage where `new` is a view of x.

    Arguments:
        hidden: a handle on what x was, which the views of x have for their root from now on.
    """
    view, root = new._view, x if x._view is None else x._view[0]
    stays = view is not None and view[0] is root
    if x._view is not None:
        _tie(x, "_view", view if stays else None)
    elif _hand_over(x, new, hidden) and stays:
        _tie(x, "_view", (hidden, *view[1:]))
    x._become(new)
    if x._view is not None:
        _viewers(x._view[0]).add(x)


def _hand_over(x: Handle, new: Handle, hidden: Handle) -> bool:
    """Let the hidden handle be the root in the place of x; False if nothing shares the elements of x."""
    viewers = x._views
    _tie(x, "_views", None)
    if viewers is None:
        return False
    others, mates = [v for v in _live(viewers) if v is not new], viewers.mates
    if mates is not None:
        mates[:] = [r for r in mates if r() is not None and r() is not x]
    if not others and not mates:
        return False
    if mates is not None:
        mates.append(_ref(hidden))
    hidden._views = viewers
    for view in others:
        _tie(view, "_view", (hidden, *view._view[1:]))
    return True


def _tie(x: Handle, name: str, value: Any) -> None:
    state.interpreter.rebound(x, name)
    setattr(x, name, value)


def adopt(x: Handle, source: Handle, hidden: Handle) -> None:
    """Put x on the storage of `source`, a handle just made; what has shared the elements of x keeps them."""
    if x._view is None:
        _hand_over(x, source, hidden)
    _tie(x, "_view", source._view)
    x._become(source)
    if x._view is not None:
        _viewers(x._view[0]).add(x)
    elif source._views is not None and (mates := source._views.mates) is not None:
        mates.append(_ref(x))
        _viewers(x).mates = mates


# -- memory layout ---------------------------------------------------------------------------------------------------
def strides(x: Handle) -> list[int]:
    """Return the number of elements that lie between neighbours along each axis, in memory as the reference has it."""
    if x._view is None:
        return list(row_major(payload_of(x).shape, 1))
    seen = layout(payload_of(x._view[0]), steps(x._view))
    return [s // seen.dtype.itemsize for s in seen.strides]


def shares(x: Handle, other: Handle) -> bool:
    """Whether two tensors have one storage, of which they may show different elements."""
    root, others = (t if t._view is None else t._view[0] for t in (x, other))
    return root is others or any(mate is others for mate in _mates(root))


def offset(x: Handle) -> int:
    """How many bytes of the storage lie before the first element, in memory as the reference has it."""
    return (
        0 if x._view is None else start(layout(payload_of(x._view[0]), steps(x._view))) * payload_of(x).dtype.itemsize
    )


def is_contiguous(x: Handle) -> bool:
    """Whether the elements of a tensor lie one after the other."""
    if x._view is None or not all(isinstance(n, int) for n in payload_of(x).shape):
        return True
    return bool(layout(payload_of(x._view[0]), steps(x._view)).flags.c_contiguous)
