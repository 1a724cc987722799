"""Dynamic batching: up to a number of rows and a delay, each answer going to its own request."""

from __future__ import annotations

import asyncio
import collections
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import ServingError
from .host import PROGRAMS, ModelInfo
from .joining import count
from .tensors import Arrays

Run = Callable[[Arrays], Awaitable[Arrays]]
# After a batch that took this many delays, those who wait do so for one delay more: who was answered just now may ask
# again, and would have to wait for the whole next batch else, in which fewer rows are.
AGAIN = 10


@dataclass(frozen=True)
class Limits:
    """How much a server takes on.

    Arguments:
        batch: rows of a batch that requests are joined to; 1: they are not.
        delay: seconds that the first request of a batch waits for others.
        queue: requests of a model that wait; one more is answered with 429.
        body: bytes of a request.
        seconds: that a request may take; 504 after that.
        programs: sizes of inputs that are compiled for a model in ten minutes, beside those compiled before it is
            ready; one more is answered with 429.

    Examples:
        >>> Limits(batch=8, delay=0.002).queue
        1000
    """

    batch: int = 1
    delay: float = 0.0
    queue: int = 1000
    body: int = 64 * 2**20
    seconds: float = 30.0
    programs: int = PROGRAMS


@dataclass
class Waiting:
    """A request, or a part of one, that waits for its batch."""

    arrays: Arrays
    rows: int
    since: float
    result: asyncio.Future[Arrays]


@dataclass
class BatchNumbers:
    """The numbers that a batcher reports to metrics."""

    waiting: int = 0
    on_batch: Callable[[int], None] = field(default=lambda rows: None)


