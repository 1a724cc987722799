"""Objects that a trace makes and returns: each run makes those of users' classes anew, and none of the others."""

from __future__ import annotations

import array
import copy
import dataclasses
import io
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import structure as nested
from ..core.errors import MadeInTraceError
from ..eager.tensor import Tensor
from .builder import Builder
from .effects import Copies
from .frame import Write
from .places import MISSING

# What Python's library and NumPy have that is changed in place and is no container of tensors.
_CHANGEABLE: tuple[type, ...] = (np.ndarray, bytearray, array.array, set, Iterator, io.StringIO, io.BytesIO)
_CHANGEABLE += (random.Random, np.random.Generator, np.random.RandomState)


def is_made(builder: Builder, value: Any) -> bool:
    """Whether the trace has made an object of a user's class: it had no attributes before they were written."""
    if isinstance(value, type | Tensor | BaseException) or id(getattr(value, "__dict__", value)) in builder.outside:
        return False
    writes = [builder.root.log.get((id(value), name, False)) for name in attributes(value)]
    return bool(writes) and all(w is not None and w.before is MISSING for w in writes)


def attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, those in slots too."""
    slots = {n for c in type(value).__mro__ for n in vars(c).get("__slots__", ())} - {"__dict__", "__weakref__"}
    held = getattr(value, "__dict__", None)
    found = {n: getattr(value, n) for n in sorted(slots) if hasattr(value, n)}
    return found | held if type(held) is dict else found


def is_from_outside(builder: Builder, value: Any) -> bool:
    """Whether a list, dict or the like, or an object of a data class, is one that was there before the trace."""
    held = vars(value) if dataclasses.is_dataclass(value) and hasattr(value, "__dict__") else value
    return id(held) in builder.outside


def with_own_copies(builder: Builder, structure: Any) -> Any:
    """Return a structure whose sets, arrays and the like are made anew by each run, but for those from outside.

    Raises:
        MadeInTraceError: there is an iterator, which the first caller would use up.
    """
    if isinstance(structure, nested.Nest):
        return structure._replace(children=tuple([with_own_copies(builder, c) for c in structure.children]))
    value = structure.value if type(structure) is nested.Static else None
    if not isinstance(value, _CHANGEABLE) or _is_of_outside(builder, value):
        return structure
    if type(value) is set:
        return nested.Nest(set, None, tuple(map(nested.Static, value)))
    if isinstance(value, np.ndarray) and value.dtype.hasobject or isinstance(value, Iterator):
        raise MadeInTraceError(
            f"the function returns a {type(value).__name__} that it makes, of which a program makes one for all calls: "
            "return a list or a tuple of what it gives"
        )
    if builder.sizes is not None and builder.sizes.for_file:
        return structure
    return nested.Nest(Copied, ("value", "copies"), (structure, nested.Static(builder.copies)))


def note_stored(builder: Builder, writes: list[Write]) -> None:
    """Note the values that are put into state: guards see to what becomes of them."""
    for write in writes:
        if is_made(builder, write.owner):
            continue
        structure = nested.flatten(write.get(), lambda v: isinstance(v, Tensor), [])
        builder.stored_values.update(map(id, nested.statics(structure)))


def _is_of_outside(builder: Builder, value: Any) -> bool:
    """Whether a value, or the array that it is a view of, was there before the trace, or is state from now on."""
    while value is not None and id(value) not in builder.outside and id(value) not in builder.stored_values:
        value = getattr(value, "base", None)
    return value is not None


@dataclasses.dataclass(eq=False, repr=False)
class Copied:
    """Stands in a result for a copy; see structure.unflatten."""

    value: Any
    copies: Copies

    def settled(self) -> Any:
        """Return the copy, one in all results of a run."""
        made = self.copies.made
        if id(self.value) not in made:
            made[id(self.value)] = copy.deepcopy(self.value)
        return made[id(self.value)]


def copies_of(builder: Builder, structures: list[Any]) -> Copies | None:
    """Return what runs note their copies in; None if they make none."""
    return builder.copies if any(map(_has_copies, structures)) else None


def _has_copies(structure: Any) -> bool:
    return isinstance(structure, nested.Nest) and (
        structure.kind is Copied or any(map(_has_copies, structure.children))
    )
