"""The generate extension of the Open Inference Protocol: a text, or its pieces as server-sent events."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..errors import ServingError
from ..service import Service
from .answers import Answer, EventStream, ReadBody, engine_of, event, json_response, unless_gone
from .engine import VERSION
from .requests import CompletionRequest, object_of, read_generate


class GenerateExtension:
    """One method for each address.

    Arguments:
        service: has the engines.
        body: reads the body of a request within the server's limits.

    Source: Triton Inference Server, Generate Extension.
    """

    def __init__(self, service: Service, body: ReadBody) -> None:
        self._service, self._body = service, body

    def routes(self) -> list[tuple[str, str, Any]]:
        """Method, address and handler of each."""
        bases = ("/v2/models/{model}", "/v2/models/{model}/versions/{version}")
        kinds = {"generate": self.generate, "generate_stream": self.generate_stream}
        return [("POST", f"{base}/{kind}", handler) for base in bases for kind, handler in kinds.items()]

    async def generate(self, request: Request) -> Response:
        """Continue a text."""
        asked = await self._read(request, False)
        answer = Answer(asked, self._service)
        with contextlib.closing(answer):
            (found,) = await unless_gone(request.receive, answer.whole())
        return json_response(_output(asked.model, *found))

    async def generate_stream(self, request: Request) -> Response:
        """Continue a text, piece by piece."""
        asked = await self._read(request, True)
        answer = Answer(asked, self._service)
        return EventStream(answer, _events(answer, asked.model))

    async def _read(self, request: Request, is_stream: bool) -> CompletionRequest:
        model = request.path_params["model"]
        engine = engine_of(self._service, model)  # before the body is read
        self._service.require(model, request.path_params.get("version", ""))
        data = object_of(await self._body(request, self._service))
        return read_generate(data, model, is_stream, engine.language.tokenizer)


async def _events(answer: Answer, model: str) -> AsyncIterator[bytes]:
    try:
        async with contextlib.aclosing(answer.parts()) as parts:
            async for _, piece, reason in parts:
                yield event(_output(model, piece, reason))
    except ServingError as e:
        yield event({"error": e.text})


def _output(model: str, text: str, reason: str | None) -> dict[str, Any]:
    found = {"model_name": model, "model_version": VERSION, "text_output": text}
    return found if reason is None else {**found, "details": {"finish_reason": reason}}
