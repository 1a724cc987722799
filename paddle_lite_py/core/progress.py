"""A line for who waits: what XLA compiles, when one compilation takes seconds."""

from __future__ import annotations

import sys
import threading
from typing import Any

from jax import monitoring

from .jax_compat.xla import COMPILED, LOWERED
from .switches import is_on

SECONDS = 2.0


class _Shown:
    wanted = is_on("FLAGS_compile_progress")


shown = _Shown()
_waiting: dict[int, threading.Timer] = {}  # by thread


def show_progress(wanted: bool) -> None:
    """Switch the line on or off."""
    shown.wanted = bool(wanted)


def listen() -> None:
    """Register JAX listeners for the start and end of a compilation."""
    monitoring.register_event_duration_secs_listener(_on_event)


def _on_event(event: str, duration_secs: float, **details: Any) -> None:
    if event == LOWERED and shown.wanted:
        cancel()
        timer = threading.Timer(SECONDS, _say, [str(details.get("fun_name", "a function"))])
        timer.daemon = True
        _waiting[threading.get_ident()] = timer
        timer.start()
    elif event == COMPILED:
        cancel()


def cancel() -> None:
    """Say nothing of what this thread compiles now."""
    timer = _waiting.pop(threading.get_ident(), None)
    if timer is not None:
        timer.cancel()


def _say(name: str) -> None:
    name = name.removeprefix("jit(").removesuffix(")")
    print(
        f"paddle_lite_py: XLA has been compiling `{name}` for {SECONDS:g} s, as it does once for each new kind of "
        "arguments (FLAGS_compile_progress=0 hides this line)",
        file=sys.stderr,
        flush=True,
    )
