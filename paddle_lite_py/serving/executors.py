"""Where models run: in the server's own process, or in workers, which may die and are started again."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from ..core.config import DISPATCH_VARIABLE
from .errors import ServingError
from .frames import LENGTHS, Message, decode, encode
from .host import ModelHost, ModelInfo
from .models import ServedModel
from .tensors import Arrays

T = TypeVar("T")
_log = logging.getLogger("paddle_lite_py.serving")
# A run that takes less than this is done at once: giving it to a thread and coming back takes longer than it does.
AT_ONCE = 0.0005


class ModelExecutor(Protocol):
    """What runs models by key."""

    @property
    def slots(self) -> int: ...  # noqa: D102  (batches that run at a time)
    @property
    def compilations(self) -> int: ...  # noqa: D102

    async def load(self, key: str, path: str | ServedModel, most: int, sizes: dict[str, int]) -> ModelInfo: ...  # noqa: D102
    async def run(self, key: str, arrays: Arrays, seconds: float) -> Arrays: ...  # noqa: D102
    async def unload(self, key: str) -> None: ...  # noqa: D102
    async def close(self) -> None: ...  # noqa: D102


class LocalExecutor:
    """Models of this process, run by a few threads; what takes no time runs at once."""

    def __init__(self, threads: int = 2) -> None:
        self._host, self.slots = ModelHost(), threads
        self._threads = ThreadPoolExecutor(threads, "paddle-serving")
        self._loading = threading.Lock()

    @property
    def compilations(self) -> int:
        """Programs that XLA has compiled."""
        return self._host.compilations

    async def load(self, key: str, path: str | ServedModel, most: int, sizes: dict[str, int]) -> ModelInfo:
        """Read and compile a model, in a thread of its own."""
        return await asyncio.to_thread(self._load, key, path, most, sizes)

    def _load(self, key: str, path: str | ServedModel, most: int, sizes: dict[str, int]) -> ModelInfo:
        with self._loading:
            if isinstance(path, ServedModel):
                return self._host.add(key, path, most, sizes)
            return self._host.load(key, path, most, sizes)

    async def run(self, key: str, arrays: Arrays, seconds: float) -> Arrays:
        """Run a model, which takes about so many seconds."""
        if seconds < AT_ONCE:
            return self._host.run(key, arrays)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._host.run, key, arrays)

    async def unload(self, key: str) -> None:
        """Drop a model."""
        self._host.unload(key)

    async def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of some work that goes on even if this is cancelled."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda t: t.cancelled() or t.exception())  # somebody has looked at it
    return await asyncio.shield(task)


class WorkerDied(ConnectionError):
    """The process ended before it answered."""


class _Worker:
    """One process, and the connection to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "paddle_lite_py.serving.worker", str(theirs.fileno())]
        environment = {DISPATCH_VARIABLE: "0", **os.environ}
        self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=environment)
        theirs.close()
        self._socket, self._turn = ours, asyncio.Lock()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.compilations = 0

    async def ask(self, head: dict[str, Any], arrays: Arrays) -> Message:
        """Send a message, wait for the answer.

        Raises:
            WorkerDied: if the process ends first.
            ServingError: as the worker says.
        """
        # An answer is read even if nobody waits for it any more: the next one comes after it.
        answer = await _to_the_end(self._in_turn(head, arrays))
        self.compilations = answer.head["compilations"]
        if "error" in answer.head:
            raise ServingError(answer.head["kind"], answer.head["error"])
        return answer

    async def _in_turn(self, head: dict[str, Any], arrays: Arrays) -> Message:
        async with self._turn:
            return await self._exchange(head, arrays)

    async def _exchange(self, head: dict[str, Any], arrays: Arrays) -> Message:
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(sock=self._socket)
            reader, writer = self._streams
            writer.writelines(encode(Message(head, arrays)))
            await writer.drain()
            lengths = LENGTHS.unpack(await reader.readexactly(LENGTHS.size))
            return decode(*[await reader.readexactly(n) for n in lengths])
        except (OSError, asyncio.IncompleteReadError) as e:
            raise WorkerDied(f"worker {self.process.pid} ended") from e

    async def close(self) -> None:
        """End the process: at once if it does not end by itself."""
        if self._streams:
            self._streams[1].close()
        self._socket.close()
        try:
            await asyncio.to_thread(self.process.wait, 2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)


