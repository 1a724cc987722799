"""Connections between the processes of a job. Who does not know its secret is dropped, and nobody waits for them."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import math
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any

from ..core.config import user_secret

_log = logging.getLogger("paddle_lite_py.distributed")
KEY, KEY_FILE = "PADDLE_JOB_KEY", "PADDLE_JOB_KEY_FILE"
# Seconds that either end may take to show that it knows the secret. One whose process compiles may be slow.
HANDSHAKE = 30.0
# Connections that have not shown it yet; where there are more, the one that has waited longest is dropped.
PENDING = 128


def job_secret(*names: str) -> str:
    """Return the secret of a job: from the environment or a file, or derived from the user's for these names.

    The last is in a file that the user alone can read, so nodes have the same one where they share the user's home.

    Raises:
        ValueError: if the file that is named holds nothing.
        OSError: if it cannot be read.
    """
    if known := os.environ.get(KEY):
        return known
    if path := os.environ.get(KEY_FILE):
        if not (text := Path(path).read_text().strip()):
            raise ValueError(f"{KEY_FILE}: {path} is empty; it should hold the secret of the job")
        return text
    return derived_secret(user_secret(), f"job {names!r}")


def derived_secret(secret: bytes, name: str) -> str:
    """Derive a secret for a name. It tells nothing of the secret that it is derived from, nor of those for other names.

    Example:
        >>> derived_secret(b"a", "x") == derived_secret(b"a", "x") != derived_secret(b"a", "y")
        True
    """
    return hmac.digest(secret, name.encode(), hashlib.sha256).hex()


def key_of(secret: str) -> bytes:
    """Return a key of a secret, which itself does not travel."""
    return hashlib.sha256(secret.encode()).digest()


class Dropped:
    """Tells the log of what is dropped: at most once a second, with how many there were, so that no log is filled.

    Arguments:
        where: what has dropped it.
    """

    def __init__(self, where: str) -> None:
        self._where, self._count, self._told = where, 0, -math.inf

    def tell(self, what: str, why: Exception) -> None:
        """Note something that is dropped."""
        self._count += 1
        if time.monotonic() - self._told < 1.0:
            return
        more = f" (and {self._count - 1} before)" if self._count > 1 else ""
        _log.warning("%s: %s is dropped: %s: %s%s", self._where, what, type(why).__name__, why, more)
        self._told, self._count = time.monotonic(), 0


class Reception:
    """Takes connections, each in a thread of its own: who knows the key is welcome, the others are dropped.

    Arguments:
        listener: where they come.
        key: what they must know.
        welcome: is called with each of them, in its thread; what it raises ends that connection alone.
        name: what the log calls this.
    """

    def __init__(self, listener: Listener, key: bytes, welcome: Callable[[Connection], Any], name: str) -> None:
        self._listener, self._key, self._welcome, self._name = listener, key, welcome, name
        self._pending: dict[Connection, None] = {}  # in the order in which they came
        self._lock, self._over, self._dropped = threading.Lock(), False, Dropped(name)
        self._address: Any = listener.address
        self._thread = threading.Thread(target=self._accept, daemon=True, name=name)
        self._thread.start()

    def _accept(self) -> None:
        while not self._over:
            try:
                connection = self._listener.accept()
            except OSError:  # of one that has gone again, or the process has too many files open
                time.sleep(0.05)
                continue
            if self._over:
                return connection.close()
            with self._lock:
                if len(self._pending) >= PENDING:
                    _hang_up(next(iter(self._pending)))
                self._pending[connection] = None
            come = connection, self._listener.last_accepted
            threading.Thread(target=self._admit, args=come, daemon=True, name=f"{self._name} member").start()

    def _admit(self, connection: Connection, who: Any) -> None:
        try:
            try:
                _give_up_after(connection, HANDSHAKE)
                deliver_challenge(connection, self._key)
                answer_challenge(connection, self._key)
                _give_up_after(connection, 0)
            finally:
                with self._lock:
                    del self._pending[connection]
            self._welcome(connection)
        except Exception as e:  # whatever a stranger sends
            connection.close()
            if not self._over:
                self._dropped.tell(f"a connection from {who}", e)

    def close(self) -> None:
        """Take no more; the port is free afterwards."""
        self._over = True
        with contextlib.suppress(OSError):  # wakes the thread that accepts
            socket.create_connection(self._address, 1.0).close()
        self._thread.join(5.0)
        self._listener.close()


def connect(at: tuple[str, int], key: bytes, seconds: float = HANDSHAKE) -> Connection:
    """Return a connection to a member of the job, which has shown that it is one.

    Raises:
        multiprocessing.AuthenticationError: if it has another key.
        OSError, EOFError: if nobody is there, or nobody who answers in time.
    """
    with socket.create_connection(at, seconds) as found:
        found.settimeout(None)
        connection: Any = Connection(found.detach())
    try:
        _give_up_after(connection, seconds)
        answer_challenge(connection, key)
        deliver_challenge(connection, key)
        _give_up_after(connection, 0)
    except BaseException:
        connection.close()
        raise
    return connection


def _hang_up(connection: Connection) -> None:
    """Let the thread that reads from a connection find its end."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as same:
        same.shutdown(socket.SHUT_RDWR)


def _give_up_after(connection: Connection, seconds: float) -> None:
    """Let reading and writing fail that takes longer; 0: never."""
    limit = struct.pack("ll", int(seconds), 0)
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        for what in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            same.setsockopt(socket.SOL_SOCKET, what, limit)
