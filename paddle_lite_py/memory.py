"""Memory of the process: what a compilation leaves behind goes back to the system."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Trimming takes up to 0.1 s, so it must be worth it.
MIN_GROWTH = 128 << 20


@contextmanager
def returned() -> Iterator[None]:
    """Give back what the C library still holds after the block, if the process has grown much in it.

    XLA's compiler takes hundreds of megabytes for a training step. glibc keeps what it frees in one arena a thread,
    where the step itself, which runs in other threads, cannot use it. (Elsewhere than on Linux nothing is done.)
    """
    before = resident()
    yield
    if resident() - before > MIN_GROWTH:
        _trim()(0)


def resident() -> int:
    """Bytes of this process in memory; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


@functools.cache
def _trim() -> Callable[[int], object]:
    return getattr(ctypes.CDLL(None), "malloc_trim", lambda pad: None)
