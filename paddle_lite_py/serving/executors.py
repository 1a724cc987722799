"""Where models run: in the server's own process, or in workers, which may die and are started again."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from .errors import ServingError
from .host import PROGRAMS, ModelHost, ModelInfo
from .models import ServedModel
from .tensors import Arrays
from .worker_process import ModelWorker, WorkerDied, to_the_end

_log = logging.getLogger("paddle_lite_py.serving")
# A run that takes less than this is done at once: giving it to a thread and coming back takes longer than it does.
AT_ONCE = 0.0005
# A model of which one row takes this long keeps all cores busy with one batch: a second one at the same time would only
# taken rows from it, and a row costs the less the more there are.
ALL_CORES = 0.005
LOADING = 900.0  # seconds that a model may take to be read and compiled
TESTER = 30.0  # seconds after which a process ends that has no model to try


class ModelExecutor(Protocol):
    """The base of executors, which run models by key."""

    @property
    def compilations(self) -> int: ...  # noqa: D102
    @property
    def outage(self) -> str: ...  # noqa: D102  (why batches wait that could run; empty: they do not)
    @property
    def runs(self) -> bool: ...  # noqa: D102  (whether there is anything that runs batches)

    async def try_out(self, path: str, most: int, sizes: dict[str, int]) -> None: ...  # noqa: D102

    async def load(self, key: str, path: str | ServedModel, most: int, sizes: dict[str, int]) -> ModelInfo: ...  # noqa: D102
    async def run(self, key: str, arrays: Arrays, seconds: float) -> Arrays: ...  # noqa: D102
    def slots(self, info: ModelInfo) -> int: ...  # noqa: D102
    async def unload(self, key: str) -> None: ...  # noqa: D102
    async def close(self) -> None: ...  # noqa: D102


class LocalExecutor:
    """Models of this process, run by a few threads; what takes no time runs at once."""

    outage, runs = "", True

    def __init__(self, threads: int = 2, programs: int = PROGRAMS) -> None:
        self._host, self._count = ModelHost(programs), threads
        self._threads = ThreadPoolExecutor(threads, "paddle-serving")
        self._loading = threading.Lock()
        self._tester: ModelWorker | None = None
        self._idle: asyncio.TimerHandle | None = None

    @property
    def compilations(self) -> int:
        """Programs that XLA has compiled."""
        return self._host.compilations

    def slots(self, info: ModelInfo) -> int:
        """Batches of a model that run at a time."""
        joined = bool(info.rows.sizes) and info.rows.sizes[-1] > 1
        return 1 if joined and info.seconds >= ALL_CORES else self._count

    async def try_out(self, path: str, most: int, sizes: dict[str, int]) -> None:
        """Load a model in a process of its own first: what ends that, or takes for ever, is not loaded here.

        Raises:
            ServingError: if it cannot be loaded.
        """
        if self._tester is None or self._tester.ended:
            await self._end_tester()
            self._tester = ModelWorker()
        if self._idle is not None:
            self._idle.cancel()
        try:
            await loaded_in(self._tester, {"do": "load", "key": "", "path": path, "most": most, "sizes": sizes})
            await self._tester.ask({"do": "unload", "key": ""}, {})
        except WorkerDied:
            raise ServingError("unavailable", f"a process that loaded {path} ended over it") from None
        finally:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(TESTER, lambda: asyncio.ensure_future(self._end_tester()))

    async def _end_tester(self) -> None:
        tester, self._tester = self._tester, None
        if tester is not None:
            await tester.close()

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
        """End the threads, and the process that tries models."""
        if self._idle is not None:
            self._idle.cancel()
        await self._end_tester()
        self._threads.shutdown(wait=False, cancel_futures=True)


async def loaded_in(worker: ModelWorker, head: dict[str, Any]) -> dict[str, Any]:
    """Return what a worker reports of a model that it has loaded.

    Raises:
        WorkerDied: if it ends over it, or has to be ended.
        ServingError: if the model cannot be loaded.
    """
    try:
        return (await worker.ask(head, {}, LOADING)).head["info"]
    except TimeoutError:
        worker.process.kill()
        raise WorkerDied(f"worker {worker.process.pid} is ended: a model took more than {LOADING:g} s") from None


class WorkerExecutor:
    """Processes that all hold all models. A batch whose worker dies runs on another one; another is started for it."""

    RETRIES = 5
    DEADLY = 2  # new workers that may end over a model before the next does without it
    LOOK = 0.5  # seconds between checks of idle workers

    def __init__(self, workers: int, patience: float = 60.0, programs: int = PROGRAMS) -> None:
        self._count, self._patience, self._programs = workers, patience, programs
        self._loads: dict[str, dict[str, Any]] = {}  # what a new worker is to load
        self._deadly: Counter[str] = Counter()  # by model: new workers that have ended over it
        self._workers = [ModelWorker(programs) for _ in range(workers)]
        self._free: asyncio.Queue[ModelWorker] = asyncio.Queue()
        for worker in self._workers:
            self._give(worker)
        self._tasks: set[asyncio.Task[None]] = set()
        self._restoring: set[ModelWorker] = set()  # those that load what the others hold
        self._closed, self._past, self._starting, self._looking = False, 0, 0, False

    @property
    def compilations(self) -> int:
        """Programs that XLA has compiled in the workers."""
        return self._past + sum(w.compilations for w in self._workers)

    @property
    def outage(self) -> str:
        """The number of workers that are being started."""
        return f"{self._starting} of {self._count} workers had ended and are being started again" * bool(self._starting)

    @property
    def runs(self) -> bool:
        """Whether a worker is there."""
        return self._starting < self._count

    def slots(self, info: ModelInfo) -> int:
        """Batches of a model that run at a time."""
        return self._count

    async def try_out(self, path: str, most: int, sizes: dict[str, int]) -> None:
        """Nothing: of the workers that load a model the first one tries it, and is replaced if it ends over it."""

    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [w.process.pid for w in self._workers]

    async def load(self, key: str, path: str | ServedModel, most: int, sizes: dict[str, int]) -> ModelInfo:
        """Read and compile a model in all workers, one after the other; the others answer requests meanwhile."""
        if not isinstance(path, str):
            raise ServingError("unavailable", "workers load models from files: name a file, or use no workers")
        if not self._looking:
            self._looking = True
            self._keep(self._look())
        head = {"do": "load", "key": key, "path": path, "most": most, "sizes": sizes}
        info: dict[str, Any] = {}
        done: set[ModelWorker] = set()
        while missing := [w for w in self._workers if w not in done and w not in self._restoring]:
            done.add(missing[0])
            try:
                info = await self._load_in(missing[0], head)
                self._loads[key] = head  # new workers load it too, once one could
            except WorkerDied as e:
                self._replace(missing[0])
                if not info:
                    raise ServingError("unavailable", f"a worker that loaded {path} ended over it: {e}") from None
            except ServingError:
                self._loads.pop(key, None)
                raise
        if not info:
            raise ServingError("unavailable", f"all workers are being replaced; load {path} again later")
        return ModelInfo.from_json(info)

    async def _load_in(self, worker: ModelWorker, head: dict[str, Any]) -> dict[str, Any]:
        """Load a model in a worker, which runs nothing meanwhile; returns the model's description."""
        worker.loading += 1
        try:
            return await loaded_in(worker, head)
        finally:
            worker.loading -= 1
            self._give(worker)

    async def run(self, key: str, arrays: Arrays, seconds: float) -> Arrays:
        """Run a model in the next free worker, which is free again when it has answered, or is ended."""
        return await to_the_end(self._run(key, arrays))

    async def _run(self, key: str, arrays: Arrays) -> Arrays:
        for _ in range(self.RETRIES):
            worker = await self._take()
            try:
                if key in worker.missing:
                    raise ServingError("unavailable", f"a worker cannot load the model again: {worker.missing[key]}")
                answer = await worker.ask({"do": "run", "key": key}, arrays, self._patience)
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
                self._give(worker)
                raise
            self._give(worker)
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

    # -- who runs next ---------------------------------------------------------------------------------------------
    async def _take(self) -> ModelWorker:
        """The next free worker. One that ended while it was free costs a batch none of its tries."""
        while True:
            worker = await self._free.get()
            worker.queued = False
            if worker.ended:
                self._replace(worker)
            elif worker in self._workers and not worker.loading:
                return worker

    def _give(self, worker: ModelWorker) -> None:
        """A worker is free, unless models are still loaded in it: then it is when they are."""
        if not worker.loading and not worker.queued:
            worker.queued = True
            self._free.put_nowait(worker)

    # -- starting again --------------------------------------------------------------------------------------------
    async def _look(self) -> None:
        """Find workers that end while nobody asks them, so that the next request finds another one."""
        while True:
            await asyncio.sleep(self.LOOK)
            for worker in [w for w in self._workers if w.ended]:
                self._replace(worker)

    def _replace(self, dead: ModelWorker) -> None:
        if dead in self._workers and not self._closed:
            self._past += dead.compilations
            self._workers.remove(dead)
            self._starting += 1
            self._keep(self._started(dead))

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _started(self, dead: ModelWorker) -> None:
        """Another worker in the place of a dead one, free once it has loaded what the others hold."""
        while True:
            try:
                fresh = ModelWorker(self._programs)
                break
            except OSError as e:  # the machine is out of processes or memory, perhaps for a while only
                _log.error("a worker cannot be started, which is tried again: %s", e)
                await asyncio.sleep(1.0)
        self._workers.append(fresh)
        self._restoring.add(fresh)
        await dead.close()
        fresh.loading += 1
        try:
            for key in list(self._loads):
                await self._restored(fresh, key)
        except WorkerDied:
            self._replace(fresh)
        finally:
            self._starting -= 1
            self._restoring.discard(fresh)
            fresh.loading -= 1
        self._give(fresh)

    async def _restored(self, fresh: ModelWorker, key: str) -> None:
        """Load in a new worker what the others hold; what cannot be read any more it does without."""
        if self._deadly[key] >= self.DEADLY:
            fresh.missing[key] = "workers end over it"
            return
        try:
            if head := self._loads.get(key):
                await loaded_in(fresh, head)
            self._deadly.pop(key, None)
        except WorkerDied:
            self._deadly[key] += 1
            _log.error("a new worker has ended over what the others hold: %s", self._loads.get(key, {}).get("path"))
            raise
        except ServingError as e:
            _log.error("a new worker cannot load what the others hold: %s", e)
            fresh.missing[key] = e.text

    async def close(self) -> None:
        """End all workers."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*[w.close() for w in self._workers])


def executor(workers: int, patience: float, programs: int = PROGRAMS) -> ModelExecutor:
    """Return the executor: processes, or for 0 workers threads of this process.

    Arguments:
        patience: seconds after which a worker that still runs a batch is ended.
        programs: of new sizes, how many are compiled for a model in ten minutes, in each process.
    """
    if workers:
        return WorkerExecutor(workers, patience, programs)
    return LocalExecutor(min(2, os.cpu_count() or 1), programs)
