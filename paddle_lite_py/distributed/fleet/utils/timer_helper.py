"""Clocks with names, for the parts of a step."""

from __future__ import annotations

import time

from ....core.no_effect import Immaterial, no_effect

__all__ = ["Timers", "get_timers", "is_timer_initialized", "set_timers"]


class _Timer:
    """A clock: the seconds between start() and stop(), added up.

    Arguments:
        name: its name.
    """

    def __init__(self, name: str) -> None:
        self.name, self.elapsed_, self.started_, self.start_time = name, 0.0, False, 0.0

    def start(self) -> None:
        """Begin."""
        if self.started_:
            raise RuntimeError(f"timer {self.name!r} was started already; stop() it first")
        self.started_, self.start_time = True, time.perf_counter()

    def stop(self) -> None:
        """End."""
        if not self.started_:
            raise RuntimeError(f"timer {self.name!r} was not started; start() it first")
        self.started_ = False
        self.elapsed_ += time.perf_counter() - self.start_time

    def reset(self) -> None:
        """Back to zero."""
        self.elapsed_, self.started_ = 0.0, False

    def elapsed(self, reset: bool = True) -> float:
        """Return the seconds so far; it goes on if it was running."""
        was_started = self.started_
        if was_started:
            self.stop()
        found = self.elapsed_
        if reset:
            self.reset()
        if was_started:
            self.start()
        return found


_GPUEventTimer = _Timer


class Timers:
    """Clocks by name.

    Examples:
        >>> timers = Timers()
        >>> timers("forward").start(); timers("forward").stop()
        >>> timers("forward").elapsed() < 1.0
        True
    """

    def __init__(self) -> None:
        self.timers: dict[str, _Timer] = {}

    @no_effect(use_event=Immaterial("events are clocks too"))
    def __call__(self, name: str, use_event: bool = False) -> _Timer:
        """Return the clock of a name; events are clocks too."""
        return self.timers.setdefault(name, _Timer(name))

    def log(self, names: list[str], normalizer: float = 1.0, reset: bool = True) -> None:
        """Print the milliseconds of some clocks, divided by a number."""
        parts = [f"{n}: {self.timers[n].elapsed(reset) * 1000.0 / normalizer:.2f}" for n in names]
        print(" | ".join(["time (ms)", *parts]), flush=True)


_timers: list[Timers] = []


def is_timer_initialized() -> bool:
    """Whether set_timers() was called."""
    return bool(_timers)


def set_timers() -> None:
    """Make the clocks of this process."""
    if _timers:
        raise RuntimeError("set_timers() was called before; get_timers() gives the clocks")
    _timers.append(Timers())


def get_timers() -> Timers:
    """Return the clocks of this process.

    Raises:
        AssertionError: before set_timers(); callers look for that.
    """
    if not _timers:
        raise AssertionError("get_timers(): call set_timers() first")
    return _timers[0]
