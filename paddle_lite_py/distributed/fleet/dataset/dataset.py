"""Data sets of text files with slots, which feed programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ....core.interpreter import state
from ....core.no_effect import ONE_PROCESS, Immaterial, Refused, no_effect, only_known
from ....core.processes import job
from ....eager.random import host_draw
from .ahead import ahead
from .shuffling import select_instances, spread
from .slots import SlotValues, join_slots, parse

__all__ = ["DatasetBase", "InMemoryDataset", "QueueDataset"]

_TEXT = Refused("each line holds an instance, slot by slot, and nothing else")
_HERE = Refused("files are read from this machine; mount the other file system")
_AT_ONCE = Immaterial("slots_shuffle() needs no preparation")


class DatasetBase:
    """Base class of data sets of files, whose slots become feeds."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.batch_size, self.use_var, self.pipe_command, self.threads = 1, list[Any](), "", 0
        self.input_type = 0

    @no_effect(
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
            input_type: 0: a line is an instance; 1: a line is a batch, whatever batch_size is. Default: 0.

        Raises:
            ValueError: for another input_type.
        """
        only_known(DatasetBase.init, kwargs)
        if input_type not in (0, 1):
            raise ValueError(f"{type(self).__name__}: input_type is {input_type!r}; expected 0 or 1")
        self.threads, self.input_type = 0 if thread_num == 1 else thread_num, input_type
        self.batch_size, self.use_var = 1 if input_type else int(batch_size), list(use_var)
        self.pipe_command = "" if pipe_command == "cat" else pipe_command

    def set_thread(self, thread_num: int) -> None:
        """Set the number of threads that read."""
        self.threads = thread_num

    def update_settings(self, **kwargs: Any) -> None:
        """Change settings of init()."""
        now: dict[str, Any] = {
            "batch_size": self.batch_size,
            "use_var": self.use_var,
            "pipe_command": self.pipe_command or "cat",
            "thread_num": self.threads or 1,
            "input_type": self.input_type,
        }
        self.init(**(now | kwargs))

    def set_filelist(self, filelist: Sequence[str]) -> None:
        """The files to read."""
        self.files = list(filelist)

    def _read(self, file: str) -> list[SlotValues]:
        if not self.use_var:
            raise ValueError(f"{type(self).__name__}: use_var is empty; name the data that the slots feed in init()")
        kinds, names = [np.dtype(v.dtype.np) for v in self.use_var], [v.name for v in self.use_var]
        shown = f"what '{self.pipe_command}' makes of '{file}'" if self.pipe_command else f"'{file}'"
        return parse(self._text(file), kinds, shown, self.threads, names)

    def _text(self, file: str) -> bytes:
        """Return the text of a file, piped through the command, which runs as a separate process."""
        if not self.pipe_command:
            return Path(file).read_bytes()
        with open(file, "rb") as given:
            done = subprocess.run(self.pipe_command, shell=True, stdin=given, capture_output=True)
        if done.returncode:
            raise RuntimeError(
                f"{type(self).__name__}: pipe_command '{self.pipe_command}' has failed on '{file}' (exit code "
                f"{done.returncode}); it said:\n{done.stderr.decode(errors='replace')[-2000:]}"
            )
        return done.stdout

    def _feed(self, slots: list[SlotValues], rows: np.ndarray, declared: Any) -> dict[str, np.ndarray]:
        out = {}
        for var, slot in zip(self.use_var, slots, strict=True):
            out[var.name], lengths = slot.batch(rows, var.shape)
            if f"{var.name}.lengths" in declared:
                out[f"{var.name}.lengths"] = lengths
        return out

    def _batches(self, slots: list[SlotValues], order: np.ndarray, declared: Any) -> Iterator[dict[str, np.ndarray]]:
        for at in range(0, len(order), self.batch_size):
            yield self._feed(slots, order[at : at + self.batch_size], declared)


def _declared_names() -> Any:
    """Return the names of the data of this thread's program under construction; none outside of static mode."""
    return getattr(getattr(state.interpreter, "program", None), "feeds", ())


class InMemoryDataset(DatasetBase):
    """Data set of files that are loaded into memory and can be shuffled.

    The data named `<slot>.lengths` of a program receives the lengths of a slot before padding.

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
        if self.pipe_command:  # of which some run at once
            with ThreadPoolExecutor(self.threads or os.cpu_count()) as pool:
                parts = list(pool.map(self._read, self.files))
        else:
            parts = [self._read(f) for f in self.files]
        self._slots = [join_slots([p[i] for p in parts]) for i in range(len(self.use_var))] if parts else []
        self._order = np.arange(len(self._slots[0].starts) - 1 if self._slots else 0)
        if is_shuffle:
            self.local_shuffle()

    @no_effect(thread_num="set_thread() says how many")
    def preload_into_memory(self, thread_num: int | None = None) -> None:
        """Read all files."""
        self.load_into_memory()

    def wait_preload_done(self) -> None:
        """Nothing to wait for."""

    def local_shuffle(self) -> None:
        """Put the instances in a random order, on the stream of paddle.seed()."""
        self._order = host_draw().permutation(self._order)

    @no_effect(thread_num=_AT_ONCE)
    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """local_shuffle() over the workers of parameter servers: an instance goes to any, where `fleet` is given.

        All workers call it.
        """
        self.local_shuffle()
        if fleet is not None and job.session is not None and self._slots:
            place = job.session.place
            self._slots = spread(job.session.exchange, place.number, place.workers, self._slots, self._order)
            self._order = np.arange(len(self._slots[0].starts) - 1)

    def slots_shuffle(self, slots: Sequence[str]) -> None:
        """Shuffle the values of some slots among the instances, to see how much a model owes to them."""
        for i, var in enumerate(self.use_var):
            if var.name in slots:
                rows = host_draw().permutation(len(self._order))
                self._slots[i : i + 1] = select_instances([self._slots[i]], rows)

    def release_memory(self) -> None:
        """Forget what was read."""
        self._slots, self._order = [], np.arange(0)

    def get_memory_data_size(self, fleet: Any = None) -> int:
        """How many instances are in memory: here, or with `fleet` in all workers of parameter servers, who all call."""
        if fleet is not None and job.session is not None:
            return int(sum(f["size"] for f in job.session.gather({"size": np.int64(len(self._order))})))
        return len(self._order)

    get_shuffle_data_size = get_memory_data_size

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        return self._batches(self._slots, self._order, _declared_names())


class QueueDataset(DatasetBase):
    """Data set of files that are streamed one after the other.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.static.QueueDataset() is not None
        True
    """

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        return self._each(_declared_names())

    def _each(self, declared: Any) -> Iterator[dict[str, np.ndarray]]:
        for slots in ahead(map(self._read, self.files), 1):
            yield from self._batches(slots, np.arange(len(slots[0].starts) - 1), declared)
