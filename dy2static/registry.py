"""Which code objects conversions made."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

_OPTIMIZED = 1  # the flag of a function's code, which the body of a class lacks


class ByIdentity:
    """A table keyed by the identity of code objects, whose entries go when the code objects do.

    Code objects compare by value, so that two functions of equal text would share an entry of a plain dictionary.

    Example:
        >>> table = ByIdentity()
        >>> table.put((lambda: 1).__code__, "one")  # dies at once
        >>> len(table)
        0
    """

    def __init__(self) -> None:
        self._table: dict[int, tuple[weakref.ref[types.CodeType], Any]] = {}

    def __len__(self) -> int:
        return len(self._table)

    def get(self, code: types.CodeType) -> Any:
        """Return the entry of the code, or None."""
        found = self._table.get(id(code))
        return None if found is None else found[1]

    def put(self, code: types.CodeType, value: Any) -> None:
        """Makes an entry."""
        self._table[id(code)] = (weakref.ref(code, functools.partial(_drop, self._table, id(code))), value)


def _drop(table: dict[int, Any], key: int, _: Callable[[], Any]) -> None:
    table.pop(key, None)


_generated = ByIdentity()


def register(code: types.CodeType) -> None:
    """Notes that this code, and that of the functions inside, is converted; methods of classes inside are not."""
    _generated.put(code, True)
    for const in code.co_consts:
        if isinstance(const, types.CodeType) and const.co_flags & _OPTIMIZED:
            register(const)


def is_converted(code: types.CodeType) -> bool:
    """Whether a conversion made this code."""
    return _generated.get(code) is not None
