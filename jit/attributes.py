"""Builtins that read and write attributes, which do for converted code what `o.name` and `o.name = value` do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from dy2static.operators import Operators
from paddle_lite_py.nn.base import Layer

_MISSING = object()


def functions(operators: Operators) -> dict[Any, Callable[..., Any]]:
    """Return the function to call for a builtin that reads or writes attributes."""
    return {
        setattr: operators.store,
        delattr: operators.remove,
        getattr: functools.partial(_read, operators),
        object.__setattr__: operators.put,
        type.__setattr__: operators.put,
        Layer.__setattr__: operators.put,
        object.__delattr__: operators.take,
        type.__delattr__: operators.take,
        Layer.__delattr__: operators.take,
    }


def of_method(method: Any) -> Any:
    """Return the function of a class that a bound method in C is of: `object.__setattr__` for `super().__setattr__`."""
    return getattr(method.__objclass__, method.__name__, None)


def _read(operators: Operators, obj: Any, name: str, default: Any = _MISSING) -> Any:
    try:
        return operators.attr(obj, name)
    except AttributeError:
        if default is _MISSING:
            raise
        return default
