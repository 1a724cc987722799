"""min, max, sum, any, all, sorted, filter and `in`, where tensors are among the elements."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any

from paddle_lite_py.ops.joining import stack
from paddle_lite_py.tensor import Tensor

from .errors import StagingError
from .iterables import elements

_NOTHING = object()


def truth(x: Tensor, what: str) -> Tensor:
    """The truth of a tensor of one element.

    Raises:
        ValueError: it has more.
    """
    if x.size != 1:
        raise ValueError(
            f"{what} asks for the truth of a {x.dtype.name}{x.shape} tensor, which is not defined; use .any() or .all()"
        )
    return x.reshape([]).astype("bool")


def contains(item: Any, container: Any) -> Any:
    """`item in container`."""
    if isinstance(container, Tensor):
        return (container == item).any()
    found: Any = None
    for element in container:
        same = element is item or element == item
        if isinstance(same, Tensor):
            same = truth(same, "`in`")
            found = same if found is None else found.logical_or(same)
        elif same:
            return True
    return False if found is None else found


def fold(method: str) -> Callable[[Iterable[Any]], Any]:
    """any or all; elements after one that decides are not asked for."""
    decides = method == "any"

    def folded(items: Iterable[Any]) -> Any:
        found: Any = None
        for x in elements(items):
            if isinstance(x, Tensor):
                t = truth(x, f"{method}()")
                found = t if found is None else found.logical_or(t) if decides else found.logical_and(t)
            elif bool(x) is decides:
                return decides
        return (not decides) if found is None else found

    return folded


def sum_(items: Iterable[Any], start: Any = 0) -> Any:
    """sum()."""
    if isinstance(items, Tensor):
        return start + items.sum(axis=0).astype(items.dtype)
    total = start
    for x in elements(items):
        total = total + x
    return total


def extreme(original: Callable[..., Any], method: str, pair: str) -> Callable[..., Any]:
    """min or max: of one tensor, of an iterable, or of several arguments."""

    def chosen(*args: Any, key: Any = None, default: Any = _NOTHING) -> Any:
        if len(args) == 1 and isinstance(args[0], Tensor) and key is None and args[0].ndim == 1:
            return getattr(args[0], method)(axis=0)
        items = list(elements(args[0]) if len(args) == 1 else args)
        keys = items if key is None else [key(x) for x in items]
        if not any(isinstance(k, Tensor) for k in keys):
            return _by_known_keys(original, items, keys, default)
        for k in keys:
            if isinstance(k, Tensor):
                truth(k, f"{method}()")
        best, best_key = items[0], keys[0]
        for x, k in zip(items[1:], keys[1:], strict=True):
            if key is None:
                best = getattr(_tensor(best, x), pair)(_tensor(x, best))
            else:
                better = (k > best_key) if method == "max" else (k < best_key)
                best, best_key = _select(better, x, best), _select(better, k, best_key)
        return best

    return chosen


def _by_known_keys(original: Callable[..., Any], items: list[Any], keys: list[Any], default: Any) -> Any:
    more = {} if default is _NOTHING else {"default": default}
    position = original(range(len(items)), key=keys.__getitem__, **({"default": None} if more else {}))
    return default if position is None else items[position]


def _tensor(x: Any, other: Any) -> Any:
    """A number as a tensor like the other."""
    return x if isinstance(x, Tensor) else other * 0 + x


def _select(condition: Any, x: Any, y: Any) -> Any:
    from paddle_lite_py.ops.search import where

    if not isinstance(condition, Tensor):
        return x if condition else y
    if not all(isinstance(v, Tensor | int | float) for v in (x, y)):
        raise StagingError(
            f"which element is chosen depends on a tensor: they must be tensors or numbers, not {_kinds(x, y)}"
        )
    like = x if isinstance(x, Tensor) else y if isinstance(y, Tensor) else condition.astype("float32")
    return where(condition.reshape([]), _tensor(x, like), _tensor(y, like))


def sorted_(items: Iterable[Any], *, key: Any = None, reverse: bool = False) -> list[Any]:
    """sorted(): stable, as Python's."""
    items = list(elements(items))
    keys = items if key is None else [key(x) for x in items]
    if not any(isinstance(k, Tensor) for k in keys):
        order = builtins.sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
        return [items[i] for i in order]
    if len({_kind(x) for x in items}) > 1 or not all(isinstance(x, Tensor | int | float) for x in items):
        raise StagingError(
            f"the order that sorted() finds depends on tensors: elements must be alike, not {_kinds(*items)}; "
            "make them tensors of one shape and dtype"
        )
    ranks = [_rank(k) for k in _alike(keys)]
    order = stack(ranks).argsort(descending=bool(reverse), stable=True)
    found = stack(_alike(items)).index_select(order)
    return [found[i] for i in range(len(items))]


def _rank(key: Tensor) -> Tensor:
    """A key that can be compared: one number."""
    if key.size != 1:
        raise ValueError(f"sorted() compares {key.dtype.name}{key.shape} tensors, which have no order; give it a key")
    return key.reshape([])


def _alike(items: list[Any]) -> list[Tensor]:
    like = next((x for x in items if isinstance(x, Tensor)), None)
    return [_tensor(x, like) for x in items]


def _kind(x: Any) -> Any:
    return (x.dtype.name, tuple(x.shape)) if isinstance(x, Tensor) and x.shape else None


def _kinds(*items: Any) -> str:
    names = [f"{x.dtype.name}{x.shape}" if isinstance(x, Tensor) else type(x).__name__ for x in items]
    return ", ".join(dict.fromkeys(names))


def filter_(function: Any, items: Iterable[Any]) -> Any:
    """filter(), whose choice must be Python's."""

    def keeps(x: Any) -> bool:
        answer = x if function is None else function(x)
        if isinstance(answer, Tensor):
            raise StagingError(
                "what filter() keeps depends on a tensor, so that the number of elements would be known only when the "
                "program runs: choose values instead of leaving them out, e.g. `[v if v > 0 else 0.0 for v in xs]`"
            )
        return bool(answer)

    return builtins.filter(keeps, elements(items))
