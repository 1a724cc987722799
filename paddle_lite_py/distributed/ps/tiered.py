"""Rows of which those that were used last are in memory, and the others on disk."""

from __future__ import annotations

import numpy as np

from .cold import ColdStore
from .growing import GrowingArray
from .hashing import PARTS
from .rows import START, RowStore

# Share of the rows of one part that goes to disk at a time. They are neighbours there, and so are written together.
SHARE = 1 / 4


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
        self._used_at, self._copied = GrowingArray(START, 0, np.int64), GrowingArray(START, 0, np.bool_)
        self._clock, self._turn = 0, 0
        self._copies = 0  # rows in memory of which the disk has an older copy

    def __len__(self) -> int:
        return len(self._index) + len(self._cold) - self._copies

    def make_room(self, count: int) -> None:
        """Bring rows that were not used for long to disk, part by part, until so many new ones have room.

        Raises:
            OSError: the disk is full; all rows are there as they were.
        """
        while len(self._index) and len(self._index) + count > self._limit:
            self._turn = (self._turn + 1) % PARTS
            ids, rows = self._index.part(self._turn)
            leaving = int(np.ceil(len(ids) * SHARE))
            oldest = np.argsort(self._used_at.array[rows])[:leaving]
            self._cold.replace(ids[:0], ids[oldest], self.values[rows[oldest]])
            self._forget(ids[oldest])

    def find(self, ids: np.ndarray) -> np.ndarray:
        """Return the row of each id, -1 where there is none; those on disk come to memory."""
        rows = super().find(ids)
        missing = rows < 0
        if missing.any():
            there, values = self._cold.get(ids[missing])
            if len(there):
                self._settle(there, values, np.ones(len(there), np.bool_))
                rows = super().find(ids)
        self._clock += 1
        self._used_at.array[rows[rows >= 0]] = self._clock
        return rows

    def place(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row of each id, a new one where it had none; and which ids got those, with numbers still to be set."""
        self.find(ids)
        rows, new_at = super().place(ids)
        self._begin(rows[new_at], np.zeros(len(new_at), np.bool_))
        return rows, new_at

    def remove(self, ids: np.ndarray) -> None:
        """Forget ids."""
        self._cold.replace(ids, ids[:0], np.empty((0, self.width), np.float32))
        self._forget(ids)

    def put(self, ids: np.ndarray, values: np.ndarray) -> None:
        """Set rows: those in memory there, others on disk if memory is full."""
        rows = super().find(ids)
        self.values[rows[rows >= 0]] = values[rows >= 0]
        ids, values = ids[rows < 0], values[rows < 0]
        room = max(self._limit - len(self._index), 0)
        self._settle(ids[:room], values[:room], np.isin(ids[:room], self._cold.get(ids[:room])[0]))
        self._cold.replace(ids[:0], ids[room:], values[room:])

    def part(self, part: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of one part of the table and a copy of their rows."""
        ids, values = super().part(part)
        cold_ids, cold = self._cold.part(part)
        only = super().find(cold_ids) < 0
        return np.concatenate([ids, cold_ids[only]]), np.concatenate([values, cold[only]])

    def _settle(self, ids: np.ndarray, values: np.ndarray, copied: np.ndarray) -> None:
        """Put rows into memory, whether or not the disk has copies of them."""
        rows, _ = super().place(ids)
        self.values[rows] = values
        self._begin(rows, copied)

    def _begin(self, rows: np.ndarray, copied: np.ndarray) -> None:
        """Note when rows came to memory, and whether the disk has copies."""
        for array in (self._used_at, self._copied):
            if len(array.array) < len(self.values):
                array.grow(len(self.values))
        self._used_at.array[rows] = self._clock
        self._copied.array[rows] = copied
        self._copies += int(copied.sum())

    def _forget(self, ids: np.ndarray) -> None:
        """Give the memory of rows to others."""
        rows = super().find(ids)
        self._copies -= int(self._copied.array[rows[rows >= 0]].sum())
        super().remove(ids)
