"""Messages to and from another worker, over one connection after another."""

from __future__ import annotations

import contextlib
import hmac
import queue
import threading
from collections import deque
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection
from typing import NamedTuple

from ...core.private_files import SIGNATURE_BYTES, signature

# Messages that one who comes back may lack: a step has two, and the others may have sent the first one of the next.
KEPT = 3
_NUMBER = 8  # bytes of a message's number, which comes before it, after the seal of both


class LineSeal(NamedTuple):
    """What seals messages of one connection: its key, and what tells its two ways apart."""

    key: bytes
    ours: str
    theirs: str


class PeerLine:
    """The messages between this worker and another one, in the order of their numbers.

    The last ones are kept. Whoever comes back says which it wants next, and gets them again.

    Arguments:
        wanted: number of the first message that is to come from there.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.met = False  # whether a connection was ever made
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._connection: Connection | None = None
        self._seal: LineSeal | None = None
        # Who only sent would wait for ever, where two send more than a connection holds.
        self._out: queue.SimpleQueue[tuple[Connection, LineSeal, int, bytes] | None] = queue.SimpleQueue()
        self._sender: threading.Thread | None = None

    @property
    def connected(self) -> bool:
        """Whether there is a connection, as far as this side knows."""
        return self._connection is not None

    def connect(self, connection: Connection, theirs: int, seal: LineSeal) -> None:
        """Take a connection with a seal of its own, and send again what the other one wants: all from a number on."""
        if self._sender is None:
            self._sender = threading.Thread(target=self._send_all, daemon=True)
            self._sender.start()
        self.drop()
        self._connection, self._seal, self.met = connection, seal, True
        for number, data in self._kept:
            if number >= theirs:
                self._put(number, data)

    def keep(self, number: int, data: bytes) -> None:
        """Have a message for the other one, should it want it."""
        self._kept.append((number, data))

    def send(self, number: int, data: bytes) -> None:
        """Send a message, at once or when there is a connection."""
        self.keep(number, data)
        if self._connection is not None:
            self._put(number, data)

    def receive(self, seconds: float) -> bytes | None:
        """Return the next message; None if it does not come in so many seconds.

        Raises:
            OSError, EOFError: if the connection is lost.
            AuthenticationError: if a message was altered on its way.
        """
        assert self._connection is not None
        assert self._seal is not None
        while self._connection.poll(seconds):
            message = memoryview(self._connection.recv_bytes())
            seal, sealed = message[:SIGNATURE_BYTES], message[SIGNATURE_BYTES:]
            if not hmac.compare_digest(seal, signature(self._seal.key, self._seal.theirs, sealed)):
                raise AuthenticationError("a message was altered on its way")
            if int.from_bytes(sealed[:_NUMBER], "big") == self.wanted:
                self.wanted += 1
                return bytes(sealed[_NUMBER:])
        return None

    def drop(self) -> None:
        """Leave a connection that is lost."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def close(self) -> None:
        """Send what is still to be sent, and end."""
        if self._sender is not None:
            self._out.put(None)
            self._sender.join(5.0)
        self.drop()

    def _put(self, number: int, data: bytes) -> None:
        assert self._connection is not None
        assert self._seal is not None
        self._out.put((self._connection, self._seal, number, data))

    def _send_all(self) -> None:
        while (message := self._out.get()) is not None:
            connection, seal, number, data = message
            sealed = number.to_bytes(_NUMBER, "big") + data
            with contextlib.suppress(OSError):  # who receives finds out
                connection.send_bytes(signature(seal.key, seal.ours, sealed) + sealed)
