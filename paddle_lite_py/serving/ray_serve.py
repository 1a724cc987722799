"""The same models on Ray Serve: replicas on many machines, as many as the load asks for.

A front takes requests and gives them to replicas; one whose replica dies is given to another one. It answers what the
server of one machine answers over HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from .batching import Limits
from .executors import LocalExecutor
from .repository import Repository
from .rest import application
from .service import Service


class PlainRequest(NamedTuple):
    """A request as plain data, so that it can go to another replica again."""

    method: str
    path: str
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Replica:
    """The models in one process of Ray's."""

    def __init__(self, models: dict[str, str], repository: str | None, limits: Limits, token: str) -> None:
        self._service = Service(Repository(dict(models), repository), LocalExecutor(), limits)
        self._app = application(self._service, token)
        self._started: asyncio.Task[None] | None = None

    async def answer(self, request: PlainRequest) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Status, headers and body."""
        await self._start()
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": request.method,
            "path": request.path, "raw_path": request.path.encode(), "query_string": b"", "root_path": "",
            "scheme": "http", "headers": request.headers, "client": None, "server": None,
        }  # fmt: skip
        said: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": request.body, "more_body": False}

        async def send(message: Any) -> None:
            said.append(message)

        await self._app(scope, receive, send)
        body = b"".join([m.get("body", b"") for m in said[1:]])
        return said[0]["status"], list(said[0]["headers"]), body

    async def check_health(self) -> None:
        """Ray asks this before it sends requests, and now and then."""
        await self._start()

    async def _start(self) -> None:
        if self._started is None:
            self._started = asyncio.ensure_future(self._service.start())
        await asyncio.shield(self._started)


class Front:
    """Takes requests, and gives each to a replica; to another one if that dies.

    Arguments:
        replicas: the handle of the replicas' deployment.
        tries: how many replicas in turn may die of a request.
    """

    def __init__(self, replicas: Any, tries: int = 5) -> None:
        self._replicas, self._tries = replicas, tries

    async def __call__(self, request: Request) -> Response:
        """Answer a request of HTTP."""
        from ray.exceptions import RayActorError

        headers = [(k, v) for k, v in request.scope["headers"] if k != b"content-length"]
        plain = PlainRequest(request.method, request.url.path, headers, await request.body())
        for attempt in range(self._tries):
            try:
                status, said, body = await self._replicas.answer.remote(plain)
            except RayActorError:  # it ended with the request in its hands
                await asyncio.sleep(0.1 * attempt)
                continue
            response = Response(body, status)
            response.raw_headers = said
            return response
        return Response('{"error": "the replicas that had this request have ended"}', 503)


def deployment(
    models: Mapping[str, str], repository: str | None = None, limits: Limits | None = None, token: str = "",
    replicas: int | tuple[int, int] = 1, fronts: int = 1, cpus: float = 1.0,
) -> Any:  # fmt: skip
    """Return the application for `ray.serve.run`.

    Arguments:
        models: paths by name, which every machine must see.
        repository: a folder of models, which every machine must see.
        limits: on batches, queues and requests, for each replica.
        token: what requests must bring as a bearer token; "": nothing.
        replicas: how many; or the least and the most, of which Ray runs as many as the load asks for.
        fronts: processes that take requests.
        cpus: of each replica.

    As in `ray.serve.run(deployment({"net": "models/net"}, replicas=(1, 8)))`.
    """
    from ray import serve

    scaled: dict[str, Any] = {"num_replicas": replicas} if isinstance(replicas, int) else {
        "autoscaling_config": {"min_replicas": replicas[0], "max_replicas": replicas[1], "target_ongoing_requests": 8}
    }  # fmt: skip
    own = {"ray_actor_options": {"num_cpus": cpus}, "max_ongoing_requests": 64, "health_check_period_s": 1}
    held = serve.deployment(Replica, name="models", **scaled, **own)
    front = serve.deployment(
        Front, name="front", num_replicas=fronts, ray_actor_options={"num_cpus": 0}, max_ongoing_requests=1000
    )
    return front.bind(held.bind(dict(models), repository, limits or Limits(), token))
