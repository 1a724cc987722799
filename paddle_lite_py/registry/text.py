"""The text of ops and of records of them, the same in each process: it leads to what earlier ones found or compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.dtypes import DType

_PLAIN = (type(None), bool, int, float, complex, str)


class HasText:
    """Something whose function has a text."""

    __slots__ = ()

    def said(self) -> tuple[Any, ...] | None:
        """Return what the function follows from in each process with this source; None where that cannot be told."""
        raise NotImplementedError


class NoText(TypeError):
    """What an op is made of differs between processes, such as a function of the user's."""


def text_of(*said: Any) -> str:
    """Return a digest of recorded steps, of ops and of what else a program is made of.

    Raises:
        NoText: if an op is none of the framework's own.
    """
    return hashlib.sha256("\n".join(_parts(said)).encode()).hexdigest()


def text_or_none(*said: Any) -> str | None:
    """Return the same, or None where there is no text."""
    try:
        return text_of(*said)
    except NoText:
        return None


def _parts(value: Any) -> Iterator[str]:
    if value.__class__ in _PLAIN:
        yield repr(value)
    elif isinstance(value, tuple | list):
        # Tuples with names, such as steps and settings, may be alike in all but their class.
        yield f"{value.__class__.__qualname__} {len(value)}"
        for each in value:
            yield from _parts(each)
    elif isinstance(value, slice):
        yield from _parts(("slice", value.start, value.stop, value.step))
    elif isinstance(value, HasText):
        yield from _bound(value)
    elif isinstance(value, DType | np.dtype):
        yield f"dtype {value.name}"
    elif value is Ellipsis:
        yield "..."
    else:
        raise NoText(f"{value!r:.60}")


def _bound(bound: HasText) -> Iterator[str]:
    said = bound.said()
    if said is None:
        raise NoText(f"{bound!r:.60}")
    yield f"op {bound.__class__.__qualname__}"
    yield from _parts(said)
