"""Which objects a traced body has made itself: their state is no state of the program."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.references import is_shared
from ..eager.tensor import Tensor
from .frame import Write

_IN_A_VARIABLE = 2  # references to the value of a variable: the variable's, and that of the tuple of all values


def find_unescaped(log: list[Write], before: Sequence[Any] = (), after: Sequence[Any] = ()) -> set[int]:
    """Ids of the objects that the body made: only variables that it set refer to them, or other objects that it made.

    Arguments:
        log: what it wrote; each entry refers to its owner.
        before, after: the values of its variables, at its start and at its end.
    """
    known = Counter([id(w.owner) for w in log] + _IN_A_VARIABLE * list(map(id, after)))
    there = {id(v) for v in _within(before)}
    return _without_other_references([*[w.owner for w in log], *after], known, there)


def find_made(
    log: list[Write], before: Sequence[Any] = (), after: Sequence[Any] = (), *, has_open_sizes: bool
) -> set[int]:
    """Return what find_unescaped() does, where what compares open sizes may have left references behind."""
    found = find_unescaped(log, before, after)
    if has_open_sizes and not all(id(w.owner) in found for w in log):
        # JAX leaves errors that refer to themselves, and to all frames below.
        gc.collect(1)
        found = find_unescaped(log, before, after)
    return found


def _without_other_references(queue: list[Any], known: Counter[int], there: set[int]) -> set[int]:
    """Of the objects, and of what they hold, those to which there are no references but the known ones."""
    waiting = Counter(map(id, queue))
    found: set[int] = set()
    while queue:
        obj = queue.pop()
        key = id(obj)
        waiting[key] -= 1
        if key in found or key in there or is_shared(obj, known[key] + waiting[key]):
            continue
        found.add(key)
        size = len(queue)
        queue += _children(obj)
        known.update(map(id, queue[size:]))
        waiting.update(map(id, queue[size:]))
    return found


def _children(obj: Any) -> list[Any]:
    """Return the content of an object."""
    if isinstance(obj, dict):
        return list(obj.values())
    if isinstance(obj, list | tuple | set):
        return list(obj)
    held = getattr(obj, "__dict__", None)
    return list(held.values()) if type(held) is dict and not _is_closed(obj) else []


def _is_closed(obj: Any) -> bool:
    return isinstance(obj, type) or isinstance(obj, Tensor) and obj._dense


def _within(values: Iterable[Any]) -> Iterable[Any]:
    """Yield the values, and what the containers among them hold."""
    for value in values:
        yield value
        if isinstance(value, dict | list | tuple):
            yield from _within(value.values() if isinstance(value, dict) else value)
