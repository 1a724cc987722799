"""Ctrl-C while a Model works: the batch under way is finished, then the work ends as it does by itself."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Pressed:
    """Whether Ctrl-C was pressed."""

    on = False

    def note(self, _number: int, _frame: FrameType | None) -> None:
        """Take it down; a second time it is raised, for what does not come to an end."""
        if self.on:
            raise KeyboardInterrupt
        self.on = True
        print("\nCtrl-C: training stops after this batch; press it again to stop at once", file=sys.stderr, flush=True)


@contextmanager
def delayed_interrupt() -> Iterator[Pressed]:
    """Take down Ctrl-C, which could otherwise end a step between the update of two weights.

    Handlers of the user's own are left alone; signals come to the main thread only.
    """
    pressed, number = Pressed(), signal.SIGINT
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(number) is not signal.default_int_handler
    ):
        yield pressed
        return
    signal.signal(number, pressed.note)
    try:
        yield pressed
    finally:
        signal.signal(number, signal.default_int_handler)
