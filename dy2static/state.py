"""Variables that a staged statement changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .location import Location
from .undefined import Undefined


class Slot:
    """One composite variable, `self.h` or `d["k"]`: an object and an access to it."""

    def __init__(self, name: str, obj: Any, key: Any, item: bool) -> None:
        self.name, self.obj, self.key, self.item = name, obj, key, item

    def get(self, runtime: Any, where: Location) -> Any:
        try:
            return (runtime.getitem_ if self.item else runtime.getattr_)(self.obj, self.key)
        except (AttributeError, LookupError):
            return Undefined(self.name, where)

    def set(self, runtime: Any, value: Any) -> None:
        if not isinstance(value, Undefined):
            (runtime.setitem_ if self.item else runtime.setattr_)(self.obj, self.key, value)
        elif not isinstance(self.get(runtime, Location("", 0, "")), Undefined):
            (runtime.delitem_ if self.item else runtime.delattr_)(self.obj, self.key)


class State:
    """Gets and sets, together, the variables which a statement changes.

    Attributes:
        names: the variables, in the user's spelling: `x`, `self.h`, `d['k']`.
        live_out: for each name, whether it may be read after the statement (True for composites).
        carried: for each name, whether an iteration of a loop may read what came before it, or it is live out; for an
            `if`, whether a branch may leave it as it was or read it before writing, or it is live out.

    Example:
        >>> from dy2static.state import State
        >>> from dy2static.location import Location
        >>> box = {"x": 1}
        >>> state = State(("x",), lambda: (box["x"],), lambda values: box.update(x=values[0]), Location("m.py", 1, "f"))
        >>> state.set((2,))
        >>> state.get()
        (2,)
    """

    def __init__(
        self,
        names: Sequence[str],
        get: Callable[[], tuple[Any, ...]],
        set: Callable[[tuple[Any, ...]], None],
        where: Location,
        *,
        internal: Sequence[bool] = (),
        live_out: Sequence[bool] = (),
        carried: Sequence[bool] = (),
        slots: Sequence[Slot] = (),
        runtime: Any | None = None,
    ) -> None:
        plain, composite = len(names), (True,) * len(slots)
        self.names = tuple(names) + tuple(slot.name for slot in slots)
        self.live_out = (tuple(live_out) or (True,) * plain) + composite
        self.carried = (tuple(carried) or (True,) * plain) + composite
        self._internal = (tuple(internal) or (False,) * plain) + (False,) * len(slots)
        self._get, self._set, self._slots, self._plain = get, set, tuple(slots), plain
        self._where, self._runtime = where, runtime
        self.bodies: tuple[Any, ...] = ()  # the functions that the bodies of the statement have become, for their names

    def __len__(self) -> int:
        return len(self.names)

    def is_internal(self, index: int) -> bool:
        """Whether the converter made the name: a flag, or the slot of the value to return."""
        return self._internal[index]

    def get(self) -> tuple[Any, ...]:
        """Return the values, with an `Undefined` for each variable that has none."""
        values = [
            Undefined(name, self._where) if value is Undefined or _is_new(value) else value
            for name, value in zip(self.names, self._get(), strict=False)
        ]
        values += [slot.get(self._runtime, self._where) for slot in self._slots]
        return tuple(values)

    def set(self, values: Sequence[Any]) -> None:
        """Gives the variables these values, in the order of `names`."""
        if len(values) != len(self.names):
            raise ValueError(f"the state has {len(self.names)} variables {self.names}, got {len(values)} values")
        self._set(tuple(values[: self._plain]))
        for slot, value in zip(self._slots, values[self._plain :], strict=True):
            slot.set(self._runtime, value)


def _is_new(value: Any) -> bool:
    """Whether the variable never had a value."""
    return isinstance(value, Undefined) and value.where is None
