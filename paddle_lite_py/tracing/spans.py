"""Runs of programs as spans of a profiler's trace. Only while one records is anything put around the compiled calls."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..core.interpreter import state

_executables: weakref.WeakSet[Any] = weakref.WeakSet()
_callers: weakref.WeakSet[Any] = weakref.WeakSet()  # what holds compiled calls of programs


class _Recording:
    profilers = 0


class _Spanned:
    """A compiled call of a program, run by the timer of the thread where there is one."""

    def __init__(self, call: Callable[..., Any], executable: Any) -> None:
        self.call, self.name, self.program = call, executable.name, executable.traced.program

    def __call__(self, *args: Any) -> Any:
        if state.timer is None:
            return self.call(*args)
        return state.timer(self.name, "program", self.call, *args, program=self.program)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.call, name)


def follow(executable: Any) -> None:
    """Let profilers record the runs of a compiled program."""
    _executables.add(executable)
    if _Recording.profilers:
        _wrap(executable)


def follow_caller(caller: Any) -> None:
    """Notify a caller that bypasses an Executable of profilers, so that it records or gives way to one that does."""
    _callers.add(caller)
    caller.notify_profiler(bool(_Recording.profilers))


def record(wanted: bool) -> None:
    """One more profiler that records, or one less."""
    _Recording.profilers += 1 if wanted else -1
    if _Recording.profilers == wanted:
        for executable in list(_executables):
            _wrap(executable) if wanted else _unwrap(executable)
        for caller in list(_callers):
            caller.notify_profiler(wanted)


def _wrap(executable: Any) -> None:
    executable.jitted, executable.forward = (_Spanned(f, executable) for f in (executable.jitted, executable.forward))


def _unwrap(executable: Any) -> None:
    executable.jitted, executable.forward = (
        f.call if isinstance(f, _Spanned) else f for f in (executable.jitted, executable.forward)
    )
