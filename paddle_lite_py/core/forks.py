"""A child of os.fork() has none of XLA's threads, and may wait for them for ever: it warns at the line that does."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from types import FrameType

import jax

from .errors import PACKAGE_DIR, is_own, user_frame

PERIOD = 4.0  # seconds in which nothing may happen
IDLE = 0.5  # seconds of computation in a period of which the process still waits
# These wait for other processes.
_WAITING = tuple([f"{PACKAGE_DIR}{room}{os.sep}" for room in ("distributed", "serving", "io", "utils")])
_JAX = os.path.dirname(jax.__file__) + os.sep


def watch_children() -> None:
    """Let each child that is forked look after itself; one that runs another program has no part in this."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_begin)


def _begin() -> None:
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
        f"this line has waited for XLA for {2 * PERIOD:g} s and will for ever: the process was forked, and has none of "
        "the threads that XLA had in its parent. Start processes by multiprocessing.get_context('spawn') or "
        "paddle.distributed.spawn; a child of fork can compute with small arrays only",
        RuntimeWarning, where.filename, where.lineno,
    )  # fmt: skip


def _calls_xla(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    return name.startswith(_JAX) or (is_own(name) and not name.startswith(_WAITING))
