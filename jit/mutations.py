"""Methods of lists, dicts, sets and deques, in a trace: what they change is noted before."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.tracing.builder import Builder

from . import sequences

CONTAINERS = (list, dict, set, collections.deque)
_MUTATORS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard move_to_end appendleft "
    "extendleft popleft rotate".split()
)


def method_of_container(method: Any) -> Callable[..., Any] | None:
    """The form of a bound method that notes what it changes, or looks up a key that is a traced number."""
    if method.__name__ in _MUTATORS:
        return functools.partial(_mutate, method)
    return functools.partial(_look_up, method) if method.__name__ == "get" else None


def _look_up(method: Any, key: Any, *default: Any) -> Any:
    return method(sequences.known_key(method.__self__, key), *default)


def _mutate(method: Any, *args: Any, **kwargs: Any) -> Any:
    if args and not isinstance(method.__self__, list):
        args = (sequences.known_key(method.__self__, args[0]), *args[1:])
    builder, sorts = mode.interpreter, method.__name__ == "sort"
    if isinstance(builder, Builder):
        builder.contents_written(method.__self__)
        if not kwargs:
            builder.replay(method.__self__, method.__name__, args)
    if sorts and isinstance(builder, Builder):
        method.__self__[:] = sequences.sorted_(method.__self__, **kwargs)
        return None
    return method(*args, **kwargs)
