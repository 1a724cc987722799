"""Memory of the process: what a step frees is kept for the next one, what a compilation leaves is given back."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax

from .memo import once

# Trimming takes up to 0.1 s, so it must be worth it.
MIN_GROWTH = 128 << 20
# Parameters of glibc's mallopt(3): one heap for all threads, no separate mappings, and 2 GiB kept at its end.
_ARENA_MAX, _MMAP_MAX, _TRIM_THRESHOLD = (-8, 1), (-4, 0), (-1, 2**31 - 1)
# Who has set one of these has chosen: PaddlePaddle's flag for it, and glibc's own.
CHOICES = (
    "FLAGS_use_system_allocator",
    "GLIBC_TUNABLES",
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_MAX_",
    "MALLOC_TRIM_THRESHOLD_",
)


class _Heap:
    is_one = False  # one heap for all threads, which keeps freed memory


heap = _Heap()


def keep_freed() -> None:
    """Let freed memory serve the next buffer, unless the user has chosen otherwise or there is no glibc.

    XLA's CPU backend takes the temporary buffers of a program anew at each run. Large ones glibc would take from the
    kernel and give back, and the kernel clears each page: 33,000 page faults in a training step of a small BERT, a
    fifth of its time. The heaps that glibc makes for threads hold no buffer above 64 MB, so there is to be one. Its
    price: the threads of XLA's compiler wait for each other (30 % of what a ResNet50 takes to compile).
    """
    if not any(name in os.environ for name in CHOICES):
        heap.is_one = all(_glibc("mallopt")(*setting) for setting in (_ARENA_MAX, _MMAP_MAX, _TRIM_THRESHOLD))


@contextmanager
def paused_collection() -> Iterator[None]:
    """Python's collector of cycles waits for the end of the block.

    Tracing makes hundreds of thousands of objects that stay. The collector would look at them again and again, for a
    sixth of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def trim_afterwards() -> Iterator[None]:
    """Give back what is free after the block, if the process has grown much in it.

    XLA's compiler takes hundreds of megabytes for a training step and leaves them in pieces, which the step's own large
    buffers do not fit into.
    """
    before = resident()
    yield
    if resident() - before > MIN_GROWTH:
        give_back()


def give_back() -> None:
    """Return all free memory of the heap to the system."""
    _glibc("malloc_trim")(0)


def resident() -> int:
    """Bytes of this process in memory; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def physical() -> int:
    """Bytes of memory of this machine; 0 where the system does not tell."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0


def largest() -> int:
    """Bytes of this machine's memory, or of the device's in use, if that has more; 0 where nobody tells."""
    device = getattr(jax.config, "jax_default_device", None) or jax.local_devices()[0]
    return max(physical(), int((device.memory_stats() or {}).get("bytes_limit", 0)))


# Key: the name of a function of the C library.
@once
def _glibc(name: str) -> Any:
    """Return a glibc function that is not part of standard C; a no-op on other systems."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # another C library; TypeError: Windows, where None is no library
        return lambda *settings: None
