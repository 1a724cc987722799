"""A child of os.fork() has none of XLA's threads, and may wait for them for ever.

What XLA would have to compile is an error there, since that waits in any case. What is compiled already may run, if it
is small; at a line that waits the child warns.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import jax
from jax import monitoring

from .errors import PACKAGE_DIR, is_own, user_frame
from .jax_compat.xla import LOWERED
from .switches import baseline_tier

PERIOD = 4.0  # seconds in which nothing may happen
IDLE = 0.5  # seconds of computation in a period of which the process still waits
# These wait for other processes.
_WAITING = tuple([f"{PACKAGE_DIR}{room}{os.sep}" for room in ("distributed", "serving", "io", "utils")])
_JAX = os.path.dirname(jax.__file__) + os.sep


_THREADS = Path("/proc/self/task")  # of Linux
_INSTEAD = (
    "the process was forked, and has none of the threads that XLA had in its parent. Start processes by "
    "multiprocessing.get_context('spawn') or paddle.distributed.spawn; a child of fork can compute with small arrays "
    "only"
)


class _Parent:
    """What the process was when it was forked last."""

    had_xla = False


def watch_children(is_for_others: Callable[[], bool]) -> None:
    """Let each child that is forked look after itself; one that runs another program has no part in this.

    Arguments:
        is_for_others: whether what is lowered now is not to run in this process.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_note_threads, after_in_child=lambda: _begin(is_for_others))


def _note_threads() -> None:
    _Parent.had_xla = _has_threads_of_xla()


def _has_threads_of_xla() -> bool:
    names = []
    for thread in _THREADS.iterdir() if _THREADS.is_dir() else ():
        with contextlib.suppress(OSError):  # it has ended
            names.append((thread / "comm").read_text())
    return any("XLA" in name for name in names)


def _begin(is_for_others: Callable[[], bool]) -> None:
    def refuse(event: str, duration_secs: float, **details: str | int) -> None:
        if event == LOWERED and not is_for_others():
            raise RuntimeError(f"XLA cannot compile {details.get('fun_name', 'a function')} here: {_INSTEAD}")

    if _Parent.had_xla:
        baseline_tier.set(False)  # what NumPy makes in the place of XLA is given to it, which waits
        monitoring.register_event_duration_secs_listener(refuse)
    threading.Thread(target=_look, args=(threading.get_ident(),), daemon=True, name="watch for XLA").start()


def _look(main: int) -> None:
    """Warn once when a thread stands in a call of XLA's for two periods, while the process computes nothing."""
    before, stood = None, 0
    while stood < 2:
        used = time.process_time()
        time.sleep(PERIOD)
        frame = sys._current_frames().get(main)
        now = frame and (frame, frame.f_lasti)
        is_idle = time.process_time() - used < IDLE
        stood = stood + 1 if frame and now == before and is_idle and _calls_xla(frame) else 0
        before = now
    where = user_frame(sys._current_frames().get(main))
    warnings.warn_explicit(
        f"this line has waited for XLA for {2 * PERIOD:g} s and will for ever: {_INSTEAD}",
        RuntimeWarning, where.filename, where.lineno,
    )  # fmt: skip


def _calls_xla(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    return name.startswith(_JAX) or (is_own(name) and not name.startswith(_WAITING))
