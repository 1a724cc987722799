"""The recovery of a server: a snapshot, and the log of what came after it.

A snapshot is written part by part between requests, while changes go on. So each of its files has a number: that of
the last change that is in it. On a new start a change is made in those parts only whose number is lower than its own.
The description of the snapshot, `state.json`, is replaced when all its files are there, and only then are the older
files deleted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from .config import from_json, to_json
from .dense import DenseTable
from .files import StateError, read_arrays, read_json, write_arrays, write_json
from .hashing import PARTS
from .log import Log, log_files, read_log
from .tables import Tables
from .wire import WireError, pack, unpack

FORM, FORMAT = "parameter server state", 1
# Bytes of a snapshot that are copied between two requests.
STEP_BYTES = 8 << 20
Last = dict[str, tuple[int, dict[str, Any]]]  # of each session: the number of its last change, and the answer


class Recovery:
    """Keeps a server's state in a folder.

    Args:
        folder: of this server alone.
        sync: seconds of changes that a machine without power may lose; 0: none. A killed process loses none.
        snapshot_bytes: length of the log at which a snapshot begins.

    Raises:
        OSError: another server has the folder.
    """

    def __init__(self, folder: str, sync: float, snapshot_bytes: int) -> None:
        self.folder, self._sync, self._snapshot_bytes = Path(folder), sync, snapshot_bytes
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        import fcntl  # not there on Windows, where servers keep nothing

        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise OSError(f"parameter server: {folder} is in use by another server; give each its own") from None
        self._writer = ThreadPoolExecutor(1, "snapshot")
        self._snapshot: _Snapshot | None = None
        self._count = 0

    @property
    def has_snapshot(self) -> bool:
        """Whether the folder holds all tables as they were at some moment."""
        return (self.folder / "state.json").exists()

    def restore(self, tables: Tables, last: Last) -> None:
        """Fill tables with what the folder holds, and begin to log.

        Raises:
            StateError: what it holds is damaged.
        """
        base, numbers = 0, {}
        if self.has_snapshot:
            made = read_json(self.folder / "state.json", FORM, FORMAT)
            base, self._count, numbers = made["last"], made["count"], self._load(made, tables)
            last.update({session: (seq, answer) for session, (seq, answer) in made["sessions"].items()})
        self._old_bytes = sum(path.stat().st_size for _, path in log_files(self.folder))
        end = base
        for end, frames in read_log(self.folder, base):
            self._again(end, frames, tables, last, numbers)
        self.log = Log(self.folder, end, self._sync)

    def _load(self, made: dict[str, Any], tables: Tables) -> dict[str, np.ndarray]:
        """Fill tables from a snapshot; the number of each part of the sparse ones."""
        for config in made["tables"]:
            tables.make(from_json(config))
        numbers = {name: np.zeros(PARTS, np.int64) for name in tables.all}
        for file in made["files"]:
            arrays = read_arrays(self.folder / file["name"])
            for at, (name, part) in enumerate(file["parts"]):
                held = {key.partition(".")[2]: a for key, a in arrays.items() if key.partition(".")[0] == str(at)}
                tables.all[name].put(held)
                numbers[name][part] = file["last"]
        return numbers

    def _again(self, number: int, frames: list[Any], tables: Tables, last: Last, numbers: dict[str, Any]) -> None:
        """Make a change of the log once more, in the parts that do not hold it."""
        try:
            header, arrays = unpack(frames)
        except WireError as e:
            raise StateError(f"{self.folder}: record {number} of the log: {e}") from None
        if header["op"] == "met":
            last.update({session: (seq, {}) for session, seq in header["sessions"]})
            return
        held = numbers.get(header.get("table", ""))
        tables.make_room(header, arrays)
        try:
            answer, _ = tables.apply(header, arrays) if held is None else tables.apply_in(header, arrays, held < number)
        except (ValueError, LookupError, TypeError, ArithmeticError) as e:
            print(f"{self.folder}: change {number} failed again: {type(e).__name__}: {e}", file=sys.stderr)
            return  # as the client was answered when it failed before
        last[header["session"]] = (header["seq"], answer)

    def record(self, frames: list[Any]) -> None:
        """Log a change that will be made.

        Raises:
            OSError: it cannot be logged, and must not be made.
        """
        self.log.append(frames)

    def record_met(self, met: list[tuple[str, int]]) -> None:
        """Log that workers have met."""
        self.record(pack({"op": "met", "sessions": met}, []))

    def step(self, tables: Tables, last: Last) -> bool:
        """Do a little of a snapshot, if one is due; whether there is more to do."""
        try:
            if self._snapshot is None:
                if self._old_bytes + self.log.bytes < self._snapshot_bytes:
                    return False
                self._begin(tables, last)
            assert self._snapshot is not None
            if self._snapshot.step():
                self._end()
        except OSError as e:
            print(f"parameter server: no snapshot in {self.folder}: {e}; the log goes on", file=sys.stderr)
            self._snapshot = None
        return self._snapshot is not None

    def snapshot(self, tables: Tables, last: Last) -> None:
        """Write a whole snapshot now.

        Raises:
            OSError: it cannot be written; the one before is still there.
        """
        if self._snapshot is not None:
            self._snapshot.wait()
        self._begin(tables, last)
        assert self._snapshot is not None
        while not self._snapshot.step():
            self._snapshot.wait()
        self._end()

    def _begin(self, tables: Tables, last: Last) -> None:
        self._count, self._old_bytes = self._count + 1, 0
        self._snapshot = _Snapshot(self.folder, self._count, self.log, self._writer, tables, last)

    def _end(self) -> None:
        """Make the snapshot the one that counts, and delete what it replaces."""
        assert self._snapshot is not None
        made, self._snapshot = self._snapshot.made, None
        write_json(self.folder / "state.json", {"form": FORM, "version": FORMAT, **made})
        named = {file["name"] for file in made["files"]}
        for path in self.folder.glob("snapshot-*"):
            if path.name not in named:
                path.unlink()
        for first, path in log_files(self.folder):
            if first <= made["last"]:
                path.unlink()

    def close(self) -> None:
        """Bring all to the disk."""
        self._writer.shutdown()
        self.log.close()
        os.close(self._lock)


class _Snapshot:
    """One snapshot under way."""

    def __init__(
        self, folder: Path, count: int, log: Log, writer: ThreadPoolExecutor, tables: Tables, last: Last
    ) -> None:
        self._folder, self._log, self._writer, self._tables = folder, log, writer, tables
        self._parts = [
            (name, part)
            for name, table in tables.all.items()
            for part in range(1 if isinstance(table, DenseTable) else PARTS)
        ]
        self._files: list[dict[str, Any]] = []
        self._writing: Future[None] | None = None
        self.made: dict[str, Any] = {
            "count": count,
            "last": log.rotate(),
            "tables": [to_json(table.config) for table in tables.all.values()],
            "sessions": {session: list(done) for session, done in last.items()},
            "files": self._files,
        }

    def step(self) -> bool:
        """Copy some parts and let them be written; True when all are."""
        if self._writing is not None:
            if not self._writing.done():
                return False
            self._writing.result()
            self._writing = None
        if not self._parts:
            return True
        name = f"snapshot-{self.made['count']}-{len(self._files)}.npz"
        parts: list[list[Any]] = []
        arrays: list[tuple[str, np.ndarray]] = []
        for (table, part), held in self._copied():
            arrays += [(f"{len(parts)}.{key}", array) for key, array in held.items()]
            parts.append([table, part])
        self._files.append({"name": name, "last": self._log.last, "parts": parts})
        self._writing = self._writer.submit(write_arrays, self._folder / name, arrays)
        return False

    def _copied(self) -> Iterator[tuple[tuple[str, int], dict[str, np.ndarray]]]:
        """Copies of the next parts, as many as one step takes."""
        size = 0
        while self._parts and size < STEP_BYTES:
            name, part = self._parts.pop()
            held = self._tables.all[name].part(part)
            size += sum(array.nbytes for array in held.values())
            yield (name, part), held

    def wait(self) -> None:
        """Wait until what is being written is written."""
        if self._writing is not None:
            self._writing.exception()
