"""The only ways to keep what was computed: all are known to caches(), and clear() empties them.

- `Memo`: a dictionary of a limited size, for those who make the key themselves.
- `memo()`: the results of a function by its arguments and the context.
- `IdentityMemo`: what was computed of an object, while that lives.

What is no memo stays: what belongs to an object (`IdentityMap`), and what a process has once (`once()`).

A comment above each (`# Key: ...`) says what its values depend on, all of which the key has.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import cache_checks, small
from .context import context as current_context
from .traced_number import kind

K = TypeVar("K")
V = TypeVar("V")
_ABSENT = object()
_PLAIN = frozenset((str, type(None), CodeType, type))  # of these, equal ones mean the same
_all: weakref.WeakSet[Memo[Any, Any] | IdentityMemo] = weakref.WeakSet()


class CacheUse(NamedTuple):
    """The number of entries of a memo, its limit, and how many were evicted."""

    name: str
    entries: int
    limit: float
    evicted: int


class Memo(dict[K, V]):
    """A dictionary of at most `limit` entries, kept by put(); the one put in longest ago makes room for a new one.

    An entry found by recent() counts as put in again: least recently used goes first where all look-ups are such.
    Looking up as in any dictionary costs what it costs there.

    Arguments:
        name: what caches() calls it.
        limit: how many entries it keeps.
        tiered: its values depend on what NumPy computes (small.most()): it is emptied when that changes.

    Examples:
        >>> cache = Memo("squares", 2)
        >>> for n in (1, 2, 1, 3): _ = cache.recent(n) or cache.put(n, n * n)
        >>> cache, cache.evicted
        ({1: 1, 3: 9}, 1)
    """

    __slots__ = ("__weakref__", "evicted", "limit", "name", "tiered")

    def __init__(self, name: str, limit: int, tiered: bool = False) -> None:
        super().__init__()
        self.name, self.limit, self.tiered, self.evicted = name, limit, tiered, 0
        _all.add(self)

    def put(self, key: K, value: V) -> V:
        """Keep an entry as the newest; returns its value."""
        self.pop(key, None)
        self[key] = value
        while len(self) > self.limit:
            self.evict()
        return value

    def evict(self) -> None:
        """Let the oldest entry go."""
        self.pop(next(iter(self)), None)  # another thread may have been faster
        self.evicted += 1

    def recent(self, key: K) -> V | None:
        """Return the value under a key, which is the newest from now on; None if there is none."""
        value = self.pop(key, None)
        if value is not None:
            self[key] = value
        return value

    __hash__ = object.__hash__  # type: ignore[assignment]


class IdentityMap(dict[int, tuple[weakref.ref[Any], Any]]):
    """Values attached to objects by identity, for as long as these live: for arrays and tensors, which have no `==`.

    Examples:
        >>> import numpy as np
        >>> a, names = np.ones(3), IdentityMap()
        >>> names.put(a, "ones"), names.find(a), names.find(np.ones(3))
        ('ones', 'ones', None)
        >>> del a; len(names)
        0
    """

    __slots__ = ("__weakref__",)
    __hash__ = object.__hash__  # type: ignore[assignment]

    def put(self, obj: Any, value: V) -> V:
        """Keep what belongs to an object; returns it."""
        key = id(obj)  # another object's, once this one is gone
        self[key] = weakref.ref(obj, lambda _: self.pop(key, None)), value
        return value

    def find(self, obj: Any) -> Any:
        """Return the value attached to an object; None if there is none."""
        found = self.get(id(obj))
        return None if found is None else found[1]


class IdentityMemo(IdentityMap):
    """Results computed from objects, by identity; NumPy arrays used as keys become read-only.

    Content is no key: an array that somebody could still write into must not come here. Users' arrays are copied at the
    border (arrays.as_array), and whatever else writes into one that is known here raises.
    """

    __slots__ = ("name",)
    limit, evicted, tiered = float("inf"), 0, False  # as many as live

    def __new__(cls, name: str) -> IdentityMemo:
        """Where caches are checked, one that checks."""
        return super().__new__(_Checked if cache_checks.EVERY else cls)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        _all.add(self)

    def put(self, obj: Any, value: V) -> V:
        """Keep what was computed of an object; returns it."""
        held = obj
        while isinstance(held, np.ndarray):  # a view and its base
            held.flags.writeable, held = False, held.base
        return super().put(obj, value)


class _Checked(IdentityMemo):
    """The same, which looks whether an array still has the content that it was kept for."""

    __slots__ = ("contents",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.contents: dict[int, Any] = {}

    def put(self, obj: Any, value: V) -> V:
        self.contents[id(obj)] = cache_checks.content(obj)
        return super().put(obj, value)

    def get(self, key: Any, default: Any = None) -> Any:
        found = super().get(key, default)
        if found is not default and (obj := found[0]()) is not None and cache_checks.is_due():
            now = cache_checks.content(obj)
            if now is not None and now != self.contents[key]:
                raise cache_checks.StaleError(f"an array was changed after it was kept: {obj!r:.200}")
        return found


def memo(limit: int, context: bool = True) -> Callable[[Callable[..., V]], Callable[..., V]]:
    """Have the results of a function kept, by its arguments and the context that it is called in.

    Arguments are compared by kind: 0.0 and -0.0 are different, and so are 1, 1.0 and True.

    Arguments:
        limit: how many results are kept.
        context: False where the function is pure, so that only the arguments are part of the key.

    Examples:
        >>> @memo(8, context=False)
        ... def text(x):
        ...     return repr(x)
        >>> text(0.0), text(-0.0), text(True), text(1)
        ('0.0', '-0.0', 'True', '1')
    """

    def keeping(function: Callable[..., V]) -> Callable[..., V]:
        # Key: the arguments by kind, and the context.
        results: Memo[Any, V] = Memo(f"results of {function.__qualname__}", limit)
        get, put = results.get, results.put

        @functools.wraps(function)
        def kept(*args: Any) -> V:
            key: Any = args
            if context or not _PLAIN.issuperset(map(type, args)):
                key = args, kind(args), current_context() if context else None
            found: Any = get(key, _ABSENT)
            return put(key, function(*args)) if found is _ABSENT else found

        kept.__dict__["results"] = results
        return kept

    return keeping


def once(function: Callable[..., V]) -> Callable[..., V]:
    """Compute a value once per process for each choice of arguments: a library, a thread, a packaged file, a fact about
    the machine. It is no memo, and stays.

    Examples:
        >>> @once
        ... def thing():
        ...     return object()
        >>> thing() is thing()
        True
    """
    return functools.lru_cache(None, typed=True)(function)


def caches() -> Iterator[CacheUse]:
    """Return the use of each memo of the process.

    Examples:
        >>> all(use.entries <= use.limit for use in caches())
        True
    """
    return (CacheUse(memo.name, len(memo), memo.limit, memo.evicted) for memo in list(_all))


def clear(tiered: bool = False) -> None:
    """Clear all memos: their values are computed again when next needed.

    Arguments:
        tiered: only those whose values depend on what NumPy computes.
    """
    for memo in list(_all):
        if memo.tiered or not tiered:
            memo.clear()


small.on_change(functools.partial(clear, tiered=True))
