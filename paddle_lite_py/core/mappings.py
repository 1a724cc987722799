"""Room for programs: XLA maps several pieces of memory for each, and Linux ends a process that maps too many."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import monitoring

from .jax_compat.xla import COMPILED

_LIMIT, _MAPPED = Path("/proc/sys/vm/max_map_count"), Path("/proc/self/maps")
SHARE, EVERY = 0.6, 256  # of the limit; programs between two looks


class _Room:
    programs = 0
    dropped = 0  # how often
    due = False


room = _Room()
dropping: list[Callable[[], None]] = []  # what else holds programs


def listen() -> None:
    """Register a JAX listener for programs that are compiled or loaded."""
    if _LIMIT.exists():
        monitoring.register_event_duration_secs_listener(_on_compilation)


def _on_compilation(event: str, duration_secs: float, **details: Any) -> None:
    if event == COMPILED:
        room.programs += 1
        if room.programs % EVERY == 0:
            room.due = mapped() > SHARE * int(_LIMIT.read_text())


def mapped() -> int:
    """Return the number of pieces of memory that this process has mapped."""
    with _MAPPED.open("rb") as lines:
        return sum(1 for _ in lines)


def make_room() -> None:
    """Drop JAX's caches if room is short: what still runs is compiled once more, or read from the disk."""
    if room.due and not isinstance(jnp.zeros(()), jax.core.Tracer):
        room.due = False
        room.dropped += 1
        jax.clear_caches()
        for drop in dropping:
            drop()
        gc.collect()
