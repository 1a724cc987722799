"""Arrays that grow without being copied: the kernel moves their pages."""

from __future__ import annotations

import mmap
import sys

import numpy as np

# Untouched memory takes none; Python has the kernel's flag for "reserve nothing" only from 3.13 on.
_NORESERVE = 0x4000
_PAGE = mmap.ALLOCATIONGRANULARITY
# Bytes from which on an array asks for large pages: addresses of single rows are found faster then.
_LARGE = 32 << 20


class GrowingArray:
    """An array whose first dimension grows, and whose memory is taken as it is written to. It begins as zeros.

    Args:
        rows: how many to begin with.
        columns: numbers in each row; 0: the array has one dimension.
        dtype: of the numbers.
    """

    def __init__(self, rows: int, columns: int, dtype: type) -> None:
        self._shape = (columns,) if columns else ()
        self._dtype = np.dtype(dtype)
        self._width = self._dtype.itemsize * max(columns, 1)
        self._linux = sys.platform == "linux"
        self._map = self._mapped(rows)
        self.array = self._view(rows)

    def _bytes(self, rows: int) -> int:
        return -(-max(rows * self._width, 1) // _PAGE) * _PAGE

    def _mapped(self, rows: int) -> mmap.mmap:
        if not self._linux:
            return mmap.mmap(-1, self._bytes(rows))
        return mmap.mmap(-1, self._bytes(rows), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)

    def _view(self, rows: int) -> np.ndarray:
        count = rows * max(int(np.prod(self._shape)), 1)
        return np.frombuffer(self._map, self._dtype, count).reshape(rows, *self._shape)

    def grow(self, rows: int) -> None:
        """Make room for as many rows. Where a view of the array still lives, or the system cannot, all is copied."""
        count = len(self.array)
        if self._linux:
            del self.array
            try:
                self._map.resize(self._bytes(rows))
            except BufferError:
                self.array = self._view(count)
            else:
                if self._bytes(rows) >= _LARGE:
                    self._map.madvise(mmap.MADV_HUGEPAGE)
                self.array = self._view(rows)
                return
        before, self._map = self.array, self._mapped(rows)
        self.array = self._view(rows)
        self.array[:count] = before
