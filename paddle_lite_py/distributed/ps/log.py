"""The log of changes: each is in it before it is done.

A log is files of records. A record is its number, its length, a checksum, then the frames of the message. `write`
brings it to the system, which keeps it when the process is killed; `fsync`, which brings it to the disk, runs every so
often in a thread, or each time.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .files import StateError

_HEAD = struct.Struct("<QQI")  # number, bytes of the payload, its CRC-32
_SIZE = struct.Struct("<Q")
_WAYS = ": go on from a copy of the folder, or from what a client saved, with an empty folder and first=..."


class Log:
    """Appends records to the newest file of a folder.

    Args:
        folder: where the files lie.
        last: number of the last record that is there already.
        sync: seconds between two calls of fsync; 0: one for each record.
    """

    def __init__(self, folder: Path, last: int, sync: float) -> None:
        self._folder, self.last, self._sync = folder, last, sync
        self._lock = threading.Lock()  # the file is closed by one thread, and synced by another
        self._broken: OSError | None = None
        self._file = self._open()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._syncing, daemon=True, name="log sync")
        if sync:
            self._thread.start()

    def _open(self) -> int:
        """Return the file that the next record begins."""
        path = self._folder / f"log-{self.last + 1:020d}"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        self.bytes, self._dirty = 0, False
        return file

    def append(self, frames: Sequence[Any]) -> int:
        """Write a record; its number.

        Raises:
            OSError: it cannot be written, and is not there.
        """
        if self._broken is not None:
            raise OSError(f"the log cannot be written to any more: {self._broken}; start the server again")
        views = [memoryview(frame) for frame in frames]
        sizes = _SIZE.pack(len(views)) + b"".join(_SIZE.pack(view.nbytes) for view in views)
        check = zlib.crc32(sizes)
        for view in views:
            check = zlib.crc32(view, check)
        length = len(sizes) + sum(view.nbytes for view in views)
        self._write([_HEAD.pack(self.last + 1, length, check) + sizes, *views], _HEAD.size + length)
        self.last += 1
        return self.last

    def _write(self, pieces: list[Any], total: int) -> None:
        """Write all of a record or nothing."""
        try:
            written = os.writev(self._file, pieces)
            if written < total:
                rest = b"".join(bytes(piece) for piece in pieces)
                while written < total:
                    written += os.write(self._file, rest[written:])
            self._dirty = True
            if not self._sync:
                self.sync()
        except OSError as e:
            self._undo()
            raise OSError(e.errno, f"the change was not made, for the log cannot be written: {e.strerror}") from None
        self.bytes += total

    def _undo(self) -> None:
        try:
            os.ftruncate(self._file, self.bytes)
            os.lseek(self._file, self.bytes, os.SEEK_SET)
        except OSError as e:
            self._broken = e

    def sync(self) -> None:
        """Bring to the disk what was written."""
        with self._lock:
            if self._dirty:
                self._dirty = False
                os.fsync(self._file)

    def _syncing(self) -> None:
        while not self._over.wait(self._sync):
            try:
                self.sync()
            except OSError as e:  # what the system has dropped, no second call brings back
                self._broken = e

    def rotate(self) -> int:
        """Begin a new file; the number of the last record in the old ones, which are on the disk."""
        self.sync()
        if self.bytes:
            with self._lock:
                before, self._file = self._file, self._open()
                os.close(before)
        return self.last

    def close(self) -> None:
        """Bring all to the disk."""
        self._over.set()
        self.sync()
        with self._lock:
            os.close(self._file)


def log_files(folder: Path) -> list[tuple[int, Path]]:
    """Return the files of a log and the number of the first record of each, in order."""
    return sorted((int(path.name.removeprefix("log-")), path) for path in folder.glob("log-*"))


def read_log(folder: Path, after: int) -> Iterator[tuple[int, list[memoryview]]]:
    """Yield the records after a number. One that was being written when the process ended is cut off.

    Raises:
        StateError: a record is missing or damaged, and others come after it.
    """
    files = log_files(folder)
    expected = after + 1
    for n, (first, path) in enumerate(files):
        if n + 1 < len(files) and files[n + 1][0] <= expected:
            continue
        if first > expected:
            raise StateError(f"{folder}: the log has no record {expected}; {path.name} comes after it")
        data = _mapped(path)
        at, follows = 0, first
        while (record := _record(data, at)) is not None and record[0] == follows:
            number, frames, at = record
            follows += 1
            if number == expected:
                yield number, frames
                expected += 1
        if at < len(data):
            if n + 1 < len(files):
                raise StateError(f"{path}: damaged at byte {at}, and {files[n + 1][1].name} comes after it{_WAYS}")
            if not _is_torn(data, at, follows):
                raise StateError(
                    f"{path}: damaged at byte {at}, and other changes come after it{_WAYS}; or without these changes, "
                    f"on purpose: truncate -s {at} {path}"
                )
            print(f"{path}: the last {len(data) - at} bytes are no whole record; cut off", file=sys.stderr)
            os.truncate(path, at)


def _is_torn(data: memoryview, at: int, number: int) -> bool:
    """Whether what is no whole record was being written at the end: nothing comes after it."""
    rest = data[at:]
    if len(rest) >= _HEAD.size and at + _HEAD.size + _HEAD.unpack_from(data, at)[1] < len(data):
        return not any(rest)  # room that was made for it, and not filled
    for later in (number + 1, number + 2):  # the damage may be in its length
        place = bytes(rest).find(_SIZE.pack(later))
        while place >= 0:
            found = _record(data, at + place)
            if found is not None and found[0] == later:
                return False
            place = bytes(rest).find(_SIZE.pack(later), place + 1)
    return True


def _mapped(path: Path) -> memoryview:
    with open(path, "rb") as file:
        empty = not os.fstat(file.fileno()).st_size
        return memoryview(b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _record(data: memoryview, at: int) -> tuple[int, list[memoryview], int] | None:
    """Number, frames and end of the record at a place; None if there is no whole one."""
    if len(data) < at + _HEAD.size:
        return None
    number, length, check = _HEAD.unpack_from(data, at)
    payload = data[at + _HEAD.size : at + _HEAD.size + length]
    if len(payload) < length or length < _SIZE.size or zlib.crc32(payload) != check:
        return None
    count = _SIZE.unpack_from(payload)[0]
    begin, frames = _SIZE.size * (1 + count), []
    for i in range(count):
        size = _SIZE.unpack_from(payload, _SIZE.size * (1 + i))[0]
        frames.append(payload[begin : begin + size])
        begin += size
    return number, frames, at + _HEAD.size + length
