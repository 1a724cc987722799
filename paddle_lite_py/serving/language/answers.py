"""Answers of language models: the choices of a request, whole and piece by piece, within the limits of the server."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ..errors import ServingError
from ..service import Service
from .engine import Generation, GenerationEngine
from .requests import CompletionRequest
from .tokenizers import TextStream

ReadBody = Callable[[Request, Service], Awaitable[bytes]]
Piece = tuple[int, str, str | None]  # number of the choice, text, and the reason why it ended


def engine_of(service: Service, name: str) -> GenerationEngine:
    """Return the engine of a language model.

    Raises:
        ServingError: There is no such model.
    """
    if name not in service.engines:
        there = ", ".join(service.engines) or "none; serve one with --task generate"
        raise ServingError("unknown", f"there is no language model {name[:80]!r}; there are {there}")
    return service.engines[name]


def event(data: Any) -> bytes:
    """Return a server-sent event."""
    return b"data: " + orjson.dumps(data) + b"\n\n"


def json_response(data: Any) -> Response:
    """Return a response in JSON."""
    return Response(orjson.dumps(data), media_type="application/json")


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of work, which is cancelled if the client goes.

    Raises:
        ClientDisconnect: The client has gone.
    """

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


class Answer:
    """The choices of one request, generated at the same time. Close it: it may end before anybody reads it."""

    def __init__(self, asked: CompletionRequest, service: Service) -> None:
        self._asked, self._service, self._start = asked, service, time.perf_counter()
        self._engine, self._count = engine_of(service, asked.model), 0
        prompts = [p for p in asked.prompts for _ in range(asked.n)]
        self._requests: list[Generation] = []
        self._has_ended = False
        try:
            for i, prompt in enumerate(prompts):
                self._requests.append(self._engine.submit(prompt, asked.most, asked.sampling_of(i)))
        except ServingError as e:
            self._end(e.kind)
            raise

    def _end(self, result: str) -> None:
        """Cancel what has not ended, and count the request, once."""
        if self._has_ended:
            return
        self._has_ended = True
        for request in self._requests:
            request.is_cancelled = True
        self._service.metrics.requests(self._asked.model, "1", result, time.perf_counter() - self._start)

    def close(self) -> None:
        """Cancel it, unless it has ended."""
        self._end("gone")

    def usage(self) -> dict[str, int]:
        """Return the numbers of tokens."""
        prompt = sum(map(len, self._asked.prompts))
        return {"prompt_tokens": prompt, "completion_tokens": self._count, "total_tokens": prompt + self._count}

    @contextlib.asynccontextmanager
    async def _ended(self) -> AsyncIterator[None]:
        """End the answer after the block, or when its time is over."""
        result, seconds = "gone", self._service.limits.seconds
        try:
            async with asyncio.timeout(seconds):
                yield
            result = "ok"
        except TimeoutError:
            result = "late"
            raise ServingError("late", f"the answer was not complete within {seconds:g} s") from None
        except ServingError as e:
            result = e.kind
            raise
        finally:
            self._end(result)

    async def _pieces(self, request: Generation) -> AsyncIterator[tuple[str, str | None]]:
        """Pieces of the text of a choice; the last one has the reason why it ended."""
        text = TextStream(self._engine.language.tokenizer, self._asked.stops)
        async for found in self._engine.answer(request):
            if isinstance(found, str):
                yield text.finish(), "stop" if text.is_stopped else found
                return
            self._count += 1
            if piece := text.push(found):
                yield piece, None
            if text.is_stopped:
                request.is_cancelled = True
                yield "", "stop"
                return

    async def whole(self) -> list[tuple[str, str | None]]:
        """Return text and reason of each choice, once all have ended.

        Raises:
            ServingError: The model failed, or it took too long.
        """
        async with self._ended():
            found = [[piece async for piece in self._pieces(request)] for request in self._requests]
        return [("".join(text for text, _ in pieces), pieces[-1][1]) for pieces in found]

    async def parts(self) -> AsyncGenerator[Piece, None]:
        """Yield the pieces of all choices in the order in which they come. Closing the iterator cancels the answer.

        Raises:
            ServingError: The model failed, or it took too long.
        """
        queue = asyncio.Queue[Piece | ServingError]()

        async def follow(index: int, request: Generation) -> None:
            try:
                async for piece, reason in self._pieces(request):
                    queue.put_nowait((index, piece, reason))
            except ServingError as e:
                queue.put_nowait(e)

        async with self._ended():
            tasks = [asyncio.ensure_future(follow(i, r)) for i, r in enumerate(self._requests)]
            try:
                left = len(tasks)
                while left:
                    found = await queue.get()
                    if isinstance(found, ServingError):
                        raise found
                    if found[1] or found[2]:
                        yield found
                    left -= found[2] is not None
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)


class EventStream(StreamingResponse):
    """An answer as server-sent events. It ends with the connection, even if that ends before the first event."""

    def __init__(self, answer: Answer, events: AsyncIterator[bytes]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._answer = answer

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, unless the client has gone."""
        with contextlib.closing(self._answer), contextlib.suppress(ClientDisconnect):
            await unless_gone(receive, self.stream_response(send))