class WorkerExecutor:
    """Processes that all hold all models. A batch whose worker dies runs on another one; another is started for it."""

    RETRIES = 5

    def __init__(self, workers: int, patience: float = 60.0) -> None:
        self.slots, self._patience = workers, patience
        self._loads: dict[str, dict[str, Any]] = {}  # what a new worker is to load
        self._workers = [_Worker() for _ in range(workers)]
        self._free: asyncio.Queue[_Worker] = asyncio.Queue()
        for worker in self._workers:
            self._free.put_nowait(worker)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed, self._past = False, 0

    @property
    def compilations(self) -> int:
        """Programs that XLA has compiled in the workers."""
        return self._past + sum(w.compilations for w in self._workers)

    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [w.process.pid for w in self._workers]

    async def load(self, key: str, path: str | ServedModel, most: int, sizes: dict[str, int]) -> ModelInfo:
        """Read and compile a model in all workers, one after the other."""
        if not isinstance(path, str):
            raise ServingError("unavailable", "workers load models from files: name a file, or use no workers")
        head = {"do": "load", "key": key, "path": path, "most": most, "sizes": sizes}
        info: dict[str, Any] = {}
        self._loads[key] = head
        for worker in list(self._workers):
            try:
                info = (await worker.ask(head, {})).head["info"]
            except WorkerDied:
                self._replace(worker)
            except ServingError:
                del self._loads[key]
                raise
        if not info:
            raise ServingError("unavailable", f"the workers that should load {path} have ended")
        return ModelInfo.from_json(info)

    async def run(self, key: str, arrays: Arrays, seconds: float) -> Arrays:
        """Run a model in the next free worker, which is free again when it has answered, or is ended."""
        return await _to_the_end(self._run(key, arrays))

    async def _run(self, key: str, arrays: Arrays) -> Arrays:
        for _ in range(self.RETRIES):
            worker = await self._free.get()
            try:
                async with asyncio.timeout(self._patience):
                    answer = await worker.ask({"do": "run", "key": key}, arrays)
            except TimeoutError:
                _log.warning("worker %d is ended: a batch took more than %g s", worker.process.pid, self._patience)
                worker.process.kill()
                self._replace(worker)
                raise ServingError("late", f"the model took more than {self._patience:g} s for a batch") from None
            except WorkerDied as e:
                _log.warning("%s; its batch runs again", e)
                self._replace(worker)
                continue
            except BaseException:
                self._free.put_nowait(worker)
                raise
            self._free.put_nowait(worker)
            return answer.arrays
        raise ServingError(
            "failed", f"{self.RETRIES} workers in turn ended while they ran this batch; it may be its fault"
        )

    async def unload(self, key: str) -> None:
        """Drop a model in all workers."""
        self._loads.pop(key, None)
        for worker in list(self._workers):
            try:
                await worker.ask({"do": "unload", "key": key}, {})
            except WorkerDied:
                self._replace(worker)

    def _replace(self, dead: _Worker) -> None:
        if dead in self._workers and not self._closed:
            self._past += dead.compilations
            self._workers[self._workers.index(dead)] = fresh = _Worker()
            task = asyncio.ensure_future(self._started(dead, fresh))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _started(self, dead: _Worker, fresh: _Worker) -> None:
        await dead.close()
        try:
            for head in list(self._loads.values()):
                await fresh.ask(head, {})
        except WorkerDied:
            return self._replace(fresh)
        except ServingError as e:
            _log.error("a new worker cannot load what the others hold: %s", e)
        self._free.put_nowait(fresh)

    async def close(self) -> None:
        """End all workers."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*[w.close() for w in self._workers])


def executor(workers: int, patience: float) -> ModelExecutor:
    """What runs models: processes, or for 0 workers threads of this process.

    Arguments:
        patience: seconds after which a worker that still runs a batch is ended.
    """
    return WorkerExecutor(workers, patience) if workers else LocalExecutor(min(2, os.cpu_count() or 1))
