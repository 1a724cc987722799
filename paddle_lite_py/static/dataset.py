"""Datasets of text files with slots: each line holds, for each slot, a count and that many numbers."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.no_effect import ONE_PROCESS, Immaterial, Refused, no_effect, only_known
from ..eager.random import host_draw
from ..eager.tensor import Tensor
from .current import current
from .numbers import Numbers, in_pieces, numbers

__all__ = ["InMemoryDataset", "QueueDataset"]


class SlotValues(NamedTuple):
    """The values of one slot for many instances: one after another, and where each instance begins."""

    values: np.ndarray
    starts: np.ndarray  # one more than there are instances

    def batch(self, rows: np.ndarray, shape: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Instances as one array, padded with zeros where their lengths differ, and these lengths."""
        first, lengths = self.starts[rows], self.starts[rows + 1] - self.starts[rows]
        width = int(lengths.max(initial=0))
        index = first[:, None] + np.arange(width)
        inside = np.arange(width) < lengths[:, None]
        found = np.where(inside, self.values[np.where(inside, index, 0)], 0).astype(self.values.dtype)
        sizes = [n if isinstance(n, int) and n >= 0 else -1 for n in shape[1:]]
        return (found.reshape(len(rows), *sizes) if sizes.count(-1) <= 1 else found), lengths


def parse(text: bytes, kinds: Sequence[np.dtype], name: str = "the text", threads: int = 0) -> list[SlotValues]:
    """The slots of a text, one for each dtype.

    Arguments:
        threads: how many read; 0: one for each processor.

    Raises:
        ValueError: naming the line, if one does not hold what its counts say.

    Examples:
        >>> parse(b"1 7 2 0.5 1.5\\n1 8 1 2.5\\n", [np.dtype("int64"), np.dtype("float32")])[1]
        SlotValues(values=array([0.5, 1.5, 2.5], dtype=float32), starts=array([0, 2, 3]))
    """

    def read(piece: bytes, before: int) -> list[SlotValues]:
        try:
            return _slots(numbers(piece), kinds)
        except ValueError as e:
            raise ValueError(f"{name} holds something else than numbers: {e}") from None
        except _Line as e:
            raise ValueError(
                f"line {before + e.args[0] + 1} of {name} does not hold {len(kinds)} slots, each a count and that many "
                "numbers: '2 0.1 0.2 1 7'"
            ) from None

    parts = in_pieces(text, read, threads) or [[SlotValues(np.zeros(0, k), np.zeros(1, np.int64)) for k in kinds]]
    return [_joined([p[i] for p in parts]) for i in range(len(kinds))]


class _Line(Exception):
    """A line, by its number, does not hold what its counts say."""


def _slots(found: Numbers, kinds: Sequence[np.dtype]) -> list[SlotValues]:
    lines = np.flatnonzero(found.per_line)
    ends = np.cumsum(found.per_line)[lines]
    at, slots = ends - found.per_line[lines], []
    for kind in kinds:
        lost = at >= ends
        first = np.where(lost, 0, at)
        counts = found.integers[first] if len(lines) else first
        _check(lost | (found.floats[first] != counts) | (counts < 0) | (at + 1 + counts > ends), lines)
        starts = np.concatenate([[0], np.cumsum(counts)])
        index = np.repeat(at + 1 - starts[:-1], counts) + np.arange(starts[-1])
        slots.append(SlotValues((found.integers if kind.kind in "iu" else found.floats)[index].astype(kind), starts))
        at = at + 1 + counts
    _check(at != ends, lines)
    return slots


def _check(wrong: np.ndarray, lines: np.ndarray) -> None:
    if wrong.any():
        raise _Line(int(lines[np.argmax(wrong)]))


def _joined(parts: list[SlotValues]) -> SlotValues:
    if len(parts) == 1:
        return parts[0]
    counts = np.concatenate([np.diff(p.starts) for p in parts])
    return SlotValues(np.concatenate([p.values for p in parts]), np.concatenate([[0], np.cumsum(counts)]))