class Batcher:
    """The queue of a model.

    Arguments:
        info: what the model takes, and the sizes of batches that it is compiled for.
        run: runs a batch.
        limits: of batch, delay and queue.
        slots: batches that run at a time.
    """

    def __init__(self, info: ModelInfo, run: Run, limits: Limits, slots: int) -> None:
        self._run, self._limits, self._free = run, limits, slots
        self._sizes = info.rows.sizes
        self._most = self._sizes[-1] if self._sizes else 1
        self._kinds: dict[Any, collections.deque[Waiting]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._looking, self._freed = False, 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self.numbers = BatchNumbers()

    async def submit(self, arrays: Arrays) -> Arrays:
        """The outputs for these inputs.

        Raises:
            ServingError: if too many wait, or the model fails.
        """
        numbers = self.numbers
        if self._free > 0 and not self._kinds and self._most == 1:
            return await self._alone(arrays)
        if numbers.waiting >= self._limits.queue:
            raise ServingError("busy", f"{numbers.waiting} requests wait already, which is the limit; ask again later")
        rows = count(arrays) if self._most > 1 else 0
        if rows > self._most:
            return await self._in_parts(arrays, rows)
        return await self._queued(arrays, rows)

    async def _alone(self, arrays: Arrays) -> Arrays:
        self._free -= 1
        try:
            self.numbers.on_batch(count(arrays))
            return await self._run(arrays)
        finally:
            self._free += 1
            self._start()

    async def _in_parts(self, arrays: Arrays, rows: int) -> Arrays:
        """More rows than any batch: one part after the other, so that no new sizes are compiled."""
        parts = []
        for at in range(0, rows, self._most):
            part = {k: a[at : at + self._most] for k, a in arrays.items()}
            parts.append(await self._queued(part, count(part)))
        return {k: np.concatenate([p[k] for p in parts]) for k in parts[0]}

    async def _queued(self, arrays: Arrays, rows: int) -> Arrays:
        loop = asyncio.get_running_loop()
        waiting = Waiting(arrays, rows, time.monotonic(), loop.create_future())
        kind = tuple([(k, a.shape[1:]) for k, a in sorted(arrays.items())]) if rows else object()
        self._kinds.setdefault(kind, collections.deque()).append(waiting)
        self.numbers.waiting += 1
        if self._most == 1:
            self._start()
        elif not self._looking:
            self._looking = True
            self._look(loop, 0)
        return await waiting.result

    # -- choosing --------------------------------------------------------------------------------------------------
    def _look(self, loop: asyncio.AbstractEventLoop, seen: int) -> None:
        """Start once the event loop brings no more requests, or a batch is full: what comes together runs together."""
        waiting = self.numbers.waiting
        if seen < waiting < self._most:
            # Two turns: what the first one finds at the sockets, the second one reads.
            loop.call_soon(loop.call_soon, self._look, loop, waiting)
            return
        self._looking = False
        self._start()

    def _start(self) -> None:
        """Start batches, as far as slots are free and requests wait long enough or are enough."""
        while self._free > 0 and self._kinds:
            kind = min(self._kinds, key=lambda k: self._kinds[k][0].since)
            full = next((k for k, q in self._kinds.items() if sum(w.rows for w in q) >= self._most), kind)
            left = max(self._kinds[full][0].since, self._freed) + self._limits.delay - time.monotonic()
            if full is kind and self._most > 1 and left > 0 and sum(w.rows for w in self._kinds[kind]) < self._most:
                return self._again_after(left)
            batch = self._taken(full)
            if batch:
                self._free -= 1
                task = asyncio.ensure_future(self._batch(batch))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _again_after(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._start()

    def _taken(self, kind: Any) -> list[Waiting]:
        """Return the oldest of a kind, as many as fit into a batch; nobody waits for those that were given up."""
        queue, batch, rows = self._kinds[kind], list[Waiting](), 0
        while queue and (not batch or rows + queue[0].rows <= self._most):
            waiting = queue.popleft()
            self.numbers.waiting -= 1
            if not waiting.result.done():
                batch.append(waiting)
                rows += waiting.rows
        if not queue:
            del self._kinds[kind]
        return batch

    # -- running ---------------------------------------------------------------------------------------------------
    async def _batch(self, batch: list[Waiting]) -> None:
        start = time.monotonic()
        try:
            await self._answer(batch)
        finally:
            self._free += 1
            now = time.monotonic()
            if now - start >= AGAIN * self._limits.delay:
                self._freed = now
            self._start()

    async def _answer(self, batch: list[Waiting]) -> None:
        try:
            answers = await self._joined(batch)
        except Exception as e:
            late = isinstance(e, ServingError) and e.kind == "late"  # each alone would block the queue as long again
            if len(batch) == 1 or late:
                for waiting in batch:
                    _set(waiting.result, e)
                return
            for waiting in batch:  # it may be the fault of one of them
                if not waiting.result.done():
                    await self._answer([waiting])
            return
        for waiting, answer in zip(batch, answers, strict=True):
            _set(waiting.result, answer)

    async def _joined(self, batch: list[Waiting]) -> list[Arrays]:
        """Run requests as one, its rows filled up to a size that is compiled."""
        rows = sum(w.rows for w in batch)
        self.numbers.on_batch(rows or count(batch[0].arrays))
        if not rows:
            return [await self._run(batch[0].arrays)]
        size = next(n for n in self._sizes if n >= rows)
        joined = {k: _filled([w.arrays[k] for w in batch], size - rows) for k in batch[0].arrays}
        found, answers, at = await self._run(joined), [], 0
        for waiting in batch:
            answers.append({k: a[at : at + waiting.rows] for k, a in found.items()})
            at += waiting.rows
        return answers


def _filled(parts: list[np.ndarray], missing: int) -> np.ndarray:
    """Rows one after the other; the first is repeated at the end, since it is one that the model can take."""
    if missing:
        parts = [*parts, np.repeat(parts[0][:1], missing, axis=0)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _set(future: asyncio.Future[Arrays], found: Arrays | Exception) -> None:
    if future.done():
        return
    if isinstance(found, Exception):
        future.set_exception(found)
    else:
        future.set_result(found)
