"""The main loop of a DataLoader worker. It runs this file and making.py alone: neither JAX nor the package is
needed for it to start, and it loads them only if the data set does."""

from __future__ import annotations

import os
import pickle
import random
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .making import Loading

ALIGNMENT = 64
NUMBERS = "biufc"  # kinds of dtypes that tensors have
LARGE = 1 << 15  # bytes of a pickle that goes through shared memory
# In a worker process: its number, how many there are, the data set and the seed.
INFO: tuple[int, int, Any, int] | None = None


# -- memory that two processes share -----------------------------------------------------------------------------------
class Packed(NamedTuple):
    """Stands for an array of numbers that lies in shared memory."""

    offset: int
    dtype: str
    shape: tuple[int, ...]


class Spilled(NamedTuple):
    """Stands for a batch whose pickle lies in shared memory, too."""

    place: Packed


def pack(value: Any, arrays: list[np.ndarray], end: int = 0) -> tuple[Any, int]:
    """Return a batch with places in shared memory instead of its arrays, which are collected, and where they end."""
    if hasattr(value, "_array") and hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS and value.dtype.isnative:
        arrays.append(np.ascontiguousarray(value))
        start = -(-end // ALIGNMENT) * ALIGNMENT
        return Packed(start, value.dtype.str, value.shape), start + value.nbytes
    if isinstance(value, Mapping):
        out = {}
        for k, v in value.items():
            out[k], end = pack(v, arrays, end)
        return out, end
    if isinstance(value, tuple | list):
        made = []
        for v in value:
            item, end = pack(v, arrays, end)
            made.append(item)
        return (type(value)(*made) if hasattr(value, "_fields") else type(value)(made)), end
    return value, end


def places(value: Any) -> Iterator[Packed]:
    """Yield the places in a packed batch, in the order of its arrays."""
    if isinstance(value, Packed):
        yield value
    elif isinstance(value, Mapping):
        for v in value.values():
            yield from places(v)
    elif isinstance(value, tuple | list):
        for v in value:
            yield from places(v)


def unpack(told: bytes, memory: Any, made: Callable[[np.ndarray], Any]) -> Any:
    """Return a batch with what `made` makes of its arrays, which lie in memory that will be used again."""
    packed = pickle.loads(told)
    if isinstance(packed, Spilled):
        packed = pickle.loads(_array(packed.place, memory).data)
    return _unpacked(packed, memory, made)


def _array(place: Packed, memory: Any) -> np.ndarray:
    count = int(np.prod(place.shape, dtype=np.int64))
    return np.frombuffer(memory, place.dtype, count, place.offset).reshape(place.shape)


def _unpacked(value: Any, memory: Any, made: Callable[[np.ndarray], Any]) -> Any:
    if isinstance(value, Packed):
        return made(_array(value, memory))
    if isinstance(value, Mapping):
        return {k: _unpacked(v, memory, made) for k, v in value.items()}
    if isinstance(value, tuple | list):
        items = [_unpacked(v, memory, made) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def anonymous_memory(size: int) -> int:
    """A file without a name, in memory: it is gone when the last process that holds it has ended, however it ends."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("batches", os.MFD_CLOEXEC)
    else:
        import tempfile

        with tempfile.TemporaryFile() as unnamed:
            file = os.dup(unnamed.fileno())
    os.ftruncate(file, size)
    return file


def mapped(file: int, size: int, private: bool = False) -> Any:
    """Such a file as memory; if private, what is written there stays in this process."""
    import mmap

    return mmap.mmap(file, max(size, 1), mmap.MAP_PRIVATE if private else mmap.MAP_SHARED)


# -- a process ---------------------------------------------------------------------------------------------------------
class Line:
    """A connection to the other process: objects, and files that both then hold."""

    def __init__(self, end: socket.socket) -> None:
        from multiprocessing.connection import Connection

        self._socket = end
        self.objects = Connection(os.dup(end.fileno()))

    def send(self, *what: Any) -> None:
        """Send an object."""
        self.objects.send_bytes(pickle.dumps(what, 5))

    def receive(self) -> Any:
        """Return the next object."""
        return pickle.loads(self.objects.recv_bytes())

    def send_file(self, file: int) -> None:
        """Send a file, after the object that tells of it."""
        socket.send_fds(self._socket, [b"f"], [file])

    def receive_file(self) -> int:
        """Open the file whose descriptor was received."""
        return socket.recv_fds(self._socket, 1, 1)[1][0]

    def close(self) -> None:
        """Hang up."""
        self.objects.close()
        self._socket.close()


class WorkerProcess:
    """Does what the process of the DataLoader says, until that hangs up."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.loading: Any = None
        self.stream: Any = None
        self.seed: int | None = None  # None: random numbers are the affair of the user's worker_init_fn
        self.slots: dict[int, Any] = {}
        self.free: set[int] = set()

    def serve(self) -> None:
        """Until the other end is closed."""
        while True:
            try:
                what, *details = self.line.receive()
            except (EOFError, OSError):
                return
            try:
                getattr(self, what)(*details)
            except (BrokenPipeError, ConnectionError):
                return
            except BaseException as e:
                self.line.send("error", *_portable_error(e))

    def prepare(self, number: int, size: int, header: bytes, ends: list[int], path: list[str]) -> None:
        """Take the data set: a pickle, whose arrays lie in shared memory."""
        file = self.line.receive_file()
        memory = memoryview(mapped(file, size, private=True))
        os.close(file)
        sys.path[:] = path
        try:
            parts = [memory[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)]
            loading, count, init, seed = pickle.loads(header, buffers=parts)
        except BaseException as e:
            self.line.send("unfit", f"{type(e).__name__}: {e}")
            return
        self.loading, self.stream, self.seed = Loading(*loading)._replace(worker=number), None, None if init else seed
        globals()["INFO"] = (number, count, self.loading.dataset, seed + number)
        _seed(seed + number)
        if init is not None:
            self._init(init, number)
        self.line.send("ready")

    def _init(self, init: Callable[[int], Any], number: int) -> None:
        try:
            init(number)
        except SystemExit as e:
            raise RuntimeError(f"worker_init_fn of the DataLoader has ended worker {number}: {e!r}") from None
        except BaseException as e:
            e.add_note(f"in worker_init_fn, called for worker {number} of the DataLoader")
            raise

    def begin(self) -> None:
        """A stream begins anew."""
        self.stream = None

    def load(self, number: int, indices: list[int] | None, freed: list[int]) -> None:
        """Make a batch: the next one of the stream if there are no indices."""
        self.free.update(freed)
        if self.seed is not None and indices is not None:
            _seed(hash((self.seed, number)) & 0xFFFFFFFF)
        if indices is not None:
            return self._send(self.loading.load(indices))
        self.stream = self.stream or self.loading.stream()
        for batch in self.stream:
            return self._send(batch)
        self.line.send("end")

    def _send(self, batch: Any) -> None:
        arrays: list[np.ndarray] = []
        packed, size = pack(batch, arrays)
        told, where = _pickle(packed), list(places(packed))
        if len(told) > LARGE:  # a pipe holds little, and writing to a full one blocks
            where.append(Packed(size, "|u1", (len(told),)))
            arrays.append(np.frombuffer(told, np.uint8))
            told, size = pickle.dumps(Spilled(where[-1])), size + len(told)
        slot = self._slot(size) if size else -1
        for place, array in zip(where, arrays, strict=True):
            if array.nbytes:
                into = np.frombuffer(self.slots[slot], np.uint8, array.nbytes, place.offset)
                into[:] = array.reshape(-1).view(np.uint8)
        self.line.send("batch", slot, told)

    def _slot(self, size: int) -> int:
        """Memory that the other process does not look at."""
        fitting = [s for s in self.free if len(self.slots[s]) >= size]
        if fitting:
            slot = min(fitting, key=lambda s: len(self.slots[s]))
            self.free.discard(slot)
            return slot
        slot = min(self.free, default=len(self.slots))  # a free one that is too small is replaced
        self.free.discard(slot)
        file, size = anonymous_memory(size), size
        self.slots[slot] = mapped(file, size)
        self.line.send("memory", slot, size)
        self.line.send_file(file)
        os.close(file)
        return slot


def _seed(seed: int) -> None:
    """Random numbers of Python, NumPy and, where it is loaded, the package."""
    random.seed(seed)
    np.random.seed(seed & 0xFFFFFFFF)
    package = sys.modules.get("paddle_lite_py")
    if package is not None:
        package.seed(seed & 0xFFFFFFFF)


def _portable_error(error: BaseException) -> tuple[bytes | None, str, str]:
    """Return an exception for the other process to raise, in words, and how it came about."""
    text = "".join(traceback.format_exception(error))
    short = f"{type(error).__name__}: {error}"
    try:
        data = _pickle((type(error), error.args, vars(error)))
        again(data)
        return data, short, text
    except Exception:  # it holds what cannot be sent
        return None, short, text


def again(data: bytes) -> BaseException:
    """Return an exception that was sent; its `__init__` need not take what it holds."""
    kind, args, held = pickle.loads(data)
    try:
        made = kind(*args)
    except Exception:
        made = kind.__new__(kind, *args)
    made.args = args
    vars(made).update(held)
    return made


def _by_value(value: Any) -> bytes:
    import cloudpickle

    return cloudpickle.dumps(value)


def _pickle(value: Any) -> bytes:
    """Return a pickle; by value what is of the main program, which knows it again."""
    try:
        return pickle.dumps(value, 5)
    except Exception:
        return _by_value(value)


def main(file: int) -> None:
    """A process of workers, whose connection is a file that it has inherited."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that will close the connection
    WorkerProcess(Line(socket.socket(fileno=file))).serve()
