"""Schedules in a program: Python objects that steps change, and that give numbers.

What a trace does to a schedule, each run does to it afterwards, in Python. A number that is read of it in the meantime
is found before the run, from a copy that has made the same steps. How often a staged branch or loop steps, the program
counts: such numbers are looked up by that count, in a table of as many steps as runs have needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import jax
import numpy as np

from ..core.errors import DataDependentError, user_frame
from ..core.interpreter import use
from ..core.traced_number import ScalarGuard, TracedNumber
from ..eager.execute import EAGER
from ..eager.tensor import Tensor, wrap
from ..registry.op import REGISTRY
from .frame import Key, TracedValue, Write

Change = Callable[[Any], None]
Read = Callable[[Any], Any]
FIRST_ROOM = 4  # steps that a table has at first


class TracedSchedule:
    """The effects of one trace on a schedule.

    Attributes:
        changes: what each run does to it.
        step: what it does then, as often as the program has counted.
        steps: the count; None if the program needs none.
        room: how many counted steps the tables have.
        is_own: the program makes it, and each run begins with it as it was made.
    """

    def __init__(self, schedule: Any, is_own: bool = False) -> None:
        self.schedule, self.is_own = schedule, is_own
        self.changes: list[Change] = []
        self.step: Change | None = None
        self.steps: Tensor | None = None
        self.room = FIRST_ROOM

    @property
    def is_counted(self) -> bool:
        """Whether a staged statement may have stepped it, on the way to here."""
        return self.steps is not None and isinstance(self.steps._payload, TracedValue)

    def changed(self, known: int) -> Any:
        """Return a copy of the schedule after the first changes of a run."""
        found = self.schedule.forked()
        for change in self.changes[:known]:
            change(found)
        return found

    def table(self, read: Read) -> np.ndarray:
        """Return a number of it after each count of steps."""
        assert self.step is not None
        with use(EAGER):
            now, found = self.schedule.forked(), []
            for change in self.changes:
                change(now)
            found.append(read(now))
            with suppress(Exception):  # a schedule may end: a run that gets there finds out when it steps
                for _ in range(self.room):
                    self.step(now)
                    found.append(read(now))
        found += found[-1:] * (self.room + 1 - len(found))
        return np.asarray(found, np.int64 if all(type(v) is int for v in found) else np.float64)

    def has_room(self, steps: int) -> bool:
        """Whether a run that has counted so many steps had the numbers for them; if not, the next one has."""
        if steps <= self.room:
            return True
        self.room = 1 << (steps - 1).bit_length()
        return False

    def finish(self, steps: int) -> None:
        """Do to the schedule what a run has done."""
        if self.is_own:
            return
        for change in self.changes:
            change(self.schedule)
        for _ in range(steps):
            assert self.step is not None
            self.step(self.schedule)


def have_room(schedules: Sequence[TracedSchedule], steps: Sequence[Any]) -> bool:
    """Whether the tables of counted schedules had the numbers for a run that has counted these steps."""
    return not [s for s, n in zip(schedules, steps, strict=True) if not s.has_room(int(n))]


def finish(schedules: Sequence[TracedSchedule], steps: Sequence[Any]) -> None:
    """Do to schedules what a run has done, which has counted these steps of some of them."""
    counts = iter(steps)
    for schedule in schedules:
        schedule.finish(int(next(counts)) if schedule.steps is not None else 0)


class ScheduleTracing:
    """The part of the builder that follows schedules."""

    frame: Any
    root: Any
    schedules: dict[int, TracedSchedule]
    seen: list[ScalarGuard]
    initial: dict[Key, Any]
    provide: Callable[[Callable[[], Any]], Tensor]
    rebound: Callable[[Any, str], None]
    run: Callable[..., Any]
    convert: Callable[[Any], Any]

    def made_schedule(self, schedule: Any) -> None:
        """Note a schedule that the program makes."""
        self.schedules[id(schedule)] = TracedSchedule(schedule, is_own=True)

    def advance(self, schedule: Any, change: Change, _counted: bool = False) -> None:
        """Change a schedule in each run; see interpreter.Observer."""
        if (outer := self._outer(schedule)) is not None:
            return self.advance(outer[0], lambda s: change(s.__dict__[outer[1]]))
        found = self.schedules.setdefault(id(schedule), TracedSchedule(schedule))
        if self.is_written(schedule):
            self.convert(change)(schedule)
        elif self.frame is self.root and not found.is_counted:
            found.changes.append(change)
        elif _counted:
            if found.steps is None:
                found.steps, found.step = wrap(jax.numpy.zeros((), jax.numpy.int32)), change
            found.steps._set_payload((found.steps + 1)._payload)
        else:
            raise DataDependentError(
                f"the schedule at {user_frame()} is set to a given step, but a condition on a tensor decides, or has "
                "decided, how far it has advanced: call its step() without an argument, or outside the static function"
            )

    def after_run(self, schedule: Any, call: Change) -> None:
        """Tell of a schedule after each run."""
        found = self.schedules.setdefault(id(schedule), TracedSchedule(schedule))
        if call not in found.changes:
            found.changes.append(call)

    def number(self, schedule: Any, read: Read) -> Any:
        """Return a number of a schedule at this point of the program."""
        if self.is_written(schedule):
            return self.convert(read)(schedule)
        if (outer := self._outer(schedule)) is not None:
            return self.number(outer[0], lambda s: read(s.__dict__[outer[1]]))
        found = self.schedules.setdefault(id(schedule), TracedSchedule(schedule))
        if found.is_counted:
            return self._looked_up(found, read)
        known, root = len(found.changes), self.root

        def now() -> Any:
            with use(EAGER):
                return read(found.changed(known) if known or not root.closed else schedule)

        value = now()
        if type(value) in (int, float):
            return TracedNumber(self._of_runs(now, value), value, self.seen)
        self.seen.append(ScalarGuard(lambda given: now(), value))
        return value

    def _outer(self, schedule: Any) -> tuple[Any, str] | None:
        """Return the schedule that steps this one as well, and its name there, if the program has advanced that."""
        for known in list(self.schedules.values()):
            for name, held in known.schedule.__dict__.items():
                if held is schedule and self.has_advanced(known.schedule):
                    return known.schedule, name
        return None

    def _looked_up(self, found: TracedSchedule, read: Read) -> Tensor:
        entry = REGISTRY["entry"].bind(())
        out: Tensor = self.run(entry, (self.provide(lambda: found.table(read)), found.steps)).item()
        return out

    def has_advanced(self, schedule: Any) -> bool | None:
        """Whether the program has changed a schedule so far."""
        found = self.schedules.get(id(schedule))
        return self.is_written(schedule) or (found is not None and (bool(found.changes) or found.is_counted))

    def is_written(self, schedule: Any) -> bool:
        """Whether the program computes itself what the schedule's attributes hold."""
        return any(_is_traced(schedule.__dict__.get(name)) for name in ("last_epoch", "last_lr"))

    # -- numbers that are attributes -------------------------------------------------------------------------------
    def attribute(self, owner: Any, name: str) -> Any:
        """Return the number that an attribute holds: in each run, not in the trace."""
        self._refuse_after_step(owner)
        place, key = owner.__dict__, (id(owner), name, False)
        held = place[name]
        if key in self.initial:
            return held
        self.root.log[key], self.initial[key] = Write(owner, name, held), held
        if type(held) not in (int, float):
            self.seen.append(ScalarGuard(lambda given: place.get(name) is held, True))
            return held
        self.seen.append(ScalarGuard(lambda given: type(place.get(name)), type(held)))
        place[name] = self.initial[key] = TracedNumber(self._of_runs(lambda: place[name], held), held, self.seen)
        return place[name]

    def _refuse_after_step(self, owner: Any) -> None:
        """Stop where a schedule has set a number of its optimizer: it does so after the run."""
        for found in list(self.schedules.values()):
            if found.schedule.__dict__.get("optimizer") is owner and self.has_advanced(found.schedule):
                raise DataDependentError(
                    f"{user_frame()} needs the rate of {type(owner).__name__} after step() of its "
                    f"{type(found.schedule).__name__} in the same static function: step the schedule at the end of it"
                )

    def _of_runs(self, read: Callable[[], Any], now: Any) -> Callable[[Any], Any]:
        """Return read(), except while the program is traced, when other values may be in place."""
        root = self.root
        return lambda given: read() if root.closed else now

    def is_set(self, owner: Any, name: str) -> bool | None:
        """Whether the program has set an attribute on the way to here."""
        self._refuse_after_step(owner)
        held = owner.__dict__[name]
        return self.initial.get((id(owner), name, False), held) is not held

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute that holds a number."""
        self.attribute(owner, name)
        self.rebound(owner, name)
        owner.__dict__[name] = value

    def set_number(self, schedule: Any, name: str, value: Any) -> None:
        """Set an attribute of a schedule that its steps change as well."""
        is_plain = type(value) in (int, float) and self.frame is self.root and not self.is_written(schedule)
        if is_plain and not self._counts(schedule):
            return self.advance(schedule, lambda s: s.__dict__.update({name: value}))
        if id(schedule) in self.schedules and self.has_advanced(schedule) and not self.is_written(schedule):
            raise DataDependentError(
                f"`{name}` of a schedule is set at {user_frame()} after it was stepped in the same static function: "
                "set it outside of that"
            )
        for each in ("last_epoch", "last_lr"):
            self.attribute(schedule, each)
        return self.set_attribute(schedule, name, value)

    def _counts(self, schedule: Any) -> bool:
        found = self.schedules.get(id(schedule))
        return found is not None and found.is_counted


def _is_traced(value: Any) -> bool:
    return type(value) is TracedNumber or isinstance(value, Tensor)
