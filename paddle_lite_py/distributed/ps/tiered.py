"""Rows of which those that were used last are in memory, and the others on disk."""

from __future__ import annotations

import numpy as np

from .cold import ColdStore
from .growing import GrowingArray
from .rows import START, RowStore

# Share of the rows in memory that goes to disk at a time.
SHARE = 1 / 16


class TieredRows(RowStore):
    """Rows as in a `RowStore`, of which a limited number is in memory between requests.

    Args:
        width: numbers in each row.
        limit: rows in memory.
        folder: where the others lie. None: where temporary files are.
    """

    def __init__(self, width: int, limit: int, folder: str | None) -> None:
        super().__init__(width)
        self._limit = limit
        self._cold = ColdStore(width, folder)
        self._owner, self._used_at = GrowingArray(START, 0, np.uint64), GrowingArray(START, 0, np.int64)
        self._clock = 0
        self._copies: list[np.ndarray] = []  # ids in memory that the disk still has as they were

    def __len__(self) -> int:
        return len(self._index) + len(self._cold) - sum(map(len, self._copies))

    def make_room(self, count: int) -> None:
        """Bring the rows that were not used for longest to disk, where so many new ones would be too many.

        Raises:
            OSError: the disk is full; all rows are where they were.
        """
        over = len(self._index) + count - self._limit
        if over <= 0 or not len(self._index):
            return
        leaving = min(max(over, int(self._limit * SHARE)), len(self._index))
        rows = np.flatnonzero(self._used_at.array[: self._used])
        oldest = rows[np.argpartition(self._used_at.array[rows], leaving - 1)[:leaving]]
        ids = self._owner.array[oldest]
        gone = np.concatenate([np.empty(0, np.uint64), *self._copies])
        self._cold.replace(np.setdiff1d(gone, ids), ids, self.values[oldest])
        self._copies.clear()
        self._forget(ids)

    def find(self, ids: np.ndarray) -> np.ndarray:
        """The row of each id, -1 where there is none; those on disk come to memory."""
        rows = super().find(ids)
        missing = rows < 0
        if missing.any():
            there, values = self._cold.get(ids[missing])
            if len(there):
                self._settle(there, values)
                self._copies.append(there)
                rows = super().find(ids)
        self._clock += 1
        self._used_at.array[rows[rows >= 0]] = self._clock
        return rows

    def place(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row of each id, a new one where it had none; and which ids got those, with numbers still to be set."""
        self.find(ids)
        rows, new_at = super().place(ids)
        self._own(rows[new_at], ids[new_at])
        return rows, new_at

    def remove(self, ids: np.ndarray) -> None:
        """Forget ids."""
        copies = np.concatenate([np.empty(0, np.uint64), *self._copies])
        self._copies = [np.setdiff1d(copies, ids)]
        self._cold.replace(ids, ids[:0], np.empty((0, self.width), np.float32))
        self._forget(ids)

    def put(self, ids: np.ndarray, values: np.ndarray) -> None:
        """Set rows: those in memory there, others on disk if memory is full."""
        inside = super().find(ids) >= 0
        self._settle(ids[inside], values[inside])
        ids, values = ids[~inside], values[~inside]
        room = max(self._limit - len(self._index), 0)
        self._settle(ids[:room], values[:room])
        self._copies.append(self._cold.get(ids[:room])[0])
        self._cold.replace(ids[:0], ids[room:], values[room:])

    def part(self, part: int) -> tuple[np.ndarray, np.ndarray]:
        """The ids of one part of the table and a copy of their rows."""
        ids, values = super().part(part)
        cold_ids, cold = self._cold.part(part)
        only = super().find(cold_ids) < 0
        return np.concatenate([ids, cold_ids[only]]), np.concatenate([values, cold[only]])

    def _settle(self, ids: np.ndarray, values: np.ndarray) -> None:
        """Put rows into memory."""
        rows, new_at = super().place(ids)
        self._own(rows[new_at], ids[new_at])
        self.values[rows] = values

    def _own(self, rows: np.ndarray, ids: np.ndarray) -> None:
        for array in (self._owner, self._used_at):
            if len(array.array) < len(self.values):
                array.grow(len(self.values))
        self._owner.array[rows] = ids
        self._used_at.array[rows] = max(self._clock, 1)

    def _forget(self, ids: np.ndarray) -> None:
        """Give the memory of rows to others."""
        rows = super().find(ids)
        self._used_at.array[rows[rows >= 0]] = 0
        super().remove(ids)
