"""Workers of a DataLoader that are processes: batches come through shared memory, in order."""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import cloudpickle

from . import in_worker, making
from .in_worker import ALIGNMENT, Line, anonymous_memory, mapped
from .making import Loading

# Idle processes that wait for the next DataLoader, since each has spent its time on imports.
IDLE = 8
_idle: list[ProcessWorker] = []
# Loads two modules under their names, without the package around them, and runs the second.
BOOT = """
import importlib.util, sys
for name, file in zip(sys.argv[2::2], sys.argv[3::2]):
    spec = importlib.util.spec_from_file_location(name, file)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
module.main(int(sys.argv[1]))
"""
MODULES = [text for m in (making, in_worker) for text in (m.__name__, str(m.__file__))]
_lock = threading.Lock()


class Unfit(Exception):
    """What is to be loaded cannot be sent to a process."""


class WorkerError(Exception):
    """How an exception came about in a worker."""

    def __str__(self) -> str:
        return "\n" + self.args[0]


class ProcessWorker:
    """One process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        os.set_inheritable(theirs.fileno(), True)
        # It computes on the host, as one of several: no accelerator, no threads.
        environment = {"OMP_NUM_THREADS": "1", **os.environ, "JAX_PLATFORMS": "cpu"}
        command = [sys.executable, "-P", "-c", BOOT, str(theirs.fileno()), *MODULES]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment, pass_fds=[theirs.fileno()])
        theirs.close()
        self.line = Line(ours)
        self.memory: dict[int, Any] = {}
        self.freed: list[int] = []
        self.waiting: deque[Any] = deque()  # the indices of requested batches, in order
        self.at_exit = weakref.finalize(self, _end, self.process, self.line)

    def ask(self, number: int, indices: list[int] | None) -> None:
        """Ask for a batch."""
        freed, self.freed = self.freed, []
        self.waiting.append(indices)
        # The death of a worker is reported when its batch is due: until then the batches before it are available.
        with contextlib.suppress(OSError):
            self.line.send("load", number, indices, freed)

    def answer(self, number: int, timeout: float) -> Any:
        """Return its next answer, a batch in shared memory; the memory is noted.

        Raises:
            RuntimeError: if the process has ended, or nothing comes in time.
        """
        while True:
            try:
                if timeout and not self.line.objects.poll(timeout):
                    raise RuntimeError(f"DataLoader: a batch was not there after timeout={timeout} seconds")
                what, *details = self.line.receive()
            except (EOFError, OSError):
                raise RuntimeError(self._ended(number)) from None
            if what != "memory":
                return what, details
            slot, size = details
            file = self.line.receive_file()
            self.memory[slot] = mapped(file, size)
            os.close(file)

    def _ended(self, number: int) -> str:
        status = self.process.wait()
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with exit code {status}"
        hint = ": if the system was out of memory, that is who it ends" if status == -signal.SIGKILL else ""
        what = f" while loading samples {self.waiting[0]}" if self.waiting and self.waiting[0] is not None else ""
        return f"DataLoader: worker {number} (process {self.process.pid}) {how}{what}{hint}"

    def drain(self) -> bool:
        """Drop the batches that are still on their way; False if the process can serve no more."""
        try:
            while self.waiting:
                what, details = self.answer(0, 60.0)
                self.waiting.popleft()
                if what == "batch" and details[0] >= 0:
                    self.freed.append(details[0])
        except RuntimeError:
            self.close()
            return False
        return self.process.poll() is None

    def close(self) -> None:
        """End the process."""
        self.at_exit()


def _end(process: Any, line: Line) -> None:
    line.close()
    try:
        process.wait(0.2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Shipment(NamedTuple):
    """The data sent to each worker: a pickle, and its arrays in shared memory."""

    header: bytes
    ends: list[int]
    size: int
    file: int


def packed(what: Any) -> Shipment:
    """Return a pickle of anything; classes and functions of the main program go by value.

    Raises:
        Unfit: if it cannot be pickled.
    """
    buffers: list[pickle.PickleBuffer] = []
    try:
        header = cloudpickle.dumps(what, protocol=5, buffer_callback=buffers.append)
        parts = [b.raw() for b in buffers]
    except Exception as e:
        raise Unfit(f"{type(e).__name__}: {e}") from e
    ends, size = [], 0
    for part in parts:
        start = -(-size // ALIGNMENT) * ALIGNMENT
        size = start + part.nbytes
        ends += [start, size]
    file = anonymous_memory(max(size, 1))
    memory = mapped(file, size)
    for part, start in zip(parts, ends[::2], strict=True):
        memory[start : start + part.nbytes] = part
    return Shipment(header, ends, size, file)


class Processes:
    """Several processes that load batches.

    Arguments:
        count: how many.
        loading: what they load, and how.
        init: worker_init_fn.
        seed: of the random numbers in the workers.

    Raises:
        Unfit: if what they load cannot be sent to them.
    """

    def __init__(self, count: int, loading: Loading, init: Any, seed: int) -> None:
        self.workers: list[ProcessWorker] = []
        sent = packed((tuple(loading), count, init, seed))
        try:
            for i in range(count):
                self._start(i, sent)
            for i in range(count):
                self._prepare(i)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(sent.file)

    def _start(self, number: int, sent: Shipment) -> None:
        with _lock:
            worker = _idle.pop() if _idle else ProcessWorker()
        self.workers.append(worker)
        worker.line.send("prepare", number, sent.size, sent.header, sent.ends, sys.path)
        worker.line.send_file(sent.file)

    def _prepare(self, number: int) -> None:
        what, details = self.workers[number].answer(number, 0)
        if what == "unfit":
            raise Unfit(details[0])
        if what == "error":
            raise _raised(*details)

    def run(
        self, indices: Iterator[Any] | None, ahead: int, timeout: float, made: Any, first: int = 0
    ) -> Iterator[Any]:
        """Batches in order.

        Arguments:
            indices: of the samples of each batch; None for a stream, which each worker has one of.
            ahead: batches requested from each worker before they are needed.
            made: makes tensors of arrays that lie in shared memory.
            first: the number of the first batch.
        """
        turn = deque(range(len(self.workers)))
        asked: deque[int] = deque()
        numbers = iter(range(first, sys.maxsize))

        def ask() -> None:
            while turn and len(asked) < ahead * len(self.workers):
                batch = None if indices is None else next(indices, None)
                if indices is not None and batch is None:
                    turn.clear()
                    return
                self.workers[turn[0]].ask(next(numbers), batch)
                asked.append(turn[0])
                turn.rotate(-1)

        if indices is None:
            for worker in self.workers:
                worker.line.send("begin")
        self._guard(ask)
        while asked:
            number = asked.popleft()
            what, details = self._guard(functools.partial(self.workers[number].answer, number, timeout))
            worker = self.workers[number]
            worker.waiting.popleft()
            if what == "error":
                raise _raised(*details)
            if what == "end":
                if number in turn:
                    turn.remove(number)
            else:
                yield self._taken(worker, details, made)
            self._guard(ask)

    def _taken(self, worker: ProcessWorker, details: list[Any], made: Any) -> Any:
        slot, batch = details
        out = in_worker.unpack(batch, worker.memory.get(slot, b""), made)
        if slot >= 0:
            worker.freed.append(slot)
        return out

    def _guard(self, call: Any) -> Any:
        """Return a call that ends all workers if one of them is gone."""
        try:
            return call()
        except (RuntimeError, OSError) as e:
            gone = next((i for i, w in enumerate(self.workers) if w.process.poll() is not None), None)
            text = str(e) if gone is None or isinstance(e, RuntimeError) else self.workers[gone]._ended(gone)
            self.close()
            raise RuntimeError(text) from None

    def drained(self) -> bool:
        """Whether all of them can serve another pass, after what is left of this one has been dropped."""
        return bool(self.workers) and False not in [w.drain() for w in self.workers]

    def release(self) -> None:
        """Keep the processes for who needs some next."""
        workers, self.workers = self.workers, []
        for worker in workers:
            if not worker.waiting and len(_idle) < IDLE and worker.process.poll() is None:
                with _lock:
                    _idle.append(worker)
            else:
                worker.close()

    def close(self) -> None:
        """End the processes."""
        workers, self.workers = self.workers, []
        for worker in workers:
            worker.close()


def _raised(data: bytes | None, short: str, text: str) -> BaseException:
    """Return the exception of a worker, with how it came about there."""
    error = RuntimeError(short) if data is None else in_worker.again(data)
    error.__cause__ = WorkerError(text)
    return error
