"""Ctrl-C that Python had to drop is raised again.

Python runs the handler of a signal between two of its own instructions. Where these are of a callback of the garbage
collector (JAX has one, which runs after each long collection) or of a `__del__`, the KeyboardInterrupt cannot go on
from there, and Python only reports it.
"""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any

# Until the main thread has most likely left the code that dropped the interrupt; if it has not, all this repeats.
SECONDS = 0.01


def _again(seconds: float = SECONDS) -> None:
    later = threading.Timer(seconds, signal.raise_signal, [signal.SIGINT])
    later.daemon = True
    try:
        later.start()
    except KeyboardInterrupt:  # the timer was over before start() was: this process gets little time
        _again(2 * seconds)


def install() -> None:
    """Have a KeyboardInterrupt that cannot go on raised again, a moment later, in the main thread."""
    before = sys.unraisablehook

    def hook(dropped: Any) -> None:
        own_handler = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        if dropped.exc_type is KeyboardInterrupt and not own_handler:
            _again()
        else:
            before(dropped)

    sys.unraisablehook = hook
