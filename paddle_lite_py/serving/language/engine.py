"""Continuous batching: one thread that generates tokens for all requests of a model."""

from __future__ import annotations

import asyncio
import collections
import logging
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from ...text.generation.slots import Sampling, SlotBatch
from ..errors import ServingError
from ..metrics import GenerationMetrics
from .model import LanguageModel

_log = logging.getLogger("paddle_lite_py.serving")
VERSION = "1"  # language models have one


@dataclass
class Generation:
    """A request for tokens.

    Arguments:
        prompt: tokens.
        most: largest number of tokens of the answer.
        sampling: how they are drawn.
    """

    prompt: list[int]
    most: int
    sampling: Sampling
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    results: asyncio.Queue[int | str | ServingError] = field(default_factory=asyncio.Queue)
    since: float = field(default_factory=time.perf_counter)
    count: int = 0
    is_cancelled: bool = False

    def deliver(self, result: int | str | ServingError) -> None:
        """Hand a token, the reason why it ended, or an error to the event loop; called by the engine's thread."""
        try:
            self.loop.call_soon_threadsafe(self.results.put_nowait, result)
        except RuntimeError:  # the loop has been closed
            self.is_cancelled = True


class GenerationEngine:
    """Generates tokens for requests that come and go.

    A thread repeats: end what was cancelled, put waiting requests into free slots in the order in which they came, and
    generate one token for each slot.

    Arguments:
        language: model and tokenizer.
        slots: number of requests that are answered at a time.
        queue: number of requests that may wait.
        metrics: counters.
    """

    def __init__(self, language: LanguageModel, slots: int, queue: int, metrics: GenerationMetrics) -> None:
        self.language, self._most_waiting, self._metrics = language, queue, metrics
        self._batch = SlotBatch(language.model, slots, language.capacity, language.cache_tokens)
        self._waiting: collections.deque[Generation] = collections.deque()
        self._running: dict[int, Generation] = {}
        self._changed, self._is_closed = threading.Condition(), False
        self._thread = threading.Thread(target=self._work, name="paddle-generation", daemon=True)

    def start(self) -> None:
        """Compile all programs, and begin to serve."""
        self._batch.warm_up()
        self._metrics.watch(
            lambda: len(self._waiting), lambda: len(self._running),
            lambda: self._batch.blocks.used / (self._batch.blocks.count - 1),
        )  # fmt: skip
        self._thread.start()

    def close(self) -> None:
        """End; requests that are not answered get an error."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    # -- requests, in the event loop ---------------------------------------------------------------------------------
    def submit(self, prompt: list[int], most: int | None, sampling: Sampling) -> Generation:
        """Queue a request.

        Args:
            prompt: Its tokens.
            most: Largest number of tokens of the answer; None: as many as there is room for.
            sampling: How they are drawn.

        Returns:
            The request, for answer().

        Raises:
            ServingError: The prompt is empty or too long, or too many requests wait.
        """
        room = self._batch.capacity - len(prompt)
        if not prompt:
            raise ServingError("invalid", "the prompt has no tokens; expected at least one")
        if room < (most or 1):
            raise ServingError(
                "invalid", f"the prompt has {len(prompt)} tokens and {most or 1} are to be generated; this model has "
                f"room for {self._batch.capacity}",
            )  # fmt: skip
        request = Generation(prompt, room if most is None else most, sampling)
        with self._changed:
            if self._is_closed:
                raise ServingError("unavailable", "the server is shutting down")
            if len(self._waiting) >= self._most_waiting:
                self._waiting = collections.deque(r for r in self._waiting if not r.is_cancelled)
            if len(self._waiting) >= self._most_waiting:
                raise ServingError(
                    "busy", f"{len(self._waiting)} requests wait already, which is the limit; ask again later"
                )
            self._waiting.append(request)
            self._changed.notify()
        return request

    async def answer(self, request: Generation) -> AsyncIterator[int | str]:
        """Yield the tokens of a request, and last why it ended: "stop" or "length". Closing the iterator cancels it.

        Raises:
            ServingError: The model failed.
        """
        try:
            while True:
                found = await request.results.get()
                if isinstance(found, ServingError):
                    raise found
                yield found
                if isinstance(found, str):
                    return
        finally:
            request.is_cancelled = True

    # -- the thread --------------------------------------------------------------------------------------------------
    def _work(self) -> None:
        while self._wait():
            try:
                self._admit()
                if self._running:
                    self._step()
            except Exception as e:
                _log.exception("generation failed")
                self._fail(f"the model failed: {type(e).__name__}: {e}")
                self._batch.clear()  # an interrupted program may have consumed its cache
        self._fail("the server is shutting down")

    def _wait(self) -> bool:
        """Wait for requests; False if the engine was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._running or self._is_closed)
            return not self._is_closed

    def _admit(self) -> None:
        for slot, request in list(self._running.items()):
            if request.is_cancelled:
                self._end(slot)
        for slot in self._batch.free:
            if (found := self._next()) is None:
                return
            self._running[slot] = found
            shared = self._batch.admit(slot, found.prompt, found.sampling, found.most)
            if shared is None:  # the cache has no room: it is first again when others have ended
                del self._running[slot]
                with self._changed:
                    self._waiting.appendleft(found)
                return
            self._metrics.prompt(len(found.prompt), shared)

    def _next(self) -> Generation | None:
        """Take the request that has waited longest; None if there is none."""
        with self._changed:
            while self._waiting:
                if not (request := self._waiting.popleft()).is_cancelled:
                    return request
        return None

    def _step(self) -> None:
        for slot, token in self._batch.step().items():
            request = self._running[slot]
            request.count += 1
            if request.count == 1:
                self._metrics.first_token(time.perf_counter() - request.since)
            self._metrics.token()
            if token in self.language.ends:
                request.deliver("stop")
            else:
                request.deliver(token)
                if request.count < request.most:
                    continue
                request.deliver("length")
            self._end(slot)

    def _end(self, slot: int) -> None:
        del self._running[slot]
        self._batch.release(slot)

    def _fail(self, text: str) -> None:
        with self._changed:
            requests = [*self._running.values(), *self._waiting]
            self._running.clear()
            self._waiting.clear()
        for request in requests:
            request.deliver(ServingError("failed", text))
