"""Compilation only of what recurs, so that changing structures and shapes do not compile all the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.memo import Memo

MAX_FORMS = 512
# A structure is compiled when it is met first, as long as most that were came again, else when it is met for this
# many-th time; for that many shapes, which must come back too then: where they vary, more often than there are shapes.
HOT = 2
MAX_LONE = 4
MAX_TRACES, MAX_VARYING = 8, 2


class Recurring:
    """A structure that is compiled if it comes again: how often it was met, and in how many shapes."""

    __slots__ = ("__weakref__", "alike", "compiled_first", "met", "shapes", "traces", "varies")

    def __init__(self, varies: bool = False, compiled_first: int | None = None) -> None:
        self.met = 0
        self.traces = 0
        self.varies = varies  # shapes are likely to keep changing
        # For so many shapes it is compiled although they did not come before.
        self.compiled_first = (MAX_VARYING if varies else MAX_TRACES) if compiled_first is None else compiled_first
        self.alike = [1]  # how many structures differ in attributes alone, which shapes may be
        self.shapes: Memo[Any, int] | None = None

    def should_compile(self, arrays: Sequence[Any]) -> bool:
        """True if the compiled form should run: the structure came before, and its shapes are no stream of new ones."""
        self.met += 1
        few = self.alike[0] <= MAX_VARYING
        if self.traces < self.compiled_first:
            if self.met == 1 and few and len(_lone) < MAX_LONE:
                _lone.put(id(self), self)
                return True
            _lone.pop(id(self), None)
            return self.met >= (HOT if few else self.alike[0])
        if self.shapes is None:
            # Key: shapes; whether to compile, not what.
            self.shapes = Memo("shapes of a structure", MAX_FORMS)
        key = tuple([getattr(x, "shape", None) for x in arrays])
        times = self.shapes.put(key, self.shapes.get(key, 0) + 1)
        return times >= max(HOT, len(self.shapes) if self.varies else 0)


# Those that were compiled when they were met first, and have not come again.
# Key: the identity of one, which is kept here for as long.
_lone: Memo[int, Recurring] = Memo("structures met once", MAX_LONE)
