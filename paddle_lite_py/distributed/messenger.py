"""Messages between processes besides XLA's exchanges: announcements, point-to-point tensors, and goodbyes.

What XLA exchanges between processes must be the same program in each: of different sizes it would end the processes, of
different kinds it would wait for ever. So a process asks the others before it runs an exchange for the first time, and
while one takes long. Nothing here is unpickled, and who does not know the secret of the job is not listened to.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections import deque
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener
from typing import Any

import numpy as np

from ..core.dtypes import as_dtype, numpy_name
from .members import Reception, connect, job_secret, key_of
from .stopping import Stopping

# Exchanges of a group that are remembered for peers that ask later.
REMEMBERED = 256
# Seconds between two looks at what has changed.
PAUSE = 0.005
# No word is longer; a tensor comes after its word.
LONGEST = 1 << 20


class PeerGone(ConnectionError):
    """A process that does not answer any more."""


def job_key() -> bytes:
    """Return the key that the processes of one job share."""
    return key_of(job_secret(os.environ.get("PADDLE_MASTER", ""), os.environ.get("PADDLE_JOB_ID", "")))


class Journal:
    """The exchanges of one group in this process, in order: how many, and what the last ones were."""

    def __init__(self) -> None:
        self.count = 0  # of the exchange under way, or the last
        self.last: deque[tuple[int, str]] = deque(maxlen=REMEMBERED)

    def begin(self, what: str) -> int:
        """Note that an exchange begins."""
        count = self.count + 1
        self.last.append((count, what))
        self.count = count
        return count

    def at(self, count: int) -> str | None:
        """Return the exchange of that number; None if it has not begun."""
        if count > self.count:
            return None
        return next((what for n, what in list(self.last) if n == count), "one that is long over")


class Messenger:
    """The end of this process: it answers, and it asks."""

    def __init__(self, rank: int, host: str) -> None:
        self.rank, self.key = rank, job_key()
        self.journals: dict[int, Journal] = {}
        self.inbox: dict[tuple[int, int], queue.Queue[Any]] = {}
        self.lock, self.agreeing = threading.Lock(), threading.Lock()
        self.peers: dict[int, tuple[str, int]] = {}
        self.outgoing: dict[int, Connection] = {}
        self.left: dict[int, str] = {}  # peers that said goodbye: "" or their error
        self.is_leaving = False
        self.stopping = Stopping()
        listener = Listener((host, 0), backlog=64)
        self.port = listener.address[1]
        self.reception = Reception(listener, self.key, self._serve, "exchange messenger")

    # -- answering -------------------------------------------------------------------------------------------------
    def _serve(self, connection: Connection) -> None:
        try:
            while True:
                word = json.loads(connection.recv_bytes(LONGEST))
                getattr(self, f"_on_{word['say']}")(connection, word)
        except (EOFError, OSError):
            connection.close()

    def _on_ask(self, connection: Connection, word: dict[str, Any]) -> None:
        """Handle a query for this process's n-th exchange of a group, as soon as it begins.

        The connection is closed without an answer where that exchange does not begin any more.
        """
        journal = self.journal(word["group"])
        while (what := journal.at(word["count"])) is None and not (word["now"] or connection.poll() or self.is_leaving):
            time.sleep(PAUSE)
        if what is None and self.is_leaving:
            raise EOFError
        connection.send_bytes(json.dumps(what).encode())

    def _on_tensor(self, connection: Connection, word: dict[str, Any]) -> None:
        self.box(word["group"], word["rank"]).put((word, connection.recv_bytes()))

    def _on_bye(self, connection: Connection, word: dict[str, Any]) -> None:
        self.left[word["rank"]] = word["why"]
        if word["why"] and not self.is_leaving:  # the end of rank 0 ends all, perhaps before their next exchange
            print(
                f"rank {self.rank}: {self.gone(word['rank'])}; see its log for the reason", file=sys.stderr, flush=True
            )

    def _on_stop(self, connection: Connection, _word: dict[str, Any]) -> None:
        """Handle a request to stop; it is sent to the first process, more than once if several are signalled."""
        with self.agreeing:
            if self.stopping.last is None:
                self.stopping.agreed(self.connect, list(self.peers))
        connection.send_bytes(b"null")

    def _on_halt(self, connection: Connection, _word: dict[str, Any]) -> None:
        connection.send_bytes(json.dumps(self.stopping.halt()).encode())

    def _on_decide(self, _connection: Connection, word: dict[str, Any]) -> None:
        self.stopping.decide(int(word["last"]))

    def journal(self, group: int) -> Journal:
        """Return the exchanges of a group."""
        with self.lock:
            return self.journals.setdefault(group, Journal())

    def box(self, group: int, source: int) -> queue.Queue[Any]:
        """Return the messages of a process that were not yet taken."""
        with self.lock:
            return self.inbox.setdefault((group, source), queue.Queue())

    # -- asking ----------------------------------------------------------------------------------------------------
    def connect(self, rank: int) -> Connection:
        """Return a new connection to a process.

        Raises:
            PeerGone: if it is no more.
        """
        try:
            return connect(self.peers[rank], self.key)
        except (OSError, EOFError, AuthenticationError):
            raise PeerGone(self.gone(rank)) from None

    def reach(self, rank: int) -> None:
        """Check that a process still takes part in exchanges.

        Raises:
            PeerGone: if it is no more, or has said goodbye.
        """
        if rank in self.left:
            raise PeerGone(self.gone(rank))
        self.connect(rank).close()

    def gone(self, rank: int) -> str:
        """Describe what is known of a process that does not answer."""
        if rank not in self.left:
            return f"rank {rank} has ended or cannot be reached"
        return f"rank {rank} has ended" + (f" ({self.left[rank]})" if self.left[rank] else "")

    def ask(self, rank: int, group: int, count: int, now: bool) -> Question:
        """Ask what a process does as its n-th exchange of a group: `now`, or as soon as it does that."""
        connection = self.connect(rank)
        word = {"say": "ask", "group": group, "count": count, "now": now}
        try:
            connection.send_bytes(json.dumps(word).encode())
        except OSError:
            raise PeerGone(self.gone(rank)) from None
        return Question(rank, connection, self)

    def send(self, rank: int, group: int, array: np.ndarray) -> None:
        """Send an array to a process; it need not wait for it yet."""
        word = {"say": "tensor", "group": group, "rank": self.rank, "shape": array.shape}
        word["dtype"] = numpy_name(array.dtype)
        try:
            with self.lock:
                connection = self.outgoing.get(rank)
            if connection is None:
                connection = self.outgoing[rank] = self.connect(rank)
            connection.send_bytes(json.dumps(word).encode())
            connection.send_bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        except OSError as e:
            raise e if isinstance(e, PeerGone) else PeerGone(self.gone(rank)) from None

    def receive(self, rank: int, group: int, patience: float) -> np.ndarray:
        """Return the next array from a process.

        Raises:
            PeerGone: if the process ends before it has sent one.
            TimeoutError: if none has come within `patience` seconds.
        """
        box, end, gone = self.box(group, rank), time.monotonic() + patience, None
        while True:
            try:
                word, data = box.get(timeout=2)
                return np.frombuffer(data, as_dtype(word["dtype"]).np).reshape(word["shape"])
            except queue.Empty:
                if gone is not None:  # and what it sent before its end has had time to arrive
                    raise gone from None
                if time.monotonic() > end:
                    raise TimeoutError(f"rank {rank} has sent nothing for {patience:g} s") from None
                try:
                    self.reach(rank)
                except PeerGone as e:
                    gone = e

    def bye(self, why: str) -> None:
        """Tell all others that this process ends, and let those that wait for an exchange with it know."""
        for rank in self.peers:
            if rank != self.rank:
                try:
                    with connect(self.peers[rank], self.key) as connection:
                        connection.send_bytes(json.dumps({"say": "bye", "rank": self.rank, "why": why}).encode())
                except (OSError, EOFError, AuthenticationError):
                    continue
        self.is_leaving = True


class Question:
    """A question to a process that is not answered yet."""

    def __init__(self, rank: int, connection: Connection, messenger: Messenger) -> None:
        self.rank, self.connection, self.messenger = rank, connection, messenger

    def answered(self, patience: float) -> bool:
        """Whether the answer comes within some seconds."""
        return self.connection.poll(patience)

    def answer(self) -> str | None:
        """Return the answer.

        Raises:
            PeerGone: if the process ended before it.
        """
        try:
            return json.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            raise PeerGone(self.messenger.gone(self.rank)) from None
        finally:
            self.connection.close()
