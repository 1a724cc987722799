"""The Open Inference Protocol over HTTP, with metrics, a status page and a description in OpenAPI."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import time
import uuid
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from .errors import ServingError
from .language.api import OpenAI, error_body
from .language.extension import GenerateExtension
from .openapi import description, page
from .payloads import HEADER, chosen, read_request, write_answer
from .service import Service
from .status import status_page

_access = logging.getLogger("paddle_lite_py.serving.access")
Handler = Callable[[Request], Awaitable[Response]]
# Of headers that name a request: what W3C's traceparent has, or a plain id.
_TRACE = re.compile(r"[\w-]{1,128}")
_MODEL, _VERSION = "/v2/models/{model}", "/v2/models/{model}/versions/{version}"


def application(service: Service, token: str = "", log: bool = False) -> Starlette:
    """Return the server's HTTP side, as an ASGI application.

    Arguments:
        token: what requests must bring as a bearer token, health apart; "": nothing.
        log: write a line for each request to the logger "paddle_lite_py.serving.access".
    """
    site = _Rest(service)
    routes: list[tuple[str, str, Handler]] = [
        ("GET", "/", site.status), ("GET", "/metrics", site.metrics), ("GET", "/openapi.json", site.openapi),
        ("GET", "/docs", site.docs),
        ("GET", "/v2/health/live", site.live), ("GET", "/v2/health/ready", site.ready), ("GET", "/v2", site.server),
        ("POST", "/v2/repository/index", site.index),
        ("POST", "/v2/repository/models/{model}/load", site.load),
        ("POST", "/v2/repository/models/{model}/unload", site.unload),
    ]  # fmt: skip
    for prefix in (_MODEL, _VERSION):
        routes += [("POST", f"{prefix}/infer", site.infer), ("GET", prefix, site.model)]
        routes += [("GET", f"{prefix}/ready", site.model_ready), ("GET", f"{prefix}/stats", site.statistics)]
    routes += GenerateExtension(service, _body).routes()
    wrap, wrap_openai = _Wrapper(token, log), _Wrapper(token, log, error_body)
    handlers = [(method, path, wrap(handler)) for method, path, handler in routes]
    handlers += [(method, path, wrap_openai(h)) for method, path, h in OpenAI(service, _body).routes()]
    return Starlette(
        routes=[Route(path, handler, methods=[method]) for method, path, handler in handlers],
        exception_handlers={404: _absent, 405: _absent},
    )


def _json(data: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(data), status, media_type="application/json")


async def _absent(request: Request, error: Any) -> Response:
    answer = _json(
        {"error": f"there is no {request.method} {request.url.path[:200]}; see /openapi.json"}, error.status_code
    )
    answer.headers.update(error.headers or {})  # of 405: the allowed methods
    return answer


def _plain_error(error: ServingError) -> dict[str, Any]:
    return {"error": error.text}


class _Wrapper:
    """The wrapper of every handler: the token, errors as answers, an id, the access log."""

    def __init__(self, token: str, log: bool, error: Callable[[ServingError], Any] = _plain_error) -> None:
        self._expected, self._log, self._error = f"Bearer {token}".encode() if token else b"", log, error

    def __call__(self, handler: Handler) -> Handler:
        async def answered(request: Request) -> Response:
            start = time.perf_counter()
            trace = _trace(request)
            try:
                self._admit(request)
                response = await handler(request)
            except ServingError as e:
                response = _json(self._error(e), e.http)
                if e.kind == "unauthorized":
                    response.headers["www-authenticate"] = "Bearer"
                if e.kind in ("busy", "late"):
                    response.headers["retry-after"] = "1"
            except ClientDisconnect:
                response = Response(status_code=499)
            response.headers["x-request-id"] = trace
            if self._log:
                self._line(request, response, trace, time.perf_counter() - start)
            return response

        return answered

    def _admit(self, request: Request) -> None:
        if not self._expected or request.url.path.startswith("/v2/health/"):
            return
        given = request.headers.get("authorization", "").encode("latin-1", "replace")
        if not hmac.compare_digest(given, self._expected):
            raise ServingError(
                "unauthorized", "this server requires a bearer token: send the header Authorization: Bearer TOKEN"
            )

    def _line(self, request: Request, response: Response, trace: str, seconds: float) -> None:
        fields = {
            "time": round(time.time(), 3), "client": request.client.host if request.client else "",
            "method": request.method, "path": request.url.path[:500], "status": response.status_code,
            "ms": round(seconds * 1000, 3), "id": trace,
        }  # fmt: skip
        _access.info(json.dumps(fields))


def _trace(request: Request) -> str:
    """Return the id that a request brings, or a new one; with traceparent, the id of its trace."""
    parent = request.headers.get("traceparent", "").split("-")
    given = parent[1] if len(parent) == 4 else request.headers.get("x-request-id", "")
    return given if _TRACE.fullmatch(given) else uuid.uuid4().hex


class _Rest:
    """One method for each address."""

    def __init__(self, service: Service) -> None:
        self._service = service

    # -- health and metadata ---------------------------------------------------------------------------------------
    async def live(self, _request: Request) -> Response:
        return _json({"live": True})

    async def ready(self, _request: Request) -> Response:
        return _json({"ready": self._service.answers}, 200 if self._service.answers else 503)

    async def server(self, _request: Request) -> Response:
        return _json(self._service.server_metadata())

    async def model(self, request: Request) -> Response:
        return _json(self._service.model_metadata(*_named(request)))

    async def model_ready(self, request: Request) -> Response:
        name, version = _named(request)
        self._service.require(name, version)
        return _json({"name": name, "ready": True})

    async def statistics(self, request: Request) -> Response:
        served = self._service.version(*_named(request))
        head = {"name": served.source.name, "version": served.source.version}
        return _json({"model_stats": [head | {"inference_count": served.answered, "failed_count": served.failed}]})

    # -- inference -------------------------------------------------------------------------------------------------
    async def infer(self, request: Request) -> Response:
        service, (name, version) = self._service, _named(request)
        service.version(name, version)  # before the body is read
        asked = read_request(await _body(request, service), request.headers.get(HEADER))
        served, found = await service.infer(name, version, asked.arrays)
        head = {"model_name": name, "model_version": served.source.version}
        if asked.id:
            head["id"] = asked.id
        body, length = write_answer(head, chosen(served.info.outputs, found, asked.outputs), asked)
        if length is None:
            return Response(body, media_type="application/json")
        return Response(body, headers={HEADER: str(length)}, media_type="application/octet-stream")

    # -- repository ------------------------------------------------------------------------------------------------
    async def index(self, request: Request) -> Response:
        body = await _body(request, self._service)
        try:
            asked = orjson.loads(body) if body else {}
        except orjson.JSONDecodeError as e:
            raise ServingError("invalid", f"the request is no JSON: {e}") from None
        return _json(self._service.index(isinstance(asked, dict) and asked.get("ready") is True))

    async def load(self, request: Request) -> Response:
        await _body(request, self._service)
        await self._service.load(request.path_params["model"])
        return _json({})

    async def unload(self, request: Request) -> Response:
        await _body(request, self._service)
        await self._service.unload(request.path_params["model"])
        return _json({})

    # -- looking in ------------------------------------------------------------------------------------------------
    async def metrics(self, _request: Request) -> Response:
        return Response(self._service.metrics.text(), media_type="text/plain; version=0.0.4")

    async def openapi(self, _request: Request) -> Response:
        return _json(description(self._service))

    async def docs(self, _request: Request) -> Response:
        return HTMLResponse(page(self._service))

    async def status(self, _request: Request) -> Response:
        return HTMLResponse(status_page(self._service))


def _named(request: Request) -> tuple[str, str]:
    return request.path_params["model"], request.path_params.get("version", "")


async def _body(request: Request, service: Service) -> bytes:
    """The body, as long as it is no larger than the limit, nor comes too slowly."""
    limit, said = service.limits.body, request.headers.get("content-length", "")
    if said.isdecimal() and int(said[:18]) > 8 * limit:
        raise ServingError("large", f"the body has {said[:18]} bytes; this server takes {limit}")
    pieces, size = [], 0
    try:
        async with asyncio.timeout(service.limits.seconds):
            async for piece in request.stream():
                size += len(piece)
                if size > 8 * limit:
                    break
                if size <= limit:  # the rest is read and dropped: clients look for an answer when all is sent
                    pieces.append(piece)
    except TimeoutError:
        raise ServingError("slow", f"the body was not there within {service.limits.seconds:g} s") from None
    if size > limit:
        raise ServingError("large", f"the body has {size} bytes or more; this server takes {limit}")
    return _plain(b"".join(pieces), request.headers.get("content-encoding", ""), limit)


def _plain(body: bytes, encoding: str, limit: int) -> bytes:
    """Return a body without its compression, which may not blow up."""
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise ServingError("invalid", f"content-encoding {encoding[:40]!r}; expected gzip, deflate or none")
    inflate = zlib.decompressobj(47)  # either format, recognized by its header
    try:
        found = inflate.decompress(body, limit + 1)
    except zlib.error as e:
        raise ServingError("invalid", f"the body is no {encoding}: {e}") from None
    if len(found) > limit:
        raise ServingError(
            "large", f"the body has more than {limit} bytes once inflated, which is what this server takes"
        )
    if not inflate.eof:
        raise ServingError("invalid", f"the {encoding} of the body is cut off")
    return found
