"""Mutating calls of lists, dicts, arrays and their like, in a trace: the content is noted before."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.places import KINDS, copy_of, is_as
from paddle_lite_py.tracing.traced_scalars import is_number, known

from . import grown, sequences, watched

# Containers of the standard library that hold others, and where.
WRAPPERS = (collections.UserDict, collections.UserList, collections.ChainMap)
# Modules whose functions may change their arguments, and those whose methods may.
_WATCHED = frozenset({"bisect", "_bisect", "heapq", "_heapq", "operator", "_operator", "random"})
_OF_CLASSES = frozenset({"collections", "collections.abc"})
_SEARCHES = frozenset({"index", "count", "remove"})  # of sequences, by `==`
_MUTATORS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard move_to_end appendleft "
    "extendleft popleft rotate frombytes fromlist fromfile byteswap fill put itemset partition resize "
    "difference_update intersection_update symmetric_difference_update __setitem__ __delitem__ __iadd__ __isub__ "
    "__imul__ __ior__ __iand__ __ixor__ __init__".split()
)
_TAKE_ITEMS = frozenset({"extend", "extendleft", "update", "subtract"})


def of_class(method: Any) -> Any:
    """The form of a method of a container as a function of the container too: `Counter.update`, `list.append`."""
    return lambda owner, *args, **kwargs: _mutate(method.__get__(owner), *args, **kwargs)


def changing(f: Any) -> Callable[..., Any] | None:
    """Return the form of a function that may change containers among its arguments; None for any other function."""
    if getattr(f, "__objclass__", None) in KINDS and f.__name__ in _MUTATORS:
        return of_class(f)
    module = getattr(f, "__module__", None)
    if module in _WATCHED or (module in _OF_CLASSES and "." in f.__qualname__):
        return functools.wraps(f)(functools.partial(_watched, f))
    return None


def contents_of(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the containers among the values, and those in their wrappers."""
    for value in values:
        if isinstance(value, KINDS):
            yield value
        elif isinstance(value, WRAPPERS):
            held = vars(value)
            yield from contents_of(held.get("maps", ()) or [held.get("data")])


def _watched(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function, and note what it has changed."""
    builder = mode.interpreter
    if not isinstance(builder, Builder):
        return f(*args, **kwargs)
    before = [(container, copy_of(container)) for container in contents_of(args)]
    try:
        return watched.form_of(f)(*args, **kwargs)
    finally:
        for container, held in before:
            if not is_as(container, held):
                builder.contents_written(container, held)


def method_of_container(method: Any) -> Callable[..., Any] | None:
    """Return the form of a bound method that notes what it changes, or looks up a key that is a traced number."""
    if method.__name__ in _SEARCHES and isinstance(method.__self__, list | tuple | collections.deque):
        return functools.partial(_search, method)
    if method.__name__ in _MUTATORS:
        return functools.partial(_mutate, method)
    return functools.partial(_look_up, method) if method.__name__ == "get" else None


def _look_up(method: Any, key: Any, *default: Any) -> Any:
    return method(sequences.known_key(method.__self__, key), *default)


def _search(method: Any, item: Any, *bounds: Any) -> Any:
    """index(), count() or remove(), of numbers by the values of this call."""
    owner, removes = method.__self__, method.__name__ == "remove"
    if grown.holds(owner):
        raise grown.unknown_length(f"`{method.__name__}`")
    if not (is_number(item) or any(map(is_number, owner))):
        return _mutate(method, item) if removes else method(item, *bounds)
    found = getattr(list(map(known, owner)), "index" if removes else method.__name__)(known(item), *bounds)
    if not removes:
        return found
    if isinstance(mode.interpreter, Builder):
        mode.interpreter.contents_written(owner)
    del owner[found]
    return None


def _mutate(method: Any, *args: Any, **kwargs: Any) -> Any:
    if args and isinstance(method.__self__, dict | set | collections.deque):
        args = (sequences.known_key(method.__self__, args[0]), *args[1:])
    builder, sorts = mode.interpreter, method.__name__ == "sort"
    if isinstance(builder, Builder):
        if method.__name__ in _TAKE_ITEMS:  # each run may need them again
            args = tuple([list(a) if isinstance(a, Iterator) else a for a in args])
        builder.contents_written(method.__self__)
        if not kwargs:
            builder.replay(method.__self__, method.__name__, args)
    if grown.holds(method.__self__):
        return grown.changed(method.__self__, method.__name__, args)
    if sorts and isinstance(builder, Builder):
        method.__self__[:] = sequences.sorted_(method.__self__, **kwargs)
        return None
    return method(*args, **kwargs)
