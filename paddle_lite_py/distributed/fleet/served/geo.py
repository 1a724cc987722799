"""Workers that train by themselves, each on values of its own, and send what has changed every so many steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...ps.config import SparseConfig
from ...ps.hashing import PARTS
from ...ps.sparse import Push, SparseTable
from ...ps.updates import state_columns
from .own_rows import OwnRows, Rows
from .progress import Progress
from .step import Gradients
from .tables import DENSE

if TYPE_CHECKING:
    from ...ps import Client


class Copy:
    """A worker's own copy of table rows as it trains them, next to their values when they came from the servers."""

    def __init__(self, client: Client, config: SparseConfig) -> None:
        self._client, self._name = client, config.name
        self._now, self._before = SparseTable(config), SparseTable(config)
        self._seen = np.zeros(0, np.uint64)
        self._touched: list[np.ndarray] = []

    def rows(self, ids: np.ndarray) -> np.ndarray:
        """Return the worker's own values; those of ids that it has not met come from the servers."""
        keys = ids.astype(np.uint64)
        new = np.setdiff1d(keys, self._seen, assume_unique=True)
        if len(new):
            self._take(new)
            self._seen = np.union1d(self._seen, new)
        return self._now.pull(keys)

    def push(self, ids: np.ndarray, gradients: np.ndarray, rate: float) -> None:
        """Train some rows."""
        keys, ones = ids.astype(np.uint64), np.ones(len(ids), np.float32)
        self._now.push(Push(keys, gradients, ones, ones * 0, rate))
        self._touched.append(keys)

    def __len__(self) -> int:
        return len(self._now)

    def own(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Some ids, and all numbers of their rows, with those of the optimizer."""
        rows = self._now.rows.find(keys)
        keys, rows = keys[rows >= 0], rows[rows >= 0]
        return keys, self._now.rows.take(rows, self._now.rows.width)

    def own_all(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the same of all ids."""
        parts = [self._now.rows.part(part) for part in range(PARTS)]
        return np.concatenate([ids for ids, _ in parts]), np.concatenate([values for _, values in parts])

    def put(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Have rows as own() gave them; their weights come from the servers when they are met."""
        self._now.rows.put(keys, values)

    def exchange(self, workers: int) -> np.ndarray:
        """Send what has changed, as one of so many workers, and take what all have made of it; the ids."""
        if not self._touched:
            return np.zeros(0, np.uint64)
        keys = np.unique(np.concatenate(self._touched))
        self._touched = []
        change = (self._now.pull(keys) - self._before.pull(keys)) / np.float32(workers)
        self._client.add_sparse(self._name, keys, change)
        self._take(keys)
        return keys

    def _take(self, keys: np.ndarray) -> None:
        values = self._client.pull_sparse(self._name, keys)
        for table in (self._now, self._before):
            table.add(keys, values - table.pull(keys))


class Geo:
    """A worker by itself, which exchanges changes with the servers every k steps.

    Arguments:
        client: of the servers.
        configs: of its tables.
        steps: how many it makes between exchanges.
        workers: how many workers there are; each sends that part of its changes.
        read: gives the dense parameters as the program has trained them; None if there are none.
        progress: a callback for steps that have been sent.
    """

    reads_ahead = False

    def __init__(
        self, client: Client, configs: Mapping[str, SparseConfig], steps: int, workers: int,
        read: Callable[[], np.ndarray] | None, progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self._client, self._steps, self._workers, self._read = client, steps, workers, read
        self._copies = {name: Copy(client, config) for name, config in configs.items()}
        self._before = self._fresh = client.pull_dense(DENSE) if read else None
        self._made = self._number = 0
        self._progress = progress or Progress()
        self._own: Callable[[], Mapping[str, np.ndarray]] | None = None
        # The optimizers' state of rows exists here alone; a restarted worker without it would make larger steps.
        kept = any(state_columns(config.rule, config.columns) for config in configs.values())
        folder = self._progress.folder if kept else None
        self._rows = None if folder is None else OwnRows(folder, self._progress.noted)
        for found in self._rows.read() if self._rows else ():
            for name, rows in found.items():
                self._copies[name].put(*rows)

    def rows(self, table: str, ids: np.ndarray) -> np.ndarray:
        """Return the worker's own values."""
        return self._copies[table].rows(ids)

    def dense(self) -> np.ndarray | None:
        """Return the dense part that the servers merged from all workers' changes, after an exchange."""
        fresh, self._fresh = self._fresh, None
        return fresh

    def push(self, step: Gradients) -> None:
        """Train the rows; the dense parameters the program has trained itself."""
        self._number, self._own = self._progress.begin(), step.own
        for name, rows in step.sparse.items():
            self._copies[name].push(rows.ids, rows.values, step.rate)
        self._made += 1
        if self._made == self._steps:
            self.flush()

    def flush(self) -> None:
        """Exchange changes now."""
        if not self._made:
            return
        self._made = 0
        with self._client.once("step", self._number):
            sent = {name: copy.exchange(self._workers) for name, copy in self._copies.items()}
            if self._read is not None:
                self._client.add_dense(DENSE, (self._read() - self._before) / np.float32(self._workers))
                self._before = self._fresh = self._client.pull_dense(DENSE)
        if self._rows:
            own = {name: self._copies[name].own(keys) for name, keys in sent.items()}
            self._rows.keep(self._number, own, sum(map(len, self._copies.values())), self._all)
        self._progress.done(self._number, own=self._own)

    def _all(self) -> Rows:
        return {name: copy.own_all() for name, copy in self._copies.items()}

    settle = flush
