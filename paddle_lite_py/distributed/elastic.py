"""Training whose processes come and go: what a program asks, saves by, and adapts to.

A launcher with `--elastic_level` forms a new world from the last checkpoint whenever nodes come or go. Before it ends
a process on purpose it asks it to, by SIGTERM: the program saves, and leaves with an exit code that means "begin me
again".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from ..core.processes import world
from .exchange import exchanges
from .stopping import Stopping

__all__ = [
    "RESTART_CODE",
    "ask_to_stop",
    "full_size",
    "catch_sigterm",
    "learning_rate_scale",
    "leave",
    "local_batch",
    "restarts",
    "should_stop",
]

# The exit code of a process that has saved and asks to be restarted. That of the reference.
RESTART_CODE = 101
# The variables that name the folders from which servers, and workers of theirs, go on when they are started again.
SERVER_FOLDER, WORKER_FOLDER = "PADDLE_PS_FOLDER", "PADDLE_WORKER_FOLDER"

_heard: list[Stopping] = []  # what listens in this process, once something does


def _listener() -> Stopping:
    messenger = None if world().size == 1 else exchanges().messenger
    if not _heard:
        _heard.append(Stopping() if messenger is None else messenger.stopping)
    _heard[0].listen(messenger)
    return _heard[0]


def should_stop() -> bool:
    """Whether to save and stop now, since a process of the job received SIGTERM: the same answer in all processes.

    Call it once at the end of each step, in all processes. From the first call on SIGTERM is taken down, unless the
    program has a handler of its own, or the call comes from another thread: call `ask_to_stop` there. A second SIGTERM
    ends the process at once.

    Examples: see catch_sigterm.
    """
    return _listener().due()


@contextmanager
def catch_sigterm() -> Iterator[None]:
    """Take SIGTERM down for a time only: what came and was not acted upon ends the process afterwards.

    Examples:
        >>> with catch_sigterm():
        ...     should_stop()
        False
    """
    try:
        yield
    finally:
        for stopping in list(_heard):
            stopping.listen_no_more()
            if stopping.acted_upon and world().size == 1:
                _heard.clear()  # a process that goes on anyway may be signalled again


def ask_to_stop() -> None:
    """Ask all processes to stop after the step under way, as SIGTERM does; for handlers of one's own."""
    _listener().asked.put(True)


def leave() -> NoReturn:
    """End this process with the exit code that means "begin me again": 101.

    Examples:
        >>> try:
        ...     leave()
        ... except SystemExit as e:
        ...     e.code
        101
    """
    sys.exit(RESTART_CODE)


def restarts() -> int:
    """How many worlds there were before this one, as PADDLE_ELASTIC_RESTARTS says; 0 in a job that is not elastic.

    Examples:
        >>> restarts()
        0
    """
    return int(os.environ.get("PADDLE_ELASTIC_RESTARTS") or 0)


def full_size() -> int:
    """Return the processes of a world that lacks no node, as PADDLE_ELASTIC_FULL_SIZE says; else those that there are.

    Examples:
        >>> full_size()
        1
    """
    return int(os.environ.get("PADDLE_ELASTIC_FULL_SIZE") or world().size)


def local_batch(global_batch: int) -> int:
    """Return the rows of a batch that this process takes, so that all together take as many in a world of any size.

    With it a step is the same step in every world: learning rate, schedule and the place in the data stay as they are.

    Arguments:
        global_batch: the rows of a step of all processes.

    Raises:
        ValueError: if they cannot be shared equally.

    Examples:
        >>> local_batch(12)
        12
    """
    size = world().size
    if global_batch % size:
        nodes = os.environ.get("PADDLE_ELASTIC_NP", "")
        raise ValueError(
            f"local_batch: global_batch is {global_batch}, which {size} processes cannot share equally"
            + (f"; choose one that each number of nodes in --nnodes {nodes} divides" if nodes else "")
        )
    return global_batch // size


def learning_rate_scale() -> float:
    """Return the factor of the learning rate if each process keeps its batch: this world's size over the full one's.

    Examples:
        >>> learning_rate_scale()
        1.0
    """
    return world().size / full_size()
