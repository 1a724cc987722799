"""The wait for the other processes of a job: it is reported who has not come, and the wait ends."""

from __future__ import annotations

import math
import os
import signal
import socket
import sys
import threading
from typing import Any

# Seconds after which a process reports that it waits for others.
LATE = 25.0
# Seconds that it waits for them, unless FLAGS_stop_check_timeout has another number.
PATIENCE = 300.0


def patience() -> float:
    """Return how many seconds a process waits for the others to join.

    Raises:
        ValueError: if the environment has no positive number there.
    """
    text = os.environ.get("FLAGS_stop_check_timeout", "")
    try:
        seconds = float(text) if text else PATIENCE
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ValueError(
            f"FLAGS_stop_check_timeout is {text!r}; expected the seconds to wait for other processes, above 0"
        )
    return seconds


class JoiningWait:
    """The wait of a process for the others, reported when it is long, and ended with the process when it is too long.

    While it lasts this process listens at its endpoint, and answers nobody: by that others know that it has come.

    Arguments:
        here: the process, a processes.World.
    """

    def __init__(self, here: Any) -> None:
        self._here, self._seconds = here, patience()
        self._door = _listening(here.endpoints[here.rank]) if here.rank else None  # JAX listens for the first
        self._timers = [threading.Timer(self._seconds, self._end)]
        if self._seconds > LATE:
            self._timers.append(threading.Timer(LATE, self._report))
        for timer in self._timers:
            timer.daemon = True
            timer.start()

    def over(self) -> None:
        """Note that all have joined."""
        for timer in self._timers:
            timer.cancel()
        if self._door is not None:
            self._door.close()

    def _report(self) -> None:
        self._say(f"has waited for the others for {LATE:.0f} s, and does so for {self._seconds:.0f} s")

    def _end(self) -> None:
        self._say(f"ends, since the others have not joined it in {self._seconds:.0f} s")
        os.kill(os.getpid(), signal.SIGKILL)  # the main thread is in XLA's code, which would abort without these words

    def _say(self, what: str) -> None:
        text = f"rank {self._here.rank} of {self._here.size} {what} (FLAGS_stop_check_timeout): "
        print(text + self._describe_missing(), file=sys.stderr, flush=True)

    def _describe_missing(self) -> str:
        here = self._here
        others = {r: here.coordinator if r == 0 else here.endpoints[r] for r in range(here.size) if r != here.rank}
        silent = {r: at for r, at in others.items() if at and not _listens(at)}
        if silent:
            shown = ", ".join([f"rank {r} does not listen at {at}" for r, at in silent.items()])
        elif all(others.values()):
            shown = "all have come, and one of them does not go on"
        else:
            shown = f"some of the ranks {[*others]} have not joined"
        return f"{shown}. Who is missing was not started, or has ended before it imported the package: see its log"


def _listening(endpoint: str) -> socket.socket | None:
    host, _, port = endpoint.rpartition(":")
    try:
        return socket.create_server((host, int(port))) if port else None
    except OSError:  # the address is not of this machine, or taken: the others are told that it does not answer
        return None


def _listens(endpoint: str) -> bool:
    host, _, port = endpoint.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 1.0).close()
    except OSError:
        return False
    return True
