"""Rows of numbers by id, in memory."""

from __future__ import annotations

import numpy as np

from .compiled import HAS_NUMBA, compiled
from .growing import GrowingArray
from .index import new_index

START = 1024  # rows that there is room for at first


@compiled
def _gather(values, rows, out):
    for i in range(len(rows)):
        for c in range(out.shape[1]):
            out[i, c] = values[rows[i], c] if rows[i] >= 0 else np.float32(0)


class RowStore:
    """A float32 matrix of which each id has a row, or none. Rows of removed ids are used again.

    Args:
        width: numbers in each row.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._index = new_index()
        self._matrix = GrowingArray(START, width, np.float32)
        self._used = 0
        self._free = np.empty(0, np.int32)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def values(self) -> np.ndarray:
        """The matrix; not to be kept, since it moves when it grows."""
        return self._matrix.array

    @property
    def bytes(self) -> int:
        """Memory of the rows that are or were in use; of the index besides."""
        return self._used * self.width * 4

    def find(self, ids: np.ndarray) -> np.ndarray:
        """Return the row of each id, -1 where there is none."""
        return self._index.find(ids)

    def place(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row of each id, a new one where it had none; and which ids got those, with numbers still to be set."""
        rows = self._index.find(ids)
        missing = np.flatnonzero(rows < 0)
        if not len(missing):
            return rows, missing
        fresh = self._fresh(len(missing))
        rows[missing], new_at = self._index.place(ids[missing], fresh)
        self._give_back(fresh[len(new_at) :])
        return rows, missing[new_at]

    def put(self, ids: np.ndarray, values: np.ndarray) -> None:
        """Set rows, whether they were there or not."""
        rows, _ = self.place(ids)
        self.values[rows] = values

    def make_room(self, count: int) -> None:
        """Prepare for so many new rows."""

    def remove(self, ids: np.ndarray) -> None:
        """Forget ids."""
        rows = self._index.remove(ids)
        self._free = np.concatenate([self._free, rows[rows >= 0]])

    def take(self, rows: np.ndarray, columns: int) -> np.ndarray:
        """Return the first columns of rows; zeros for those that are -1."""
        if not HAS_NUMBA:
            return np.where((rows >= 0)[:, None], self.values[rows, :columns], np.float32(0))
        out = np.empty((len(rows), columns), np.float32)
        _gather(self.values, rows, out)
        return out

    def part(self, part: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of one part of the table and a copy of their rows."""
        ids, rows = self._index.part(part)
        return ids, self.values[rows]

    def _fresh(self, count: int) -> np.ndarray:
        """Rows that nobody has: of removed ids first."""
        again = self._free[max(len(self._free) - count, 0) :]
        self._free = self._free[: len(self._free) - len(again)]
        first, self._used = self._used, self._used + count - len(again)
        while self._used > len(self.values):
            self._matrix.grow(2 * len(self.values))
        return np.concatenate([again, np.arange(first, self._used, dtype=np.int32)])

    def _give_back(self, rows: np.ndarray) -> None:
        if len(rows):
            self._free = np.concatenate([self._free, rows])
