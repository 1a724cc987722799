"""The signals that a launcher receives, and its heartbeat."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Seconds between two signs of life.
PULSE = 5.0
_touched = [-math.inf]


class Asked:
    """The launcher's state after SIGTERM: "stop", after a second one "end"; empty before."""

    def __init__(self) -> None:
        self.what = ""

    def __call__(self) -> str:
        """Return the word."""
        return self.what

    def note(self, *_: Any) -> None:
        """Take a signal down."""
        self.what = "end" if self.what else "stop"


@contextmanager
def catch_sigterm() -> Iterator[Asked]:
    """Take SIGTERM down."""
    asked = Asked()
    before = signal.signal(signal.SIGTERM, asked.note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGTERM, before)


def alive() -> None:
    """Touch the file that PADDLE_LAUNCH_ALIVE names from time to time: by its age a probe tells that this one works."""
    file = os.environ.get("PADDLE_LAUNCH_ALIVE")
    if file and time.monotonic() - _touched[0] > PULSE:
        _touched[0] = time.monotonic()
        Path(file).touch()
