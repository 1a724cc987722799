"""The two caches of this package: one of a limited size, and one that knows objects by identity while they live."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

from . import cache_checks

K = TypeVar("K")
V = TypeVar("V")


class CacheUse(NamedTuple):
    """What a cache holds, may hold, and has let go."""

    name: str
    entries: int
    limit: int
    evicted: int


class BoundedCache(dict[K, V]):
    """A dictionary of at most `limit` entries, kept by put(); the one put in longest ago makes room for a new one.

    An entry found by recent() counts as put in again: least recently used goes first where all look-ups are such.
    Looking up as in any dictionary costs what it costs there.

    Examples:
        >>> cache = BoundedCache("squares", 2)
        >>> for n in (1, 2, 1, 3): _ = cache.recent(n) or cache.put(n, n * n)
        >>> cache, cache.evicted
        ({1: 1, 3: 9}, 1)
    """

    __slots__ = ("__weakref__", "evicted", "limit", "name")

    def __init__(self, name: str, limit: int) -> None:
        super().__init__()
        self.name, self.limit, self.evicted = name, limit, 0
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
        """The value under a key, which is the newest from now on; None if there is none."""
        value = self.pop(key, None)
        if value is not None:
            self[key] = value
        return value

    __hash__ = object.__hash__  # type: ignore[assignment]


_all: weakref.WeakSet[BoundedCache[Any, Any]] = weakref.WeakSet()


def caches() -> Iterator[CacheUse]:
    """What each bounded cache of the process holds.

    Examples:
        >>> all(use.entries <= use.limit for use in caches())
        True
    """
    return (CacheUse(cache.name, len(cache), cache.limit, cache.evicted) for cache in list(_all))


class IdentityCache(dict[int, tuple[weakref.ref[Any], Any]]):
    """What is known of objects, by identity, for as long as they live: for arrays, which are not hashable.

    Examples:
        >>> import numpy as np
        >>> a, known = np.ones(3), IdentityCache()
        >>> known.put(a, "ones"), known.find(a), known.find(np.ones(3))
        ('ones', 'ones', None)
        >>> del a; len(known)
        0
    """

    __slots__ = ()

    def __new__(cls) -> IdentityCache:
        """Where caches are checked, one that checks."""
        return super().__new__(_Checked if cache_checks.EVERY else cls)

    def put(self, obj: Any, value: V) -> V:
        """Keep what is known of an object; returns it."""
        key = id(obj)  # another object's, once this one is gone
        self[key] = weakref.ref(obj, lambda _: self.pop(key, None)), value
        return value

    def find(self, obj: Any) -> Any:
        """What is known of an object; None if nothing."""
        found = self.get(id(obj))
        return None if found is None else found[1]


class _Checked(IdentityCache):
    """The same, which looks whether an array still has the content that it was kept for."""

    __slots__ = ("contents",)

    def __init__(self) -> None:
        super().__init__()
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
