"""Threads as workers of a DataLoader: they load batches ahead, in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, NamedTuple

from . import in_worker


class WorkerInfo(NamedTuple):
    """Description of a worker: id, num_workers and dataset."""

    id: int
    num_workers: int
    dataset: Any
    seed: int


class _Here(threading.local):
    info: WorkerInfo | None = None
    failure: BaseException | None = None  # of worker_init_fn


_here = _Here()


def get_worker_info() -> WorkerInfo | None:
    """Return information about the current worker of a DataLoader, for an IterableDataset to split its samples.

    Returns:
        A WorkerInfo with id, num_workers and dataset; None in the main process.

    Examples:
        >>> get_worker_info() is None
        True
    """
    if _here.info is None and in_worker.INFO is not None:
        return WorkerInfo(*in_worker.INFO)
    return _here.info


END = object()


def one_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches, each made before the one before it is used, so that it is on its way to the device meanwhile.

    What making one raises is raised in its place.
    """
    error: BaseException | None = None
    waiting: deque[Any] = deque()
    while error is None:
        try:
            waiting.append(next(batches))
        except BaseException as e:
            error = e
        if len(waiting) > 1 or (error and waiting):
            yield waiting.popleft()
    if not isinstance(error, StopIteration):
        raise error


class Workers:
    """Threads, each of which does its tasks one after the other."""

    def __init__(self, count: int, dataset: Any, init: Callable[[int], Any] | None, seed: int) -> None:
        infos = [WorkerInfo(i, count, dataset, seed + i) for i in range(count)]
        self._pools = [ThreadPoolExecutor(1, f"DataLoader-{i.id}", _enter, (i, init)) for i in infos]

    def run(self, tasks: Callable[[int], Iterator[Callable[[], Any]]], ahead: int, timeout: float) -> Iterator[Any]:
        """Yield the results of all workers' tasks in turn; `ahead` of them are loaded in advance.

        Arguments:
            tasks: the tasks of worker i; a worker leaves when one of them returns END.
        """
        sources = deque((pool, tasks(i)) for i, pool in enumerate(self._pools))
        pending: deque[tuple[Any, Future[Any]]] = deque()

        def submit() -> None:
            while sources and len(pending) < ahead:
                pool, own = source = sources.popleft()
                task = next(own, None)
                if task is not None:
                    pending.append((source, pool.submit(_do, task)))
                    sources.append(source)

        submit()
        try:
            while pending:
                source, future = pending.popleft()
                result = _result(future, timeout)
                if result is END:
                    if source in sources:
                        sources.remove(source)
                else:
                    submit()
                    yield result
                submit()
        finally:
            for _, future in pending:
                future.cancel()

    def close(self) -> None:
        """Let the threads go; tasks not yet begun are dropped."""
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[Any], timeout: float) -> Any:
    try:
        return future.result(timeout or None)
    except FutureTimeout:
        if future.done():
            raise
        raise RuntimeError(f"DataLoader: a batch was not there after timeout={timeout} seconds") from None


def _enter(info: WorkerInfo, init: Callable[[int], Any] | None) -> None:
    _here.info = info
    try:
        if init is not None:
            init(info.id)
    except BaseException as e:  # an executor would only say that there was something
        _here.failure = e


def _do(task: Callable[[], Any]) -> Any:
    """Return a task in its worker, if that has begun well.

    Raises:
        RuntimeError: worker_init_fn has ended the worker by SystemExit.
    """
    error, info = _here.failure, _here.info
    if isinstance(error, SystemExit):
        raise RuntimeError(f"worker_init_fn of the DataLoader has ended worker {info and info.id}: {error!r}")
    if error is not None:
        error.add_note(f"in worker_init_fn, called for worker {info and info.id} of the DataLoader")
        raise error
    return task()
