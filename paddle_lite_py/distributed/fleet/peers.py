"""Byte messages between workers of parameter servers, over connections between any two of them."""

from __future__ import annotations

import contextlib
import io
import os
import queue
import time
from collections.abc import Mapping, Sequence
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener

import numpy as np

from ..members import Reception, connect, derived_secret, job_secret, key_of
from .line import LineSeal, PeerLine
from .places import ServedPlace
from .said import Said

# Seconds that workers wait for each other: compiling a large program takes a while.
PATIENCE = 600.0
NONCE = 16  # bytes that each side of a connection draws, to seal its messages
# Seconds between two looks at whether another worker has come.
PAUSE = 0.1


class PeerError(RuntimeError):
    """Another worker has ended, or cannot be reached."""


class Peers:
    """The workers of a job, of which this process is one.

    Arguments:
        place: which one.
        token: a secret that all have.
        patience: seconds to wait for another.
        folder: of this worker, where what it has said outlives it: a worker that ends is started again, and the
            others wait for it. None: a worker that ends is gone.
        count: how many exchanges this worker has made, before it was started again.

    Examples:
        >>> alone = Peers(ServedPlace(1, 0, 1, ("127.0.0.1:80",)), "")
        >>> alone.gather({"loss": np.float32(0.5)})
        [{'loss': array(0.5, dtype=float32)}]
    """

    def __init__(
        self, place: ServedPlace, token: str, patience: float = PATIENCE, folder: str | None = None, count: int = 0
    ) -> None:
        self.rank, self.size, self.patience, self.count = place.number, place.workers, patience, count
        self._endpoints = place.worker_endpoints
        self._said = Said(folder) if folder is not None else None
        self._key = key_of(f"workers {token or job_secret(*place.worker_endpoints)}")
        self._lines = {rank: PeerLine(count) for rank in range(self.size) if rank != self.rank}
        for number, messages in self._said.before(count) if self._said else ():
            for rank, line in self._lines.items():
                line.keep(number, messages[rank])
        self._came: queue.SimpleQueue[tuple[int, Connection, int, LineSeal]] = queue.SimpleQueue()
        self._reception: Reception | None = None

    def gather(self, arrays: Mapping[str, np.ndarray | np.generic]) -> list[dict[str, np.ndarray]]:
        """Return the arrays of all workers, by rank.

        Raises:
            PeerError: naming the worker that has ended, or cannot be reached.
        """
        return self.exchange([arrays] * self.size)

    def barrier(self) -> None:
        """Wait until all workers are here."""
        self.gather({})

    def exchange(self, parts: Sequence[Mapping[str, np.ndarray | np.generic]]) -> list[dict[str, np.ndarray]]:
        """Send each worker its part, and return the parts from all of them by rank.

        Raises:
            PeerError: naming the worker that has ended, or cannot be reached.
        """
        number, self.count = self.count, self.count + 1
        found: list[dict[str, np.ndarray]] = [{}] * self.size
        found[self.rank] = {name: np.asarray(array) for name, array in parts[self.rank].items()}
        messages = [packed(part) if self._said or rank in self._lines else b"" for rank, part in enumerate(parts)]
        if self._said:  # some may have received this worker's message already, before it was restarted
            messages = self._said.again(number, messages)
            found[self.rank] = unpacked(messages[self.rank])
        if self.size > 1 and self._reception is None:
            self._listen()
        for rank, line in self._lines.items():
            line.send(number, messages[rank])
        for rank in self._lines:
            found[rank] = unpacked(self._received(rank))
        return found

    def _received(self, rank: int) -> bytes:
        """Return the next message of another worker, which may end meanwhile and come back."""
        line, lost, end = self._lines[rank], "", time.monotonic() + self.patience
        while time.monotonic() < end:
            try:
                self._welcome(0.0 if line.connected or rank < self.rank else PAUSE)
                if not line.connected and rank < self.rank:
                    self._dial(rank)
                if line.connected and (message := line.receive(PAUSE)) is not None:
                    return message
            except (OSError, EOFError, AuthenticationError) as e:
                if line.connected:
                    line.drop()
                    lost, end = type(e).__name__, time.monotonic() + self.patience
                if lost and self._said is None:
                    raise self._gone(rank, lost) from None
                time.sleep(PAUSE / 2)
        if lost:
            raise self._gone(rank, f"{lost}, and it has not come back for {self.patience:g} s")
        if not line.met:
            missing = [r for r, other in self._lines.items() if not other.met]
            raise PeerError(f"worker {self.rank}: workers {missing} are not here after {self.patience:g} s")
        raise PeerError(f"worker {rank} has sent nothing to worker {self.rank} for {self.patience:g} s")

    def _gone(self, rank: int, why: str) -> PeerError:
        return PeerError(
            f"worker {rank} at {self._endpoints[rank]} has ended ({why}), which worker {self.rank} waits for; its log "
            "says why"
        )

    # -- connections: to lower ranks by this one, from higher ones by them ---------------------------------------------
    def _listen(self) -> None:
        if len(self._endpoints) != self.size:
            raise PeerError(
                f"there are {self.size} workers, but their addresses are unknown: set PADDLE_TRAINER_ENDPOINTS to "
                "host:port,host:port, or give worker_endpoints to the role maker"
            )
        listener = Listener(self._address(self.rank), backlog=64)
        self._reception = Reception(listener, self._key, self._accept, f"worker {self.rank}")

    def _accept(self, connection: Connection) -> None:
        said, nonce = connection.recv_bytes(12 + NONCE), os.urandom(NONCE)
        rank, theirs = int.from_bytes(said[:4], "big"), int.from_bytes(said[4:12], "big")
        connection.send_bytes(self._lines[rank].wanted.to_bytes(8, "big") + nonce)
        self._came.put((rank, connection, theirs, self._seal(rank, said[12:] + nonce)))

    def _welcome(self, seconds: float) -> None:
        """Take the connections that have come."""
        with contextlib.suppress(queue.Empty):
            while True:
                rank, connection, theirs, seal = self._came.get(timeout=seconds or None, block=bool(seconds))
                self._lines[rank].connect(connection, theirs, seal)
                seconds = 0.0

    def _dial(self, rank: int) -> None:
        """Connect to another worker.

        Raises:
            OSError: if it is not there.
        """
        connection, nonce = connect(self._address(rank), self._key), os.urandom(NONCE)
        wanted = self._lines[rank].wanted.to_bytes(8, "big")
        connection.send_bytes(self.rank.to_bytes(4, "big") + wanted + nonce)
        said = connection.recv_bytes(8 + NONCE)
        self._lines[rank].connect(connection, int.from_bytes(said[:8], "big"), self._seal(rank, nonce + said[8:]))

    def _seal(self, rank: int, nonces: bytes) -> LineSeal:
        """Return the seal of the messages of a new connection to another worker."""
        key = derived_secret(self._key, nonces.hex()).encode()
        return LineSeal(key, f"from {self.rank}", f"from {rank}")

    def _address(self, rank: int) -> tuple[str, int]:
        host, _, port = self._endpoints[rank].rpartition(":")
        return host, int(port)

    def close(self) -> None:
        """Part from the others."""
        for line in self._lines.values():
            line.close()
        if self._reception is not None:
            self._reception.close()
            self._reception = None


def packed(arrays: Mapping[str, np.ndarray | np.generic]) -> bytes:
    """Arrays as bytes.

    Examples:
        >>> unpacked(packed({"ids": np.arange(3)}))
        {'ids': array([0, 1, 2])}
    """
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **{name: np.asarray(a) for name, a in arrays.items()})
    return out.getvalue()


def unpacked(data: bytes) -> dict[str, np.ndarray]:
    """Return the arrays that packed() wrote.

    Raises:
        ValueError: if it wrote something else.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}
