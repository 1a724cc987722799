"""The text of recorded ops, the same in each process: it leads to the executable that an earlier one compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..registry.bound import BoundOp

_PLAIN = (type(None), bool, int, float, complex, str)


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
    elif isinstance(value, BoundOp):
        yield from _bound(value)
    elif isinstance(value, DType | np.dtype):
        yield f"dtype {value.name}"
    elif value is Ellipsis:
        yield "..."
    else:
        raise NoText(f"{value!r:.60}")


def _bound(bound: BoundOp) -> Iterator[str]:
    said = bound.said()
    if said is None:
        raise NoText(bound.op.name)
    yield f"op {bound.__class__.__qualname__}"
    yield from _parts(said)
