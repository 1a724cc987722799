"""OpenAI's API for language models: completions, chat, models; with answers as streams of server-sent events."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from ..errors import ServingError
from ..service import Service
from .answers import Answer, EventStream, ReadBody, engine_of, event, json_response, unless_gone
from .requests import CompletionRequest, read_chat, read_completion
from .tokenizers import Tokenizer

CREATED = int(time.time())


def error_body(error: ServingError) -> dict[str, Any]:
    """Return an error in the form of OpenAI's API."""
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
        return json_response({"object": "list", "data": [_described(name) for name in self._service.engines]})

    async def model(self, request: Request) -> Response:
        """One model."""
        engine_of(self._service, request.path_params["model"])
        return json_response(_described(request.path_params["model"]))

    async def completions(self, request: Request) -> Response:
        """Continue prompts."""
        body = await self._body(request, self._service)
        return await self._answer(request, read_completion(body, self._tokenizer), COMPLETION)

    async def chat(self, request: Request) -> Response:
        """Continue a conversation."""
        body = await self._body(request, self._service)
        return await self._answer(request, read_chat(body, self._tokenizer), CHAT)

    def _tokenizer(self, name: str) -> Tokenizer:
        return engine_of(self._service, name).language.tokenizer

    async def _answer(self, request: Request, asked: CompletionRequest, wording: Wording) -> Response:
        answer = Answer(asked, self._service)
        head = {"id": f"{wording.prefix}-{uuid.uuid4().hex}", "created": int(time.time()), "model": asked.model}
        if asked.is_stream:
            events = _events(answer, asked, wording, {**head, "object": wording.part})
            return EventStream(answer, events)
        with contextlib.closing(answer):
            found = await unless_gone(request.receive, answer.whole())
        choices = [_choice(i, wording.text(text), reason) for i, (text, reason) in enumerate(found)]
        return json_response({**head, "object": wording.whole, "choices": choices, "usage": answer.usage()})


async def _events(
    answer: Answer, asked: CompletionRequest, wording: Wording, head: dict[str, Any]
) -> AsyncIterator[bytes]:
    """The answer as server-sent events; an error is the last one. A client that goes cancels it."""
    try:
        async with contextlib.aclosing(answer.parts()) as parts:
            for i in range(len(asked.prompts) * asked.n if wording.first else 0):
                yield event({**head, "choices": [_choice(i, wording.first or {}, None)]})
            async for index, piece, reason in parts:
                yield event({**head, "choices": [_choice(index, wording.delta(piece), reason)]})
        if asked.has_usage:
            yield event({**head, "choices": [], "usage": answer.usage()})
        yield b"data: [DONE]\n\n"
    except ServingError as e:
        yield event(error_body(e))


def _choice(index: int, content: dict[str, Any], reason: str | None) -> dict[str, Any]:
    return {"index": index, **content, "logprobs": None, "finish_reason": reason}


def _described(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "paddle_lite_py"}
