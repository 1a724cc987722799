"""min, max, sum, any, all, sorted and `in`, where tensors are among the elements."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.errors import user_frame
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.symbolic import is_symbolic
from paddle_lite_py.core.unknown_size import UnknownSize, extreme_size
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.ops.creation import full, zeros_like
from paddle_lite_py.ops.joining import stack
from paddle_lite_py.ops.search import where
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.scalar_arithmetic import DTYPES, KINDS, as_kind, kind_of
from paddle_lite_py.tracing.traced_scalars import as_number, is_number

from . import grown, merge, unrolled
from .errors import StagingError
from .iterables import elements
from .text import StagedText

_NOTHING = object()


def truth(x: Tensor, what: str) -> Tensor:
    """Return the truth of a tensor of one element.

    Raises:
        ValueError: it has more.
    """
    if x.size != 1:
        kind = f"{x.dtype.name}{[*x.shape]}"
        raise ValueError(f"{what} asks for the truth of a {kind} tensor, which is not defined; use .any() or .all()")
    return x.reshape([]).astype("bool")


def known_key(container: Any, key: Any) -> Any:
    """Return a key of a dict or set, which must have a value: that of the call under way, for a traced number.

    Raises:
        DataDependentError: inside of a branch or loop, which then runs as Python.
    """
    if isinstance(container, dict | set) and is_number(key):
        return key._static_number(f"a key of a {type(container).__name__}")
    if isinstance(container, dict | set) and isinstance(key, StagedText):
        return key.known()
    return int(key) if isinstance(container, dict | set) and isinstance(key, UnknownSize) else key


def contains(item: Any, container: Any) -> Any:
    """`item in container`."""
    if isinstance(container, Tensor):
        return as_number((container == item).any())
    if isinstance(container, range):
        return _in_range(item, container)
    if isinstance(container, dict | set | frozenset) and not all(isinstance(k, bool | int | float) for k in container):
        return known_key(container, item) in container
    found: Any = None
    for element in container:
        same = element is item or element == item
        if isinstance(same, Tensor):
            same = truth(same, "`in`")
            found = same if found is None else found.logical_or(same)
        elif same:
            return True
    return False if found is None else as_number(found)


def _in_range(item: Tensor, items: range) -> Any:
    """Whether a range has the item: a test of its bounds."""
    if not items:
        return False
    low, high = min(items[0], items[-1]), max(items[0], items[-1])
    inside: Any = truth((item >= low).logical_and(item <= high), "`in`")
    return as_number(inside.logical_and(truth((item - items[0]) % abs(items.step) == 0, "`in`")))


def fold(method: str) -> Callable[[Iterable[Any]], Any]:
    """any or all; elements after one that decides are not evaluated."""
    decides = method == "any"

    def folded(items: Iterable[Any]) -> Any:
        found: Any = None
        for x in elements(items):
            if isinstance(x, Tensor):
                t = truth(x, f"{method}()")
                found = t if found is None else found.logical_or(t) if decides else found.logical_and(t)
            elif bool(x) is decides:
                return decides
        return (not decides) if found is None else as_number(found)

    return folded


def sum_(items: Iterable[Any], start: Any = 0) -> Any:
    """sum()."""
    if isinstance(items, Tensor):
        return start + items.sum(axis=0).astype(items.dtype)
    if grown.holds(items):
        return start + grown.total(items)
    total = start
    for x in elements(items):
        total = total + x
    return total


def extreme(original: Callable[..., Any], method: str) -> Callable[..., Any]:
    """min or max: of one tensor, of an iterable, or of several arguments."""

    def chosen(*args: Any, key: Any = None, default: Any = _NOTHING) -> Any:
        if len(args) == 1 and isinstance(args[0], Tensor) and key is None and args[0].ndim == 1:
            return getattr(args[0], method)(axis=0)
        items = list(elements(args[0]) if len(args) == 1 else args)
        if key is None and any(map(is_symbolic, items)) and all(isinstance(x, int) or is_symbolic(x) for x in items):
            return functools.reduce(lambda a, b: extreme_size(method, a, b), items)
        items = _with_numbers(items)
        keys = _decisive(items if key is None else [key(x) for x in items])
        if not any(map(_holds_tensor, keys)):
            return _by_known_keys(original, items, keys, default)
        if key is None and all(isinstance(x, Tensor | int | float) for x in items) and not _differ(items):
            return _fold(items, method)
        order = _order(keys, method == "max", f"{method}()")
        return _take_items(items, order[:1], f"which element {method}() chooses")[0]

    return chosen


def _with_numbers(items: list[Any]) -> list[Any]:
    """Return the items; sizes that no trace knows as the traced numbers that they are among others."""
    return [x.number() if isinstance(x, UnknownSize) else x for x in items]


def _by_known_keys(original: Callable[..., Any], items: list[Any], keys: list[Any], default: Any) -> Any:
    more, keys = {} if default is _NOTHING else {"default": default}, _compared(keys)
    position = original(range(len(items)), key=keys.__getitem__, **({"default": None} if more else {}))
    return default if position is None else items[position]


class _Compared:
    """An object of the user's, whose comparisons give tensors: data decide them."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Compared) -> bool:
        return self._answer(self.value < other.value)

    def __gt__(self, other: _Compared) -> bool:
        return self._answer(self.value > other.value)

    def _answer(self, answer: Any) -> bool:
        if not isinstance(answer, Tensor):
            return bool(answer)
        error = StagingError(
            f"the order of {type(self.value).__name__} objects depends on a tensor: give sorted(), min() or max() a key"
        )
        return bool(value_in_this_call(truth(answer, "a comparison"), error))


