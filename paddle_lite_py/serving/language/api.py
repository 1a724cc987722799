"""OpenAI's API for language models: completions, chat, models; with answers as streams of server-sent events."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, NamedTuple

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from ..errors import ServingError
from ..service import Service
from .engine import Generation, GenerationEngine
from .requests import CompletionRequest, read_chat, read_completion
from .tokenizers import TextStream, Tokenizer

ReadBody = Callable[[Request, Service], Awaitable[bytes]]
CREATED = int(time.time())


def error_body(error: ServingError) -> dict[str, Any]:
    """An error in the form of OpenAI's API."""
    kind = "invalid_request_error" if error.http < 500 and error.kind != "busy" else "server_error"
    return {"error": {"message": error.text, "type": kind, "param": None, "code": error.kind}}


class Wording(NamedTuple):
    """How one of the two kinds of completions is written."""

    prefix: str
    whole: str
    part: str
    text: Callable[[str], dict[str, Any]]
    delta: Callable[[str], dict[str, Any]]
    first: dict[str, Any] | None  # of a stream


COMPLETION = Wording(
    "cmpl", "text_completion", "text_completion", lambda text: {"text": text}, lambda text: {"text": text}, None
)
CHAT = Wording(
    "chatcmpl", "chat.completion", "chat.completion.chunk",
    lambda text: {"message": {"role": "assistant", "content": text}},
    lambda text: {"delta": {"content": text} if text else {}}, {"delta": {"role": "assistant", "content": ""}},
)  # fmt: skip


