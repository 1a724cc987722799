"""Schedule of a profiler."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

__all__ = ["ProfilerState", "make_scheduler"]


class ProfilerState(Enum):
    """The action of a step.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.profiler.ProfilerState][:2]
        ['CLOSED', 'READY']
    """

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3  # the last step of a recording


Scheduler = Callable[[int], ProfilerState]
RECORDING = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


def make_scheduler(*, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0) -> Scheduler:
    """Return the schedule: after skip_first steps, repeat `closed`, `ready` and `record` steps.

    Arguments:
        repeat: how often; 0: without end.

    Examples:
        >>> [make_scheduler(closed=1, ready=1, record=1)(i).name for i in range(3)]
        ['CLOSED', 'READY', 'RECORD_AND_RETURN']
    """
    if record < 1 or min(closed, ready, repeat, skip_first) < 0:
        raise ValueError("make_scheduler: record must be at least 1, and the others at least 0")
    period = closed + ready + record

    def state(step: int) -> ProfilerState:
        at = step - skip_first
        if at < 0 or (repeat and at >= repeat * period):
            return ProfilerState.CLOSED
        at %= period
        if at < closed:
            return ProfilerState.CLOSED
        if at < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD if at < period - 1 else ProfilerState.RECORD_AND_RETURN

    return state


def as_scheduler(given: Any) -> Scheduler:
    """Return the scheduler that a user asks for: one, (first, last), or None for all steps."""
    if callable(given):
        return given
    if given is None:
        return lambda step: ProfilerState.RECORD
    first, last = given

    def between(step: int) -> ProfilerState:
        if not first <= step < last:
            return ProfilerState.CLOSED
        return ProfilerState.RECORD_AND_RETURN if step == last - 1 else ProfilerState.RECORD

    return between
