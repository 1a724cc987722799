"""Whether anything else refers to an object, by the counts that CPython keeps.

What passing an object on adds to its count differs between versions: since Python 3.14 it may be nothing. So that is
measured, in the same way as it is used; where counts do not tell, every object is taken for one that others refer to.
"""

from __future__ import annotations

import sys

_NEVER = -(1 << 62)


class _Passed:
    count = _NEVER  # of an object to which only the caller's variable refers


def is_shared(obj: object, holders: int) -> bool:
    """Whether more refer to an object than so many holders, and the variable of the caller that it is passed from.

    Example:
        >>> obj, held = [], []
        >>> held.append(obj)
        >>> is_shared(obj, 0), is_shared(obj, 1)
        (True, False)
    """
    return sys.getrefcount(obj) > _Passed.count + holders


def _is_shared(holders: int, told: int) -> bool:
    """Return what is_shared() answers for an object with that many holders when called with that count."""
    obj = object()
    held = [obj] * holders
    return is_shared(obj, told) and len(held) == holders


def _is_right(count: int) -> bool:
    """Whether is_shared is right with this count, also once the interpreter has adapted the code."""
    _Passed.count = count
    asked = [(holders, told) for holders in range(4) for told in range(4)] * 8
    return all(_is_shared(holders, told) == (holders > told) for holders, told in asked)


def measure() -> int:
    """Find the count with which is_shared is right; one with which all is shared where there is none."""
    _Passed.count = next((count for count in range(10) if _is_right(count)), _NEVER)
    return _Passed.count


measure()
