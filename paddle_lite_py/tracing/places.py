"""Attributes, items and contents of Python objects, read and written past the methods of the user's classes."""

from __future__ import annotations

import array
from collections import OrderedDict, deque
from types import FunctionType, MemberDescriptorType
from typing import Any

import numpy as np

from ..core.errors import is_own

# Types that are changed in place; an OrderedDict is a dict as well, but has its own order.
KINDS = (OrderedDict, dict, list, set, deque, bytearray, array.array, np.ndarray)


_GET: Any = object.__getattribute__
_SET: Any = object.__setattr__


class _Missing:
    def __repr__(self) -> str:
        return "<missing>"


MISSING = _Missing()


# -- attributes ----------------------------------------------------------------------------------------------------
def of_class(obj: Any, name: str) -> Any:
    """Return the raw attribute of an object's class; None if there is none.

    Example:
        >>> of_class(1.5, "real")
        <attribute 'real' of 'float' objects>
    """
    for c in type(obj).__mro__:
        if name in c.__dict__:
            return c.__dict__[name]
    return None


def is_users(method: Any) -> bool:
    """Whether a method is Python code, but none of the framework's; of what wraps a method, that counts."""
    method = getattr(method, "__wrapped__", method)
    return type(method) is FunctionType and not is_own(method.__code__.co_filename)


def namespace(obj: Any) -> Any:
    """Return the attributes that an object itself holds, in its dict; empty if it has none.

    Example:
        >>> namespace(3)
        {}
    """
    own: Any = type(obj).__getattribute__
    if own is not _GET and not is_users(own):
        return getattr(obj, "__dict__", {})
    try:
        return _GET(obj, "__dict__")
    except AttributeError:
        return {}


def attribute(obj: Any, name: str) -> Any:
    """Return the attribute of an object itself; MISSING if it comes from the class.

    Nothing of the user's is run for it, no property and no `__getattr__`: Python runs none where an attribute is set.
    """
    held, classes = namespace(obj), type(obj).__mro__
    if name in held:
        return held[name]
    for c in classes:
        if name in vars(c):
            return _slot(obj, vars(c)[name])
    own = next((f for c in classes if (f := vars(c).get("__getattr__")) and is_own(f.__code__.co_filename)), None)
    try:
        return MISSING if own is None else own(obj, name)
    except AttributeError:
        return MISSING


def _slot(obj: Any, found: Any) -> Any:
    try:
        return found.__get__(obj, type(obj)) if type(found) is MemberDescriptorType else MISSING
    except AttributeError:
        return MISSING


def set_attribute(obj: Any, name: str, value: Any) -> None:
    """Put a value into the dict or slot of an object; MISSING removes it."""
    method, held = _method(obj, "__setattr__"), namespace(obj)
    if name in held and method is _SET:  # also what a descriptor of the class hides
        if value is MISSING:
            del held[name]
        else:
            held[name] = value
    elif value is not MISSING:
        method(obj, name, value)
    elif attribute(obj, name) is not MISSING:
        _method(obj, "__delattr__")(obj, name)


def delete_attribute(obj: Any, name: str) -> None:
    """Remove what an object holds itself.

    Raises:
        AttributeError: there is nothing.
    """
    _method(obj, "__delattr__")(obj, name)


def _method(obj: Any, name: str) -> Any:
    """Return the method that sets or removes attributes, but for those of the user's classes."""
    own = getattr(type(obj), name)
    if own is _SET or not is_users(own):
        return own
    return next(m for c in type(obj).__mro__ if (m := vars(c).get(name)) is not None and not is_users(m))


# -- items ---------------------------------------------------------------------------------------------------------
def kind_of(container: Any) -> Any:
    """Return the type in KINDS that a container is of, whose methods are used; its own type for anything else.

    Example:
        >>> class Own(dict): ...
        >>> kind_of(Own()), kind_of(3)
        (<class 'dict'>, <class 'int'>)
    """
    kind = type(container)
    if kind is dict or kind is list or kind in KINDS or _is_frameworks(kind.__dict__.get("__getitem__")):
        return kind
    return next((k for k in KINDS if isinstance(container, k)), kind)


def _is_frameworks(method: Any) -> bool:
    return type(method) is FunctionType and not is_users(method)


def item(container: Any, key: Any) -> Any:
    """Return an item, or MISSING."""
    if type(container) is dict:
        return container.get(key, MISSING)
    kind = kind_of(container)
    try:
        # There `get` calls no `__missing__`.
        return kind.get(container, key, MISSING) if kind in KINDS[:2] else kind.__getitem__(container, key)
    except (KeyError, IndexError):
        return MISSING


def set_item(container: Any, key: Any, value: Any) -> None:
    """Set an item; MISSING removes it."""
    if value is not MISSING:
        kind_of(container).__setitem__(container, key, value)
    elif item(container, key) is not MISSING:
        kind_of(container).__delitem__(container, key)


# -- contents ------------------------------------------------------------------------------------------------------
def copy_of(container: Any) -> Any:
    """Return all that a container holds, in one of the plain kind.

    Example:
        >>> copy_of(deque([1, 2])), copy_of(bytearray(b"a"))
        (deque([1, 2]), bytearray(b'a'))
    """
    if isinstance(container, OrderedDict):
        return OrderedDict(OrderedDict.items(container))
    if isinstance(container, array.array):
        return container[:]
    return kind_of(container).copy(container)


def refill(container: Any, held: Any) -> None:
    """Have a container hold what another one holds."""
    kind = kind_of(container)
    if kind in (array.array, bytearray, list):
        kind.__setitem__(container, slice(None), held)
    elif kind is np.ndarray:
        container[...] = held
    else:
        kind.clear(container)
        (kind.extend if kind is deque else kind.update)(container, held)


def is_as(container: Any, held: Any) -> bool:
    """Whether a container holds the very things that another one does, in that order but for sets: a copy has another.

    Example:
        >>> is_as([1, 2], [1, 2]), is_as({1: 2}, {})
        (True, False)
    """
    if isinstance(container, np.ndarray):
        return container.tobytes() == held.tobytes()
    if isinstance(container, (bytearray, array.array)):
        return bool(container == held)
    now, then = list(_parts(container)), list(_parts(held))
    if isinstance(container, set):
        return set(map(id, now)) == set(map(id, then))
    return len(now) == len(then) and all(a is b for a, b in zip(now, then, strict=True))


def _parts(container: Any) -> Any:
    if isinstance(container, dict):
        kind = kind_of(container)
        return [*kind.keys(container), *kind.values(container)]
    return kind_of(container).__iter__(container)
