"""What a launcher is asked by signals, and the sign of life that it gives."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Seconds between two signs of life.
PULSE = 5.0
_touched: dict[Path, float] = {}


class Asked:
    """What the launcher was asked by SIGTERM: "stop", and by a second one "end"; nothing so far."""

    def __init__(self) -> None:
        self.what = ""

    def __call__(self) -> str:
        """The word."""
        return self.what

    def note(self, *_: Any) -> None:
        """Take a signal down."""
        self.what = "end" if self.what else "stop"


@contextmanager
def heeded() -> Iterator[Asked]:
    """Take SIGTERM down."""
    asked = Asked()
    before = signal.signal(signal.SIGTERM, asked.note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGTERM, before)


def alive(log_dir: str | Path) -> None:
    """Touch a file from time to time, by whose age a probe tells whether the launcher works."""
    folder = Path(log_dir)
    if time.monotonic() - _touched.get(folder, -math.inf) > PULSE:
        _touched[folder] = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "alive").touch()
