"""Connections between the launchers of an elastic job: one leads, at the address that all know."""

from __future__ import annotations

import itertools
import json
import queue
import threading
import time
from collections.abc import Callable
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener
from typing import Any

from ..members import Reception, connect, derived_secret, job_secret, key_of
from .meeting import LONGEST, listen, stranger
from .membership import Membership, Terms, Word

# Seconds between two signs of life.
BEAT = 1.0
# Seconds that who leads waits for the others to hear its last word.
FAREWELL = 5.0

LOST: Word = {"say": "lost"}


def receive(connection: Connection) -> Word:
    """Return the next word.

    Raises:
        OSError, EOFError: if none comes any more.
    """
    try:
        found = json.loads(connection.recv_bytes(LONGEST))
    except ValueError:
        found = None
    if not isinstance(found, dict) or "say" not in found:
        raise OSError("no word of a launcher")
    return found


class Leader:
    """Hears the launchers, and says which of them make up the world."""

    def __init__(self, listener: Listener, key: bytes, terms: Terms) -> None:
        self.membership = Membership(terms, time.monotonic())
        self.connections: dict[int, Connection] = {}
        self.heard: queue.SimpleQueue[tuple[int, Word | Connection]] = queue.SimpleQueue()
        self.numbers = itertools.count(1)
        self.reception = Reception(listener, key, self._hear, "launch")
        self.thread = threading.Thread(target=self._lead, daemon=True, name="launch lead")
        self.thread.start()

    def _hear(self, connection: Connection) -> None:
        """The words of one launcher, each into the queue."""
        who = next(self.numbers)
        self.heard.put((who, connection))
        try:
            while True:
                self.heard.put((who, receive(connection)))
        except (OSError, EOFError, TypeError):  # the last of a connection that was closed meanwhile
            self.heard.put((who, LOST))

    def _lead(self) -> None:
        membership = self.membership
        end = float("inf")
        while time.monotonic() < end and not (membership.over and not self.connections):
            try:
                self._take(*self.heard.get(timeout=0.1))
            except queue.Empty:
                pass
            membership.tick(time.monotonic())
            while membership.said:
                self._say(*membership.said.pop(0))
            if membership.over:
                end = min(end, time.monotonic() + FAREWELL)
        self.reception.close()

    def _take(self, who: int, word: Word | Connection) -> None:
        now = time.monotonic()
        if isinstance(word, Connection):
            self.connections[who] = word
        elif word is LOST:
            self.membership.lost(who, now)
            self.connections.pop(who).close()
        else:
            try:
                self.membership.heard(who, word, now)
            except (KeyError, TypeError, ValueError):  # no word of this version of the launcher
                self.membership.lost(who, now)

    def _say(self, who: int, word: Word) -> None:
        try:
            self.connections[who].send_bytes(json.dumps(word).encode())
        except (KeyError, OSError):
            return  # its end will be heard


class Link:
    """The connection of a launcher to who leads, which may be itself.

    Arguments:
        master: host:port, where who leads listens.
        job: the name of the job, which all must know.
        terms: what all must agree on.
    """

    def __init__(self, master: str, job: str, terms: Terms) -> None:
        host, _, port = master.rpartition(":")
        self.at, self.terms = (host, int(port)), terms
        self._secret = job_secret(master, job)
        self.key = key_of(self._secret)
        self.leader: Leader | None = None
        self.connection: Connection | None = None
        self.words: queue.SimpleQueue[Word] = queue.SimpleQueue()
        self.sending = threading.Lock()

    def secret_of(self, salt: str) -> str:
        """Derive the secret of the processes of a world from its salt: messages are not encrypted."""
        return derived_secret(self._secret.encode(), f"world {salt}")

    def connect(self, patience: float, given_up: Callable[[], Any]) -> None:
        """Find who leads, or lead; nothing if `given_up` says so meanwhile.

        Raises:
            TimeoutError: if nobody leads for `patience` seconds.
            PermissionError: if who leads does not know the job.
        """
        end = time.monotonic() + patience
        while not given_up():
            leads = self.leader is not None and self.leader.thread.is_alive()
            if not leads and (listener := listen(self.at)) is not None:
                self.leader = Leader(listener, self.key, self.terms)
            try:
                return self._begin(connect(self.at, self.key))
            except AuthenticationError:
                raise stranger(self.at) from None
            except (OSError, EOFError):
                if time.monotonic() > end:
                    raise TimeoutError(
                        f"launch: no answer from --master {self.at[0]}:{self.at[1]} for {patience:g} s; start a "
                        "launcher on that host, and check that the others can reach it"
                    ) from None
                time.sleep(0.2)

    def _begin(self, connection: Connection) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection, self.words = connection, queue.SimpleQueue()
        for target in (self._hear, self._beat):
            threading.Thread(target=target, args=(connection, self.words), daemon=True).start()

    def _hear(self, connection: Connection, words: queue.SimpleQueue[Word]) -> None:
        try:
            while connection.poll(self.terms.ttl):
                if (word := receive(connection))["say"] != "here":
                    words.put(word)
        except (OSError, EOFError, TypeError):
            pass
        words.put(LOST)

    def _beat(self, connection: Connection, _words: Any) -> None:
        while self._send(connection, {"say": "here"}):
            time.sleep(BEAT)

    def _send(self, connection: Connection, word: Word) -> bool:
        try:
            with self.sending:
                connection.send_bytes(json.dumps(word).encode())
            return True
        except OSError:
            return False

    def say(self, what: str, **more: Any) -> None:
        """A word to who leads."""
        if self.connection is not None:
            self._send(self.connection, {"say": what, **more})

    def hear(self, seconds: float = 0.0) -> Word | None:
        """Return the next word, if one comes within so many seconds."""
        try:
            return self.words.get(timeout=seconds) if seconds else self.words.get_nowait()
        except queue.Empty:
            return None

    def close(self) -> None:
        """Leave; who leads a job that is over waits until the others have heard."""
        if self.connection is not None:
            self.connection.close()
        if self.leader is not None and self.leader.membership.over:
            self.leader.thread.join(FAREWELL)