def ahead(feeds: Iterable[Any], most: int = 4) -> Iterator[Any]:
    """The same feeds, some of which a thread makes while others are used."""
    made: queue.Queue[tuple[bool, Any]] = queue.Queue(most)
    left = threading.Event()

    def put(item: tuple[bool, Any]) -> bool:
        while not left.is_set():
            with contextlib.suppress(queue.Full):
                made.put(item, timeout=0.1)
                return True
        return False

    def make() -> None:
        try:
            if all(put((True, feed)) for feed in feeds):
                put((False, None))
        except BaseException as e:
            put((False, e))

    threading.Thread(target=make, daemon=True).start()
    try:
        while (item := made.get())[0]:
            yield item[1]
        if item[1] is not None:
            raise item[1]
    finally:
        left.set()


_TEXT = Refused("each line holds an instance, slot by slot, and nothing else")
_HERE = Refused("files are read from this machine; mount the other file system")
_AT_ONCE = Immaterial("slots_shuffle() needs no preparation")


class DatasetBase:
    """Files, and how their slots become feeds."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.batch_size, self.use_var, self.pipe_command, self.threads = 1, list[Any](), "", 0

    @no_effect(
        input_type=_TEXT,
        fs_name=_HERE,
        fs_ugi=_HERE,
        download_cmd=_HERE,
        parse_ins_id=_TEXT,
        parse_content=_TEXT,
        merge_size=_TEXT,
        queue_num=Immaterial("set_thread() says how many threads read"),
        fleet_send_batch_size=ONE_PROCESS,
        fleet_send_sleep_seconds=ONE_PROCESS,
        fea_eval=_AT_ONCE,
        candidate_size=_AT_ONCE,
    )
    def init(self, batch_size: int = 1, thread_num: int = 1, use_var: Sequence[Any] = (), pipe_command: str = "cat",
             *, input_type: int = 0, fs_name: str = "", fs_ugi: str = "", download_cmd: str = "cat",
             parse_ins_id: bool = False, parse_content: bool = False, merge_size: int = -1,
             queue_num: int | None = None, fleet_send_batch_size: int | None = None,
             fleet_send_sleep_seconds: int | None = None, fea_eval: bool = False, candidate_size: int = 10000,
             **kwargs: Any) -> None:  # fmt: skip
        """Settings.

        Arguments:
            batch_size: instances to a batch.
            use_var: the data of the program that the slots feed, in the order of the slots.
            pipe_command: a command that each file is sent through first, such as a script that writes slots.
            thread_num: threads that read; 1: one for each processor.
        """
        only_known(DatasetBase.init, kwargs)
        self.threads = 0 if thread_num == 1 else thread_num
        self.batch_size, self.use_var = int(batch_size), list(use_var)
        self.pipe_command = "" if pipe_command == "cat" else pipe_command

    def set_thread(self, thread_num: int) -> None:
        """How many threads read."""
        self.threads = thread_num

    def update_settings(self, **kwargs: Any) -> None:
        """Change settings of init()."""
        now: dict[str, Any] = {
            "batch_size": self.batch_size,
            "use_var": self.use_var,
            "pipe_command": self.pipe_command or "cat",
            "thread_num": self.threads or 1,
        }
        self.init(**(now | kwargs))

    def set_filelist(self, filelist: Sequence[str]) -> None:
        """The files to read."""
        self.files = list(filelist)

    def _read(self, file: str) -> list[SlotValues]:
        if not self.use_var:
            raise ValueError(f"{type(self).__name__}: use_var is empty; name the data that the slots feed in init()")
        text = Path(file).read_bytes()
        if self.pipe_command:
            text = subprocess.run(self.pipe_command, shell=True, input=text, stdout=subprocess.PIPE, check=True).stdout
        return parse(text, [np.dtype(v.dtype.np) for v in self.use_var], f"'{file}'", self.threads)

    def _feed(self, slots: list[SlotValues], rows: np.ndarray) -> dict[str, np.ndarray]:
        out = {}
        for var, slot in zip(self.use_var, slots, strict=True):
            out[var.name], lengths = slot.batch(rows, var.shape)
            if f"{var.name}.lengths" in current.main.feeds:
                out[f"{var.name}.lengths"] = lengths
        return out

    def _batches(self, slots: list[SlotValues], order: np.ndarray) -> Iterator[dict[str, np.ndarray]]:
        for at in range(0, len(order), self.batch_size):
            yield self._feed(slots, order[at : at + self.batch_size])


class InMemoryDataset(DatasetBase):
    """Files that are read into memory, and may be shuffled.

    A data of the program with the name `<slot>.lengths` is fed the lengths of a slot before padding.

    Examples:
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/part-0"
        >>> paddle.static.save_to_file(file, b"1 3 2 0.5 1.5\\n1 4 2 2.5 3.5\\n")
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     ids, x = paddle.static.data("ids", [None, 1], "int64"), paddle.static.data("x", [None, 2])
        >>> paddle.disable_static()
        >>> dataset = InMemoryDataset()
        >>> dataset.init(batch_size=2, use_var=[ids, x])
        >>> dataset.set_filelist([file])
        >>> dataset.load_into_memory()
        >>> [feed["x"].tolist() for feed in dataset]
        [[[0.5, 1.5], [2.5, 3.5]]]
    """

    def __init__(self) -> None:
        super().__init__()
        self._slots: list[SlotValues] = []
        self._order = np.arange(0)

    def load_into_memory(self, is_shuffle: bool = False) -> None:
        """Read all files."""
        parts = [self._read(f) for f in self.files]
        self._slots = [_joined([p[i] for p in parts]) for i in range(len(self.use_var))] if parts else []
        self._order = np.arange(len(self._slots[0].starts) - 1 if self._slots else 0)
        if is_shuffle:
            self.local_shuffle()

    preload_into_memory = load_into_memory

    def wait_preload_done(self) -> None:
        """Nothing to wait for."""

    def local_shuffle(self) -> None:
        """Put the instances in a random order, on the stream of paddle.seed()."""
        self._order = host_draw().permutation(self._order)

    @no_effect(fleet=ONE_PROCESS, thread_num=ONE_PROCESS)
    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """local_shuffle(): there is one process."""
        self.local_shuffle()

    def slots_shuffle(self, slots: Sequence[str]) -> None:
        """Shuffle the values of some slots among the instances, to see how much a model owes to them."""
        for i, var in enumerate(self.use_var):
            if var.name in slots:
                slot, rows = self._slots[i], host_draw().permutation(len(self._order))
                counts = np.diff(slot.starts)[rows]
                starts = np.concatenate([[0], np.cumsum(counts)])
                index = np.repeat(slot.starts[rows] - starts[:-1], counts) + np.arange(starts[-1])
                self._slots[i] = SlotValues(slot.values[index], starts)

    def release_memory(self) -> None:
        """Forget what was read."""
        self._slots, self._order = [], np.arange(0)

    @no_effect(fleet=ONE_PROCESS)
    def get_memory_data_size(self, fleet: Any = None) -> int:
        """How many instances are in memory."""
        return len(self._order)

    get_shuffle_data_size = get_memory_data_size

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        return self._batches(self._slots, self._order)


class QueueDataset(DatasetBase):
    """Files that are read one after the other, each when its turn comes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.static.QueueDataset() is not None
        True
    """

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        for slots in ahead(map(self._read, self.files), 1):
            yield from self._batches(slots, np.arange(len(slots[0].starts) - 1))


def run_batches(
    run: Any, dataset: Any, fetch_list: Sequence[Any], fetch_info: Sequence[str] | None, print_period: int, handler: Any
) -> None:
    """Run once for each feed of a dataset, and show what is fetched now and then."""
    if dataset is None or not hasattr(dataset, "__iter__"):
        raise TypeError(f"dataset is a {type(dataset).__name__}; expected a dataset, or feeds one after another")
    names = list(fetch_info or [f.name if isinstance(f, Tensor) else str(f) for f in fetch_list])
    # Feeds of a dataset are made beside the runs; what is the user's own is asked for between them.
    feeds: Any = ahead(iter(dataset)) if isinstance(dataset, InMemoryDataset | QueueDataset) else dataset
    for step, feed in enumerate(feeds, 1):
        shown = bool(fetch_list) and step % print_period == 0
        found = run(feed, list(fetch_list) if shown else [])
        if shown and handler is not None:
            handler.handler(dict(zip(names, found, strict=True)))
        elif shown:
            print(f"batch {step}: " + ", ".join(f"{n}={a}" for n, a in zip(names, found, strict=True)))
