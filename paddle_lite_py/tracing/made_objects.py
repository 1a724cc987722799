"""Objects that a trace makes and returns: each run makes those of users' classes anew, and none of the others."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..core import structure as nested
from ..core.errors import MadeInTraceError
from ..eager.tensor import Tensor
from .builder import Builder
from .places import MISSING


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


def refuse_drawn(builder: Builder, structure: Any) -> None:
    """Look for parameters among the results.

    Raises:
        MadeInTraceError: the trace has made some, which later runs would return again.
    """
    for value in nested.statics(structure) if builder.drawn else ():
        held = value.parameters() if hasattr(type(value), "named_parameters") else [value]
        held = getattr(value, "_parameter_list", None) or held
        if any(isinstance(p, Tensor) and id(p._payload) in builder.drawn for p in held):
            raise MadeInTraceError(
                f"the function returns a {type(value).__name__} that it makes. A program makes parameters once, so "
                "that each call would return the same ones: make it outside of the static function, or mark what makes "
                "it with @paddle.jit.not_to_static"
            )


def is_from_outside(builder: Builder, value: Any) -> bool:
    """Whether a list, dict or the like, or an object of a data class, is one that was there before the trace."""
    held = vars(value) if dataclasses.is_dataclass(value) and hasattr(value, "__dict__") else value
    return id(held) in builder.outside


def with_own_sets(builder: Builder, structure: Any) -> Any:
    """Return a structure whose sets are made anew by each run, but for those from outside."""
    if isinstance(structure, nested.Nest):
        return structure._replace(children=tuple([with_own_sets(builder, c) for c in structure.children]))
    value = structure.value if type(structure) is nested.Static else None
    if type(value) is not set or id(value) in builder.outside:
        return structure
    return nested.Nest(set, None, tuple(map(nested.Static, value)))
