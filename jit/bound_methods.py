"""The static methods of objects: an object holds its own, so that they go when it goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_NAME = "_static_methods"  # among the attributes of an object
_NO_ATTRIBUTES: dict[str, Any] = {}


class BoundMethods(dict[int, Any]):
    """The static functions of one object's methods, by identity of what its class has; copies of it begin without."""

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundMethods:
        return BoundMethods()

    def __reduce__(self) -> Any:
        return BoundMethods, ()


def bound_method(static: Any, obj: Any, make: Callable[[], Any]) -> Any:
    """Return the static function of an object's method, made if there is none.

    Arguments:
        static: the static function that the object's class has.
        obj: the object; if it has no `__dict__`, a new static function is made each time.
        make: makes it.
    """
    attributes = getattr(obj, "__dict__", _NO_ATTRIBUTES)
    held = attributes.get(_NAME, {})
    found = held.get(id(static))
    if found is None or found._function.__self__ is not obj:  # a shallow copy has the original's
        found = make()
        if attributes is not _NO_ATTRIBUTES:
            own = {key: method for key, method in held.items() if method._function.__self__ is obj}
            attributes[_NAME] = BoundMethods({**own, id(static): found})
    return found