class OpenAI:
    """One method for each address.

    Arguments:
        service: has the engines.
        body: reads the body of a request within the server's limits.
    """

    def __init__(self, service: Service, body: ReadBody) -> None:
        self._service, self._body = service, body

    def routes(self) -> list[tuple[str, str, Any]]:
        """Method, address and handler of each."""
        return [
            ("GET", "/v1/models", self.models), ("GET", "/v1/models/{model}", self.model),
            ("POST", "/v1/completions", self.completions), ("POST", "/v1/chat/completions", self.chat),
        ]  # fmt: skip

    async def models(self, _request: Request) -> Response:
        """The names of all models."""
        return _json({"object": "list", "data": [_described(name) for name in self._service.engines]})

    async def model(self, request: Request) -> Response:
        """One model."""
        self._engine(request.path_params["model"])
        return _json(_described(request.path_params["model"]))

    async def completions(self, request: Request) -> Response:
        """Continue prompts."""
        body = await self._body(request, self._service)
        return await self._answer(request, read_completion(body, self._tokenizer), COMPLETION)

    async def chat(self, request: Request) -> Response:
        """Continue a conversation."""
        body = await self._body(request, self._service)
        return await self._answer(request, read_chat(body, self._tokenizer), CHAT)

    def _engine(self, name: str) -> GenerationEngine:
        engines = self._service.engines
        if name not in engines:
            there = ", ".join(engines) or "none; serve one with --task generate"
            raise ServingError("unknown", f"there is no language model {name[:80]!r}; there are {there}")
        return engines[name]

    def _tokenizer(self, name: str) -> Tokenizer:
        return self._engine(name).language.tokenizer

    async def _answer(self, request: Request, asked: CompletionRequest, wording: Wording) -> Response:
        answer = Answer(self._engine(asked.model), asked, wording, self._service)
        if asked.is_stream:
            return StreamingResponse(answer.events(), media_type="text/event-stream")
        return _json(await _unless_gone(request, answer.whole()))


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Any]) -> Any:
    """The result of work, which is cancelled if the client goes.

    Raises:
        ClientDisconnect: The client has gone.
    """

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
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
    """The choices of one request, generated at the same time."""

    def __init__(self, engine: GenerationEngine, asked: CompletionRequest, wording: Wording, service: Service) -> None:
        self._engine, self._asked, self._wording, self._service = engine, asked, wording, service
        self._id, self._start = f"{wording.prefix}-{uuid.uuid4().hex}", time.perf_counter()
        self._count = 0
        prompts = [p for p in asked.prompts for _ in range(asked.n)]
        self._requests: list[Generation] = []
        try:
            for i, prompt in enumerate(prompts):
                self._requests.append(engine.submit(prompt, asked.most, asked.sampling_of(i)))
        except ServingError as e:
            self._end(e.kind)
            raise

    def _end(self, result: str) -> None:
        """Cancel what has not ended, and count the request."""
        for request in self._requests:
            request.is_cancelled = True
        self._service.metrics.requests(self._asked.model, "1", result, time.perf_counter() - self._start)

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": int(time.time()), "model": self._asked.model}

    def _usage(self) -> dict[str, int]:
        prompt = sum(map(len, self._asked.prompts))
        return {"prompt_tokens": prompt, "completion_tokens": self._count, "total_tokens": prompt + self._count}

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

    async def whole(self) -> dict[str, Any]:
        """All choices, once they have ended."""
        result = "gone"
        try:
            async with asyncio.timeout(self._service.limits.seconds):
                choices = [await self._choice(i, r) for i, r in enumerate(self._requests)]
            result = "ok"
        except TimeoutError:
            result = "late"
            raise self._late() from None
        except ServingError as e:
            result = e.kind
            raise
        finally:
            self._end(result)
        return {**self._head(self._wording.whole), "choices": choices, "usage": self._usage()}

    async def _choice(self, index: int, request: Generation) -> dict[str, Any]:
        found = [piece async for piece in self._pieces(request)]
        text = "".join(piece for piece, _ in found)
        return {"index": index, **self._wording.text(text), "logprobs": None, "finish_reason": found[-1][1]}

    def _late(self) -> ServingError:
        return ServingError("late", f"the answer was not complete within {self._service.limits.seconds:g} s")

    async def events(self) -> AsyncIterator[bytes]:
        """The answer as server-sent events; an error is the last one. A client that goes cancels it."""
        result = "gone"
        try:
            async with asyncio.timeout(self._service.limits.seconds):
                async for index, choice, reason in self._merged():
                    data = {"index": index, **choice, "logprobs": None, "finish_reason": reason}
                    yield _event({**self._head(self._wording.part), "choices": [data]})
            if self._asked.has_usage:
                yield _event({**self._head(self._wording.part), "choices": [], "usage": self._usage()})
            result = "ok"
            yield b"data: [DONE]\n\n"
        except TimeoutError:
            result = "late"
            yield _event(error_body(self._late()))
        except ServingError as e:
            result = e.kind
            yield _event(error_body(e))
        finally:
            self._end(result)

    async def _merged(self) -> AsyncIterator[tuple[int, dict[str, Any], str | None]]:
        """The pieces of all choices in the order in which they come."""
        wording, queue = self._wording, asyncio.Queue[tuple[int, str, str | None] | ServingError]()

        async def follow(index: int, request: Generation) -> None:
            try:
                async for piece, reason in self._pieces(request):
                    queue.put_nowait((index, piece, reason))
            except ServingError as e:
                queue.put_nowait(e)

        tasks = [asyncio.ensure_future(follow(i, r)) for i, r in enumerate(self._requests)]
        try:
            for i in range(len(tasks) if wording.first else 0):
                yield i, wording.first or {}, None
            left = len(tasks)
            while left:
                found = await queue.get()
                if isinstance(found, ServingError):
                    raise found
                index, piece, reason = found
                if piece or reason:
                    yield index, wording.delta(piece), reason
                left -= reason is not None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _described(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "paddle_lite_py"}


def _event(data: Any) -> bytes:
    return b"data: " + orjson.dumps(data) + b"\n\n"


def _json(data: Any) -> Response:
    return Response(orjson.dumps(data), media_type="application/json")
