"""Rows that are not used for long, on disk: in LMDB, a B+ tree in a mapped file.

It is a place to put things, not a record of them: snapshots and the log are. So nothing is synced, and the file has no
name once it is open, whereby it goes with the process however that ends.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.extras import install_hint
from .hashing import PART_BITS, mix

# Address space reserved for the file, which takes no more memory than its content.
MAP_BYTES = 1 << 40


class ColdStore:
    """Rows by id. Keys are the ids' hashes, so that a part of a table lies together.

    Args:
        width: float32 numbers in each row.
        folder: on the disk that is to hold them. None: where temporary files are.

    Raises:
        ImportError: LMDB is not there.
        OSError: the folder cannot be written to.
    """

    def __init__(self, width: int, folder: str | None) -> None:
        try:
            import lmdb
        except ImportError:
            raise ImportError(f"memory_rows needs the package lmdb: {install_hint('ps')}") from None
        self._error = lmdb.Error
        self._row = np.dtype([("id", "<u8"), ("values", "<f4", (width,))])
        place = tempfile.mkdtemp(prefix="cold-", dir=folder)
        try:
            with self._told():
                self._store = lmdb.open(place, map_size=MAP_BYTES, sync=False, metasync=False, lock=False)
        finally:
            shutil.rmtree(place)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """LMDB's errors as the system's."""
        try:
            yield
        except self._error as e:
            raise OSError(f"rows cannot be kept on disk: {e}") from None

    def __len__(self) -> int:
        return self._store.stat()["entries"]

    def replace(self, gone: np.ndarray, ids: np.ndarray, values: np.ndarray) -> None:
        """Delete some rows and put others, both or neither.

        Raises:
            OSError: the disk is full.
        """
        order = np.argsort(mix(ids))  # neighbours in the file are written together
        made = np.empty(len(ids), self._row)
        made["id"], made["values"] = ids[order], values[order]
        data, size = made.tobytes(), self._row.itemsize
        rows = [data[at : at + size] for at in range(0, len(data), size)]
        with self._told(), self._store.begin(write=True) as transaction:
            for key in _keys(np.sort(gone)):
                transaction.delete(key)
            transaction.cursor().putmulti(zip(_keys(ids[order]), rows, strict=True))

    def get(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return those of the ids that are here, and their rows."""
        if not len(ids) or not len(self):
            return self._read([])
        with self._told(), self._store.begin() as transaction:
            return self._read(transaction.cursor().getmulti(_keys(ids)))

    def part(self, part: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of one part of the table, and their rows."""
        end = ((part + 1) << (64 - PART_BITS)).to_bytes(9, "big")
        found = []
        with self._told(), self._store.begin() as transaction:
            cursor = transaction.cursor()
            if cursor.set_range((part << (64 - PART_BITS)).to_bytes(8, "big")):
                for pair in cursor:
                    if b"\0" + pair[0] >= end:
                        break
                    found.append(pair)
        return self._read(found)

    def _read(self, pairs: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        rows = np.frombuffer(b"".join(row for _, row in pairs), self._row)
        return rows["id"].astype(np.uint64), rows["values"].astype(np.float32)


def _keys(ids: np.ndarray) -> list[bytes]:
    data = mix(ids).astype(">u8").tobytes()
    return [data[at : at + 8] for at in range(0, len(data), 8)]
