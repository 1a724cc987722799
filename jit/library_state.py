"""The content of standard-library objects whose internals are unknown: queues, weak dictionaries, ..."""

from __future__ import annotations

import types
from typing import Any, NamedTuple

from paddle_lite_py.tracing.places import KINDS, MISSING, copy_of, is_as, namespace, refill, set_item

# Types of what moves on when it is read. Files do so too, but not unseen.
_SOME: list[Any] = [[], (), {}, {}.values(), {}.items(), set(), "", b"", range(1), range(1 << 99)]
_ITERATORS: tuple[Any, ...] = (
    *{type(iter(v)) for v in _SOME},
    *{type(reversed(v)) for v in _SOME if hasattr(v, "__reversed__")},
    *(types.GeneratorType, type(iter(int, 1)), enumerate, filter, map, zip),
)
_HOLDS = ("__len__", "__getitem__", "__contains__", "qsize")


def is_iterator(value: Any) -> bool:
    """Whether a value moves on when it is read, by code that is not converted.

    Example:
        >>> is_iterator(iter([])), is_iterator([])
        (True, False)
    """
    return isinstance(value, _ITERATORS) or type(value).__module__ == "itertools"


def is_container(value: Any) -> bool:
    """Whether an object holds things that are put there."""
    return any(hasattr(type(value), name) for name in _HOLDS)


class LibraryState(NamedTuple):
    """The content of an object: its attributes, the items of containers among them, and what C code keeps."""

    obj: Any
    attributes: dict[str, Any]
    contents: list[tuple[Any, Any]]
    reduced: Any
    name: str

    @classmethod
    def of(cls, obj: Any, name: str) -> LibraryState:
        """Return the state of an object as it is."""
        held = dict(namespace(obj))
        contents = [(c, copy_of(c)) for c in held.values() if isinstance(c, KINDS)]
        return cls(obj, held, contents, None if held else _reduced(obj), name)

    @property
    def value(self) -> tuple[Any, ...]:
        """Return the values of its attributes."""
        return tuple(self.attributes.values())

    def holds(self) -> bool:
        """True if it still is what it was."""
        now, then = namespace(self.obj), self.attributes
        same = len(now) == len(then) and all(now.get(k, MISSING) is v for k, v in then.items())
        same = same and all(is_as(c, content) for c, content in self.contents)
        return same and (self.reduced is None or _are_equal(_reduced(self.obj), self.reduced))

    def change(self) -> str:
        """Describe what changed."""
        return f"what {self.name}, a {type(self.obj).__name__}, holds changed"

    def put_back(self) -> None:
        """Have the object hold it again, if C code that keeps it lets others set it."""
        now, then = namespace(self.obj), self.attributes
        for key in [*then, *now]:
            if now.get(key, MISSING) is not then.get(key, MISSING):
                set_item(now, key, then.get(key, MISSING))
        for container, content in self.contents:
            refill(container, content)
        if self.reduced is not None and not self.holds() and hasattr(self.obj, "__setstate__"):
            self.obj.__setstate__(self.reduced[-1])


def _reduced(obj: Any) -> Any:
    """Return the state that a copy of a C object is made of; None if there is none."""
    if is_iterator(obj):
        return None
    try:
        found = obj.__reduce_ex__(2)
    except Exception:  # locks, files, what the system gives
        return None
    return None if isinstance(found, str) else found[1:3]


def _are_equal(now: Any, then: Any) -> bool:
    try:
        return bool(now == then)
    except Exception:  # of what cannot be compared nothing is known
        return True
