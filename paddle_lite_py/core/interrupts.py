"""What handlers of signals raise, and Python had to drop, is raised again.

Python runs the handler of a signal between two of its own instructions. Where these are of a callback of the garbage
collector (JAX has one, which runs after each long collection) or of a `__del__`, the KeyboardInterrupt of Ctrl-C, or
the error of a time limit, cannot go on from there, and Python only reports it. So the signal is sent again.
"""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from types import TracebackType
from typing import Any

# Until the main thread has most likely left the code that dropped the error; if it has not, all this repeats.
SECONDS = 0.01


def _again(number: int, seconds: float = SECONDS) -> None:
    later = threading.Timer(seconds, signal.raise_signal, [number])
    later.daemon = True
    try:
        later.start()
    except KeyboardInterrupt:  # the timer was over before start() was: this process gets little time
        _again(number, 2 * seconds)


def _handled(error: type[BaseException], raised_at: TracebackType | None) -> int | None:
    """Return the signal whose handler has raised an error; None if none has."""
    if error is KeyboardInterrupt and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        return signal.SIGINT
    codes = {frame.f_code for frame, _ in traceback.walk_tb(raised_at)}
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if getattr(getattr(handler, "__func__", handler), "__code__", None) in codes:
            return number
    return None


def install() -> None:
    """Have the error of a signal that cannot go on raised again, a moment later, in the main thread."""
    before = sys.unraisablehook

    def hook(dropped: Any) -> None:
        number = _handled(dropped.exc_type, dropped.exc_traceback)
        if number is None:
            before(dropped)
        else:
            _again(number)

    sys.unraisablehook = hook
