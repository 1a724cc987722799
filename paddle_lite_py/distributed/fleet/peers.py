"""What workers of servers give to each other: bytes, over connections between any two of them."""

from __future__ import annotations

import hashlib
import io
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Client, Connection, Listener

import numpy as np

from .places import ServedPlace

# Seconds that workers wait for each other: compiling a large program takes a while.
PATIENCE = 600.0


class PeerError(RuntimeError):
    """Another worker has ended, or cannot be reached."""


class Peers:
    """The workers of a job, of which this process is one.

    Arguments:
        place: which one.
        token: a secret that all have.
        patience: seconds to wait for another.

    Examples:
        >>> alone = Peers(ServedPlace(1, 0, 1, ("127.0.0.1:80",)), "")
        >>> alone.gather({"loss": np.float32(0.5)})
        [{'loss': array(0.5, dtype=float32)}]
    """

    def __init__(self, place: ServedPlace, token: str, patience: float = PATIENCE) -> None:
        self.rank, self.size, self.patience = place.number, place.workers, patience
        self._endpoints = place.worker_endpoints
        self._key = hashlib.sha256(f"workers {token}".encode()).digest()
        self._connections: dict[int, Connection] = {}

    def gather(self, arrays: Mapping[str, np.ndarray | np.generic]) -> list[dict[str, np.ndarray]]:
        """The arrays of all workers, by rank.

        Raises:
            PeerError: naming the worker that has ended, or cannot be reached.
        """
        return self.exchange([arrays] * self.size)

    def barrier(self) -> None:
        """Wait until all workers are here."""
        self.gather({})

    def exchange(self, parts: Sequence[Mapping[str, np.ndarray | np.generic]]) -> list[dict[str, np.ndarray]]:
        """What all workers have for this one, by rank, who has a part for each of them.

        Raises:
            PeerError: naming the worker that has ended, or cannot be reached.
        """
        if self.size > 1 and not self._connections:
            self._connections = self._meet()
        found: list[dict[str, np.ndarray]] = [{}] * self.size
        found[self.rank] = {name: np.asarray(array) for name, array in parts[self.rank].items()}
        if self.size == 1:
            return found
        # Who only sent would wait for ever, where two send more than a connection holds.
        with ThreadPoolExecutor(self.size - 1) as pool:
            sent = {r: pool.submit(c.send_bytes, packed(parts[r])) for r, c in self._connections.items()}
            for rank, connection in self._connections.items():
                found[rank] = unpacked(self._received(rank, connection))
            for rank, done in sent.items():
                try:
                    done.result()
                except OSError as e:
                    raise self._gone(rank, e) from None
        return found

    def _received(self, rank: int, connection: Connection) -> bytes:
        try:
            if not connection.poll(self.patience):
                raise PeerError(f"worker {rank} has sent nothing to worker {self.rank} for {self.patience:g} s")
            return connection.recv_bytes()
        except (OSError, EOFError) as e:
            raise self._gone(rank, e) from None

    def _gone(self, rank: int, error: Exception) -> PeerError:
        return PeerError(
            f"worker {rank} at {self._endpoints[rank]} has ended ({type(error).__name__}), which worker {self.rank} "
            "waits for; its log says why"
        )

    def _meet(self) -> dict[int, Connection]:
        """Connections to all others: to lower ranks by this one, from higher ones by them."""
        if len(self._endpoints) != self.size:
            raise PeerError(
                f"there are {self.size} workers, whose addresses nobody has told: set PADDLE_TRAINER_ENDPOINTS to "
                "host:port,host:port, or give worker_endpoints to the role maker"
            )
        end = time.monotonic() + self.patience
        host, _, port = self._endpoints[self.rank].rpartition(":")
        with Listener((host, int(port)), authkey=self._key, backlog=self.size) as listener:
            came: queue.Queue[Connection | Exception] = queue.Queue()
            higher = self.size - 1 - self.rank
            threading.Thread(target=_accept, args=(listener, higher, came), daemon=True).start()
            found = {rank: self._towards(rank, end) for rank in range(self.rank)}
            for _ in range(higher):
                try:
                    connection = came.get(timeout=max(0.0, end - time.monotonic()))
                except queue.Empty:
                    missing = sorted(set(range(self.rank + 1, self.size)) - found.keys())
                    raise PeerError(f"worker {self.rank}: workers {missing} are not here") from None
                if isinstance(connection, Exception):
                    raise PeerError(f"worker {self.rank}: another worker cannot join: {connection}")
                found[int.from_bytes(connection.recv_bytes(4), "big")] = connection
        return dict(sorted(found.items()))

    def _towards(self, rank: int, end: float) -> Connection:
        host, _, port = self._endpoints[rank].rpartition(":")
        while True:
            try:
                connection = Client((host, int(port)), authkey=self._key)
                connection.send_bytes(self.rank.to_bytes(4, "big"))
                return connection
            except OSError as e:
                if time.monotonic() > end:
                    raise PeerError(f"worker {rank} cannot be reached at {host}:{port}: {e}") from None
                time.sleep(0.05)

    def close(self) -> None:
        """Part from the others."""
        for connection in self._connections.values():
            connection.close()
        self._connections = {}


def _accept(listener: Listener, count: int, came: queue.Queue[Connection | Exception]) -> None:
    for _ in range(count):
        try:
            came.put(listener.accept())
        except Exception as e:
            came.put(e)


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
    """The arrays that packed() wrote.

    Raises:
        ValueError: if it wrote something else.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}
