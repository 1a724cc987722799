"""Numbers among the arguments: one that has had two values becomes an input, instead of a program for each value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.memo import Memo
from paddle_lite_py.core.traced_number import ScalarGuard, ScalarInputs, TracedNumber

KINDS = 256
MAX_LOCATIONS = 32


class Varying(NamedTuple):
    """Stands in a structure for a number that changes."""

    kind: type

    def __repr__(self) -> str:
        return f"any {self.kind.__name__} (an input from now on)"


class VaryingScalars:
    """Which numbers have changed from call to call, for each kind of call."""

    def __init__(self) -> None:
        # Key: what is left of a call without its numbers; which of them to take as inputs, looked at in each call.
        self._known: Memo[Any, tuple[ScalarInputs, frozenset[int]]] = Memo("numbers of calls", KINDS)

    def split(self, structure: Any, rest: Any) -> tuple[Any, ScalarInputs]:
        """Return the structure with the numbers that change taken out, and their values.

        Arguments:
            structure: of the arguments of a call.
            rest: what else tells kinds of calls apart.
        """
        values: list[Any] = []
        skeleton = _without(structure, values, None)
        if not values:
            return structure, ()
        key = (skeleton, rest)
        last, varying = self._known.get(key, (tuple(values), frozenset()))
        varying |= {i for i, (a, b) in enumerate(zip(last, values, strict=True)) if a != b}
        self._known.put(key, (tuple(values), varying))
        if not varying:
            return structure, ()
        values.clear()
        return _without(structure, values, varying), tuple([values[i] for i in sorted(varying)])


def _without(structure: Any, values: list[Any], varying: frozenset[int] | None) -> Any:
    """Return the structure with its numbers replaced by their type (those at `varying` only, where given)."""
    if isinstance(structure, nested.Static) and type(structure.value) in (int, float):
        values.append(structure.value)
        taken = varying is None or len(values) - 1 in varying
        return nested.Static(Varying(type(structure.value))) if taken else structure
    if isinstance(structure, nested.Nest):
        return structure._replace(children=tuple([_without(c, values, varying) for c in structure.children]))
    return structure


def with_numbers(structure: Any, values: ScalarInputs, seen: list[ScalarGuard]) -> Any:
    """Return the structure with a Number in the place of each number that changes."""
    position = iter(range(len(values)))

    def place(s: Any) -> Any:
        if isinstance(s, nested.Static) and type(s.value) is Varying:
            i = next(position)
            return nested.Static(TracedNumber(_nth(i), values[i], seen))
        if isinstance(s, nested.Nest):
            return s._replace(children=tuple(map(place, s.children)))
        return s

    return place(structure)


class DynamicAttributes:
    """Numbers that objects hold and that change from call to call: counters, schedules. They become inputs as well."""

    def __init__(self) -> None:
        self._found: list[tuple[dict[Any, Any], Any]] = []

    def values(self) -> ScalarInputs:
        """Return the current values."""
        return tuple([held.get(key) for held, key in self._found])

    def learn(self, guards: Iterable[Any]) -> None:
        """Note the places of guards that failed because a number is another one."""
        for g in guards:
            held = getattr(getattr(g, "read", None), "__self__", None)
            if type(held) is not dict or self.covers(g) or len(self._found) >= MAX_LOCATIONS:
                continue
            if type(g.value) in (int, float) and type(held.get(g.key)) is type(g.value):
                self._found.append((held, g.key))

    def covers(self, guard: Any) -> bool:
        """True for a guard on one of the places while it holds a number: it is no reason for another program."""
        if type(getattr(guard, "value", None)) not in (int, float):
            return False
        held = getattr(getattr(guard, "read", None), "__self__", None)
        return any(held is h and guard.key == k for h, k in self._found)

    @contextmanager
    def replaced(self, offset: int, seen: list[ScalarGuard]) -> Iterator[None]:
        """Put a Number into each place for the block.

        Arguments:
            offset: where the values stand among the numbers of a call.
        """
        before = [(held, key, held.get(key)) for held, key in self._found]
        for i, (held, key, value) in enumerate(before):
            if type(value) in (int, float):
                number = TracedNumber(_nth(offset + i), value, seen)
                seen.append(ScalarGuard(_kind_of_nth(offset + i), type(value)))
                held[key] = number
        try:
            yield
        finally:
            for held, key, value in before:
                held[key] = value


def _nth(i: int) -> Callable[[ScalarInputs], Any]:
    return lambda given: given[i]


def _kind_of_nth(i: int) -> Callable[[ScalarInputs], Any]:
    return lambda given: type(given[i])
