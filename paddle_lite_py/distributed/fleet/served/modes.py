"""The ways in which workers keep step with each other.

Each is given gradients and gives values. `synchronous`: all workers make one step together, with the mean of their
gradients. `asynchronous`: a worker waits for nobody, and reads ahead. `half asynchronous`: it waits for its own
gradients to have arrived. `geo`, in a module of its own: it trains by itself, and sends changes now and then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..peers import Peers
from .progress import Progress
from .step import Gradients, IdRows, mean, merged
from .tables import DENSE

if TYPE_CHECKING:
    from ...ps import Client


class Mode(Protocol):
    """How a worker gets values and gives gradients."""

    reads_ahead: bool  # whether rows for the next batch may be read while this one is trained on

    def rows(self, table: str, ids: np.ndarray) -> np.ndarray:
        """Return the rows of distinct ids, float32 [n, columns]."""

    def dense(self) -> np.ndarray | None:
        """Return the dense parameters, where they have changed since the last step."""

    def push(self, step: Gradients) -> None:
        """Give the gradients of a step."""

    def flush(self) -> None:
        """Wait until what this worker gave has arrived."""

    def settle(self) -> None:
        """The same, and where workers keep step wait until all of them are here."""


def send(client: Client, step: Gradients) -> None:
    """Push all gradients of a step."""
    for name, r in step.sparse.items():
        client.push_sparse(name, r.ids, r.values, r.shows, r.clicks, step.rate)
    if step.dense is not None:
        client.push_dense(DENSE, step.dense, step.rate)


class Asynchronous:
    """A worker by itself, with some of its pushes under way.

    Arguments:
        client: of the servers.
        under_way: how many steps may be; 0: each has arrived before the next begins (half asynchronous).
        merge: so many steps are averaged, and pushed as one.
        progress: a callback for steps that have arrived.
    """

    def __init__(self, client: Client, under_way: int = 16, merge: int = 1, progress: Progress | None = None) -> None:
        self._client, self._most, self._merge, self._progress = client, under_way, merge, progress or Progress()
        self._number = 0
        self.reads_ahead = under_way > 0
        self._kept: list[Gradients] = []
        self._behind = ThreadPoolExecutor(1, "pushes")  # in their order
        self._sent: deque[Future[np.ndarray | None]] = deque()
        self._next: np.ndarray | None = None

    def rows(self, table: str, ids: np.ndarray) -> np.ndarray:
        """Return the rows as they are now."""
        return self._client.pull_sparse(table, ids)

    def dense(self) -> np.ndarray | None:
        """Return the latest values that have come back behind a push."""
        while self._sent and self._sent[0].done():
            self._arrived()
        found, self._next = self._next, None
        return found

    def push(self, step: Gradients) -> None:
        """Send, and wait no longer than until as many are under way as may be."""
        self._number = self._progress.begin()
        if step.own is not None and self._progress.restarts:  # others are made before this one has arrived
            own = step.own()
            step = step._replace(own=lambda: own)
        self._kept.append(step)
        if len(self._kept) == self._merge:
            self._send()
            self._wait(self._most)

    def flush(self) -> None:
        """Wait until all has arrived."""
        self._send()
        self._wait(0)

    settle = flush

    def _send(self) -> None:
        if self._kept:
            self._sent.append(self._behind.submit(self._exchange, mean(self._kept), self._number))
            self._kept = []

    def _exchange(self, step: Gradients, number: int) -> np.ndarray | None:
        with self._client.once("step", number):
            send(self._client, step)
        self._progress.done(number, own=step.own)
        return None if step.dense is None else self._client.pull_dense(DENSE)

    def _wait(self, most: int) -> None:
        while len(self._sent) > most:
            self._arrived()

    def _arrived(self) -> None:
        found = self._sent.popleft().result()
        self._next = self._next if found is None else found


class Synchronous:
    """All workers together: a step is the mean of the gradients of those that have a batch.

    Each worker merges the ids that are its own among the workers', so that servers see an id once for each step,
    regardless of its owner, and results do not depend on the order of arrival.
    """

    reads_ahead = False

    def __init__(self, client: Client, peers: Peers, progress: Progress | None = None) -> None:
        self._client, self._peers, self._progress = client, peers, progress or Progress()
        self._stale = False

    def rows(self, table: str, ids: np.ndarray) -> np.ndarray:
        """Return the rows as the last step of all has left them."""
        return self._client.pull_sparse(table, ids)

    def dense(self) -> np.ndarray | None:
        """Return the values that the last step of all has left."""
        stale, self._stale = self._stale, False
        return self._client.pull_dense(DENSE) if stale else None

    def push(self, step: Gradients) -> None:
        """Make one step with all others."""
        number = self._progress.begin()
        self._together(step)
        self._progress.done(number, self._peers.count, step.own)

    def flush(self) -> None:
        """Nothing is under way: a step ends when all have made it."""

    def settle(self) -> None:
        """Take part in steps that others still make, until none of them has a batch left."""
        while self._together(None):
            self._progress.exchanged(self._peers.count)

    def _together(self, step: Gradients | None) -> bool:
        """Return one step; whether anybody had a batch."""
        number = self._peers.count
        # After a restart workers repeat their messages: new gradients would be of rows that others have changed since.
        found = self._peers.exchange([_for_worker(step, r, self._peers.size) for r in range(self._peers.size)])
        active = [f for f in found if len(f)]
        if not active:
            return False
        with self._client.once("step", number):
            send(self._client, _mean_of(active))
        self._peers.barrier()
        self._stale = True
        return True


def _for_worker(step: Gradients | None, rank: int, size: int) -> dict[str, np.ndarray]:
    """Return the part of a step that a worker merges: its own ids, and the dense gradient for the first worker."""
    if step is None:
        return {}
    out = {"rate": np.array(step.rate, np.float32)}
    if rank == 0 and step.dense is not None:
        out["dense"] = step.dense
    for name, rows in step.sparse.items():
        own = rows.part(rows.ids % size == rank)
        out |= {f"{field}/{name}": a for field, a in own._asdict().items() if a is not None}
    return out


def _mean_of(found: Sequence[Mapping[str, np.ndarray]]) -> Gradients:
    count = np.float32(len(found))
    sparse: dict[str, list[IdRows]] = {}
    for f in found:
        for name in [n.removeprefix("ids/") for n in f if n.startswith("ids/")]:
            counted = (f.get(f"shows/{name}"), f.get(f"clicks/{name}"))
            sparse.setdefault(name, []).append(IdRows(f[f"ids/{name}"], f[f"values/{name}"], *counted))
    rows = {name: merged(parts) for name, parts in sorted(sparse.items())}
    means = {name: r._replace(values=r.values / count) for name, r in rows.items() if len(r.ids)}
    dense = [f["dense"] for f in found if "dense" in f]
    return Gradients(means, sum(dense[1:], start=dense[0]) / count if dense else None, float(found[0]["rate"]))
