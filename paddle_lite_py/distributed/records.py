"""Record files: each record once an epoch, also after a new start.

A file is records one after the other, then where each of them begins, then how many there are. So a process reads what
it needs, from a local path or from whatever fsspec knows by URL (memory://, s3://, gs://, ...), if that is installed.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.processes import world
from ..io import IterableDataset

__all__ = ["RecordStream", "RecordWriter"]

_END = struct.Struct("<Q8s")  # the number of records, and the word that ends a file
_WORD = b"records1"
_HEAD = struct.Struct("<I")  # of each record: its CRC-32
# Blocks of records that a process keeps, so that those next to each other are read at once.
KEPT = 16


def _open(url: str, mode: str) -> Any:
    if "://" not in url:
        return open(url, mode)
    try:
        import fsspec
    except ImportError:
        raise ImportError(f"{url}: URLs are read by fsspec; install it: pip install fsspec") from None
    return fsspec.open(url, mode).open()


class RecordWriter:
    """Write a file of records; a local file appears under its name only when it is closed.

    Arguments:
        url: a local path, or a URL that fsspec supports.

    Examples:
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/part-0"
        >>> with RecordWriter(file) as writer:
        ...     for i in range(3):
        ...         writer.write(b"sample %d" % i)
        >>> sorted(RecordStream([file], batch_size=2))
        [b'sample 0', b'sample 1', b'sample 2']
    """

    def __init__(self, url: str) -> None:
        self.url = os.fspath(url)
        self._local = "://" not in self.url
        self._file = _open(self.url + ".part" if self._local else self.url, "wb")
        self._starts: list[int] = []
        self._at = 0

    def write(self, record: bytes) -> None:
        """Add a record."""
        self._starts.append(self._at)
        self._file.write(_HEAD.pack(zlib.crc32(record)) + record)
        self._at += _HEAD.size + len(record)

    def close(self) -> None:
        """Write where records begin."""
        self._file.write(np.array([*self._starts, self._at], "<u8").tobytes())
        self._file.write(_END.pack(len(self._starts), _WORD))
        self._file.close()
        if self._local:
            os.replace(self.url + ".part", self.url)

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        if kind is None:
            self.close()
        else:  # an incomplete file must not look complete
            self._file.close()


class _RecordFile:
    """A file of records, of which some are read at a time.

    Arguments:
        url: where it is.

    Raises:
        ValueError: if it is none, or not whole.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        with _open(url, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _END.size, 0))
            tail = file.read(_END.size)
            self.count, word = _END.unpack(tail) if len(tail) == _END.size else (0, b"")
            index = size - _END.size - 8 * (self.count + 1)
            if word != _WORD or index < 0:
                raise ValueError(f"{url} is no file of records, or was cut off; write it by RecordWriter")
            file.seek(index)
            self.starts = np.frombuffer(file.read(8 * (self.count + 1)), "<u8").astype(np.int64)

    def read(self, first: int, end: int) -> list[bytes]:
        """Some records in a row.

        Raises:
            ValueError: if one of them is damaged, with its number.
        """
        low = int(self.starts[first])
        with _open(self.url, "rb") as file:
            file.seek(low)
            data = file.read(int(self.starts[end]) - low)
        found = []
        for i in range(first, end):
            at, stop = int(self.starts[i]) - low, int(self.starts[i + 1]) - low
            record = data[at + _HEAD.size : stop]
            if len(data) < stop or _HEAD.unpack(data[at : at + _HEAD.size])[0] != zlib.crc32(record):
                raise ValueError(f"{self.url}: record {i} is damaged")
            found.append(record)
        return found


class _RecordBlock(NamedTuple):
    """Records of one file in a row: the file's number, the first of them, and one behind the last."""

    file: int
    first: int
    end: int