def _compared(keys: list[Any]) -> list[Any]:
    """Return the keys; objects with comparisons of their own as such that may give tensors."""
    own = any(type(getattr(type(k), "__lt__", None)) is FunctionType for k in keys)
    return [_Compared(k) for k in keys] if own else keys


def _tensor(x: Any, other: Any) -> Any:
    """Return a number as a tensor like the other."""
    return x if isinstance(x, Tensor) else zeros_like(other) + x


def _fold(items: list[Any], method: str) -> Any:
    """Return the smallest or largest of tensors and numbers."""
    if _are_numbers(items):
        return as_number(_fold(_alike(items), method))
    best = items[0]
    for x in items[1:]:
        for t in (best, x):
            if isinstance(t, Tensor):
                truth(t, f"{method}()")
        new, old = _tensor(x, best), _tensor(best, x)
        best = where(new > old if method == "max" else new < old, new, old)  # of equal ones, the first
    return best


def sorted_(items: Iterable[Any], *, key: Any = None, reverse: bool = False) -> list[Any]:
    """sorted(): stable, as Python's."""
    items = _with_numbers(list(elements(items)))
    keys = _decisive(items if key is None else [key(x) for x in items])
    if not any(map(_holds_tensor, keys)):
        keys = _compared(keys)
        order = builtins.sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
        return [items[i] for i in order]
    return _take_items(items, _order(keys, bool(reverse), "sorted()"), "the order that sorted() finds")


def _holds_tensor(key: Any) -> bool:
    return isinstance(key, Tensor) or isinstance(key, tuple) and any(map(_holds_tensor, key))


def _order(keys: list[Any], descending: bool, what: str) -> Tensor:
    """Return the positions of the keys in order; tuples are compared item by item."""
    rows = [k if isinstance(k, tuple) else (k,) for k in keys]
    if len({len(row) for row in rows}) > 1:
        raise StagingError(f"{what} compares tuples that hold tensors: they must be of one length")
    order: Any = None
    for column in list(zip(*rows, strict=True))[::-1]:
        ranks = stack([_rank(k, what) for k in _alike(_numbered(column))])
        ranks = ranks if order is None else ranks.index_select(order)
        found = ranks.argsort(descending=descending, stable=True)
        order = found if order is None else order.index_select(found)
    return order


def _decisive(keys: list[Any]) -> list[Any]:
    """Return the keys; tuples whose first items differ by those alone, for Python does not look at what follows."""
    first = [k[0] if isinstance(k, tuple) and k else None for k in keys]
    known = all(isinstance(k, str | int | float) for k in first)
    return first if known and len(set(first)) == len(first) else keys


def _numbered(column: Sequence[Any]) -> list[Any]:
    """Keys as tensors and numbers; of other values, their place among all of them."""
    if any(isinstance(k, Tensor) for k in column):
        return list(column)
    return [builtins.sorted(set(column)).index(k) for k in column]


def _take_items(items: list[Any], order: Tensor, what: str) -> list[Any]:
    """The items at these positions: new tensors if the items are alike, else the items themselves, for this call."""
    structures, leaves = zip(*map(merge.parts, items), strict=True)
    if all(merge.alike(structures[0], s) for s in structures[1:]):
        columns = [list(column) for column in zip(*leaves, strict=True)]
        if all(len({_kind(x) for x in column}) == 1 and not _differ(column) for column in columns):
            found = [_reorder(column, order) if _varies(column) else column for column in columns]
            return [nested.unflatten(structures[0], iter([f[i] for f in found])) for i in range(order.shape[0])]
    error = StagingError(
        f"{what} depends on tensors: elements must be alike, not {_kinds(*items)}; make them tensors of one shape and "
        "dtype"
    )
    known = value_in_this_call(order, error)
    return [items[i] for i in known]


def _reorder(column: list[Any], order: Tensor) -> Any:
    found: Any = stack(_alike(column)).index_select(order)
    return [as_number(found[i]) for i in range(order.shape[0])] if _are_numbers(column) else found


def value_in_this_call(value: Tensor, error: Exception) -> Any:
    """Return the value in the call under way; the error where there is none."""
    assert isinstance(mode.interpreter, Builder)
    return unrolled.value_in_this_call(mode.interpreter, value, error, user_frame())


def _varies(column: list[Any]) -> bool:
    return any(x is not column[0] for x in column)


def _rank(key: Any, what: str) -> Tensor:
    """Return a key that can be compared: one number."""
    if key.size != 1:
        raise ValueError(f"{what} compares {key.dtype.name}{[*key.shape]} tensors, which have no order; give it a key")
    return key.reshape([])


def _alike(items: list[Any]) -> list[Tensor]:
    """Tensors and numbers as tensors."""
    if _are_numbers(items):
        kind = max(map(kind_of, items), key=KINDS.index)
        return [full([], 0, DTYPES[kind]) + as_kind(x, kind) for x in items]
    like = next((x for x in items if isinstance(x, Tensor)), None)
    return [full([], x) if like is None else _tensor(x, like) for x in items]


def _kind(x: Any) -> Any:
    return (x.dtype.name, tuple(x.shape)) if isinstance(x, Tensor) and x.shape else None


def _are_numbers(items: Sequence[Any]) -> bool:
    """True for numbers of Python, of which some may be traced."""
    return all(map(merge.is_number_like, items))


def _differ(items: Sequence[Any]) -> bool:
    """True for numbers of several types: which one is chosen decides the type of the result."""
    return _are_numbers(items) and len(set(map(kind_of, items))) > 1


def _kinds(*items: Any) -> str:
    names = [f"{x.dtype.name}{[*x.shape]}" if isinstance(x, Tensor) else type(x).__name__ for x in items]
    return ", ".join(dict.fromkeys(names))
