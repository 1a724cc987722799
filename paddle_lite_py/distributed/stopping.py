"""Stopping the processes of a job together: one received SIGTERM, and all must have made the same number of steps."""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

# Seconds that a process waits for the others to agree. If one has died meanwhile, the next exchange reports it.
AGREEMENT = 10.0


class Stopping:
    """The steps of this process, and the one after which all processes stop.

    A process that receives SIGTERM notifies the first one, which halts all before their next step, collects how many
    steps each has done, and tells them the largest number: who has done fewer goes on up to there. Steps cost nothing
    as long as nobody is asked.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.steps = 0  # that the program has ended
        self.halted = False
        self.last: int | None = None  # the step after which all stop
        self.asked: queue.SimpleQueue[bool] = queue.SimpleQueue()  # a signal handler may put into it at any moment
        self.listening = self.noted = self.acted_upon = False

    # -- the program -----------------------------------------------------------------------------------------------
    def due(self) -> bool:
        """Note that a step has ended: whether all processes stop after it."""
        with self.changed:
            if self.halted and self.last is None:
                self.halted = self.changed.wait_for(lambda: self.last is not None, AGREEMENT)
            self.steps += 1
            self.acted_upon = self.last is not None and self.steps >= self.last
            return self.acted_upon

    def listen(self, messenger: Any | None) -> None:
        """Take down SIGTERM; a handler of the program's own is left alone, and so are other threads' calls."""
        if not self.listening:
            self.listening = True
            threading.Thread(target=self._agree, args=(messenger,), daemon=True, name="stopping").start()
        main = threading.current_thread() is threading.main_thread()
        if main and not self.noted and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._on_signal)

    def listen_no_more(self) -> None:
        """SIGTERM ends the process again, also one that came and was not acted upon."""
        if threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGTERM) == self._on_signal:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            elif self.noted and not self.acted_upon:
                os.kill(os.getpid(), signal.SIGTERM)

    def _on_signal(self, number: int, _frame: Any) -> None:
        os.write(2, b"SIGTERM: stopping after this step; send it again to stop at once\n")  # print() may be under way
        signal.signal(number, signal.SIG_DFL)  # a second one ends the process
        self.noted = True
        self.asked.put(True)

    def _agree(self, messenger: Any | None) -> None:
        self.asked.get()
        if messenger is None:
            return self.decide(self.halt() + 1)
        try:
            with messenger.connect(0) as first:
                first.send_bytes(json.dumps({"say": "stop"}).encode())
                first.recv_bytes()
        except (OSError, EOFError):
            return  # the job fails; the next exchange reports why

    # -- the agreement ---------------------------------------------------------------------------------------------
    def halt(self) -> int:
        """Let no further step end until all have agreed: how many have."""
        with self.changed:
            self.halted = True
            return self.steps

    def decide(self, last: int) -> None:
        """All stop after that step."""
        with self.changed:
            self.last = last
            self.changed.notify_all()

    def agreed(self, connect: Callable[[int], Any], ranks: list[int]) -> int:
        """Halt the processes of these ranks, and tell them after which step they stop.

        Raises:
            OSError, EOFError: if one of them is gone.
        """
        with ExitStack() as opened:
            connections = [opened.enter_context(connect(rank)) for rank in ranks]
            for connection in connections:
                connection.send_bytes(b'{"say": "halt"}')
            last = max(int(json.loads(connection.recv_bytes())) for connection in connections) + 1
            for connection in connections:
                connection.send_bytes(json.dumps({"say": "decide", "last": last}).encode())
        return last