class RecordStream(IterableDataset):
    """Stream of records of files for one of several processes: each record is read by exactly one process per epoch.

    The order depends only on seed and epoch; the processes take batches from it in turn. state_dict() stores the common
    position, so that training can resume with another number of processes. At the end of an epoch some processes may
    get a smaller batch, or none.

    Arguments:
        urls: the files, in any order; the same in all processes.
        batch_size: number of records in a batch of one process. Default: 1.
        decode: function from the bytes of a record to a sample; None: the bytes.
        shuffle: shuffle each epoch; False: the order of the files. Default: True.
        seed: seed of the order. Default: 0.
        block: number of records that are read at once. Default: 256.
        window: number of blocks whose records are mixed. Default: 8.
        rank: rank of this process; None: that of the environment.
        world_size: number of processes; None: that of the environment.

    Raises:
        ValueError: if a file is not a file of records, or a number is out of range.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/a.records"
        >>> with paddle.distributed.RecordWriter(file) as out:
        ...     for i in range(4):
        ...         out.write(b"%d" % i)
        >>> [batch for batch in paddle.distributed.RecordStream([file], batch_size=2, shuffle=False)]
        [b'0', b'1', b'2', b'3']
    """

    def __init__(
        self, urls: Iterable[str], batch_size: int = 1, decode: Callable[[bytes], Any] | None = None,
        shuffle: bool = True, seed: int = 0, block: int = 256, window: int = 8, rank: int | None = None,
        world_size: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if batch_size < 1 or block < 1 or window < 1:
            raise ValueError(
                f"RecordStream: batch_size is {batch_size}, block {block}, window {window}; expected at least 1 of each"
            )
        self.files = [_RecordFile(url) for url in sorted(map(os.fspath, urls))]
        self.batch_size, self.decode, self.shuffle, self.seed = batch_size, decode, shuffle, seed
        self.block, self.window = block, window
        self.rank = world().rank if rank is None else rank
        self.world_size = world().size if world_size is None else world_size
        if not 0 <= self.rank < self.world_size:
            raise ValueError(f"RecordStream: rank is {self.rank} of {self.world_size} processes")
        self.epoch, self.position = 0, 0  # of the records of the epoch, how many all processes have taken
        self._kept: OrderedDict[_RecordBlock, list[bytes]] = OrderedDict()

    @property
    def total(self) -> int:
        """The number of records."""
        return sum(f.count for f in self.files)

    def __iter__(self) -> Iterator[Any]:
        """Yield the samples of this process that are left of the epoch; the next epoch follows."""
        for batch in self.batches():
            yield from batch

    def batches(self) -> Iterator[list[Any]]:
        """Yield the same in batches. While one is out, state_dict() says that all processes have taken theirs."""
        order, epoch = self._order(), self.epoch
        while self.position < self.total and self.epoch == epoch:
            own = self.position + self.rank * self.batch_size
            self.position = min(self.position + self.batch_size * self.world_size, self.total)
            if records := [self._record(*order[i]) for i in range(own, min(own + self.batch_size, self.total))]:
                yield [r if self.decode is None else self.decode(r) for r in records]
        if self.epoch == epoch:
            self.set_epoch(epoch + 1)

    def set_epoch(self, epoch: int) -> None:
        """Begin an epoch."""
        self.epoch, self.position = epoch, 0

    def state_dict(self) -> dict[str, int]:
        """How far all processes have come, which is the same in each after as many batches."""
        return {"epoch": self.epoch, "position": self.position, "seed": self.seed, "total": self.total}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from there.

        Raises:
            ValueError: if it is of other records.
        """
        if state["total"] != self.total:
            raise ValueError(f"RecordStream: the state is of {state['total']} records, and there are {self.total}")
        self.epoch, self.position, self.seed = (int(state[k]) for k in ("epoch", "position", "seed"))

    set_state_dict = load_state_dict

    # -- the order -------------------------------------------------------------------------------------------------
    def _order(self) -> list[tuple[_RecordBlock, int]]:
        """Where each record of the epoch is: blocks in an order of their own, and the records of a few blocks mixed."""
        blocks = [
            _RecordBlock(number, first, min(first + self.block, file.count))
            for number, file in enumerate(self.files)
            for first in range(0, file.count, self.block)
        ]
        draw = np.random.default_rng([self.seed, self.epoch])
        if self.shuffle:
            blocks = [blocks[i] for i in draw.permutation(len(blocks))]
        found: list[tuple[_RecordBlock, int]] = []
        for start in range(0, len(blocks), self.window):
            mixed = [(b, i) for b in blocks[start : start + self.window] for i in range(b.end - b.first)]
            found += [mixed[i] for i in draw.permutation(len(mixed))] if self.shuffle else mixed
        return found

    def _record(self, block: _RecordBlock, at: int) -> bytes:
        if block not in self._kept:
            self._kept[block] = self.files[block.file].read(block.first, block.end)
            while len(self._kept) > max(KEPT, self.window):
                self._kept.popitem(last=False)
        return self._kept[block][at]
