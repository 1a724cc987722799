"""A server of saved models, with HTTP and gRPC in one event loop."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .batching import Limits
from .errors import ServingError
from .executors import WorkerExecutor, executor
from .host import settle
from .language.model import LanguageModel
from .models import ServedModel
from .repository import Repository
from .rest import application
from .rpc import grpc_server
from .service import Service

_log = logging.getLogger("paddle_lite_py.serving")


@dataclass(frozen=True)
class ServerSettings:
    """How a server listens and works.

    Arguments:
        host: the address to listen at; others than this machine can reach it only if it is another one.
        port, grpc_port: 0: a free one; None: not at all.
        workers: processes that run models; 0: the server's own.
        limits: on batches, queues and requests.
        sizes: of unknown dimensions that are no rows, for which programs are compiled before the server is ready.
        watch: seconds between checks of the files; 0: models are reloaded only on request.
        token: what requests must bring as a bearer token; "": nothing.
        slots: requests that a language model answers at a time.
        certificate, key: files for TLS.
        access_log: write a line for each request to the logger "paddle_lite_py.serving.access".

    Examples:
        >>> ServerSettings(workers=2).host
        '127.0.0.1'
    """

    host: str = "127.0.0.1"
    port: int | None = 8000
    grpc_port: int | None = 8001
    workers: int = 0
    limits: Limits = field(default_factory=Limits)
    sizes: Mapping[str, int] = field(default_factory=dict)
    watch: float = 1.0
    slots: int = 8
    token: str = ""
    certificate: str = ""
    key: str = ""
    access_log: bool = False


class _JoinedWrites:
    """A transport that sends head and body of an answer at once: each call of the system wakes the client."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.writelines(parts)

    def close(self) -> None:
        self._flush()
        self._transport.close()


class _PatientProtocol(HttpToolsProtocol):
    """Closes connections that take long to say what they want; uvicorn waits for ever."""

    patience = 30.0

    def connection_made(self, transport: Any) -> None:
        joined: Any = _JoinedWrites(transport, self.loop)  # of a transport it has what uvicorn asks for
        super().connection_made(joined)
        self._wait()

    def on_message_begin(self) -> None:
        self._timer.cancel()
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._timer.cancel()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.patience, self._give_up)

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


class Server:
    """Serves models until it is stopped.

    Arguments:
        models: paths, as PATH or NAME=PATH, or paths, ServedModels and LanguageModels by name.
        repository: a folder of models.
        settings: how it listens and works.

    Raises:
        ServingError: if a name is none.

    Examples:
        >>> import json, tempfile, urllib.request, paddle_lite_py as paddle
        >>> prefix = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.ReLU(), prefix, input_spec=[paddle.static.InputSpec([None, 2], name="x")])
        >>> request = {"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [-1.0, 2.0]}]}
        >>> with Server([prefix], settings=ServerSettings(port=0, grpc_port=None)) as server:
        ...     url = f"{server.url}/v2/models/net/infer"
        ...     with urllib.request.urlopen(url, json.dumps(request).encode()) as answer:
        ...         json.load(answer)["outputs"][0]["data"]
        [0.0, 2.0]
    """

    def __init__(
        self, models: Iterable[str] | Mapping[str, str | ServedModel | LanguageModel] = (),
        repository: str | None = None, settings: ServerSettings | None = None,
    ) -> None:  # fmt: skip
        self.settings = settings or ServerSettings()
        named = models if isinstance(models, Mapping) else {}
        self._language = {n: m for n, m in named.items() if isinstance(m, LanguageModel)}
        others = {n: m for n, m in named.items() if not isinstance(m, LanguageModel)}
        self._repository = Repository(others if isinstance(models, Mapping) else models, repository)
        self.service: Service | None = None
        self.port, self.grpc_port = 0, 0
        self._http: uvicorn.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """Where it answers over HTTP."""
        return f"http{'s' if self.settings.certificate else ''}://{self.settings.host}:{self.port}"

    @property
    def grpc_url(self) -> str:
        """Where it answers over gRPC."""
        return f"{self.settings.host}:{self.grpc_port}"

    def worker_pids(self) -> list[int]:
        """Process ids of the workers."""
        found = self.service.executor if self.service else None
        return found.pids() if isinstance(found, WorkerExecutor) else []

    # -- in the foreground -----------------------------------------------------------------------------------------
    def run(self) -> None:
        """Serve until Ctrl-C or SIGTERM; requests under way are answered first."""
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(self._serve(signals=True))

    async def _serve(self, signals: bool = False, started: threading.Event | None = None) -> None:
        settings = self.settings
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        running = executor(settings.workers, 2 * settings.limits.seconds, settings.limits.programs)
        loaded = settle if signals else lambda: None  # in the foreground the process is the server's own
        self.service = Service(self._repository, running, settings.limits, dict(settings.sizes), loaded)
        tasks, rpc = [], None
        try:
            rpc = await self._start_grpc()
            http = self._start_http(signals)
            tasks = [asyncio.ensure_future(http)] if http else []
            await self._load()
            if started:
                started.set()
            if settings.watch:
                tasks.append(asyncio.ensure_future(self.service.watch(settings.watch)))
            stop = asyncio.ensure_future(self._stopped.wait())
            await asyncio.wait([*tasks, stop], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self._end(tasks, rpc)

    async def _load(self) -> None:
        assert self.service is not None
        for name, model in self._language.items():
            await self.service.add_language_model(name, model, self.settings.slots)
        await self.service.start()
        versions = [f"{v.source.name}/{v.source.version}" for v in self.service.all_versions()]
        names = ", ".join([*versions, *self.service.engines]) or "no models"
        at = [f"HTTP at {self.url}"] * (self.port > 0) + [f"gRPC at {self.grpc_url}"] * (self.grpc_port > 0)
        _log.info("ready: %s; %s", names, ", ".join(at))

    async def _end(self, tasks: list[Any], rpc: grpc.aio.Server | None) -> None:
        assert self.service is not None
        self.service.ready = False
        if self._http is not None:
            self._http.should_exit = True
        if rpc is not None:
            await rpc.stop(grace=5)
        for task in tasks[1:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.service.close()

    def _start_http(self, signals: bool) -> Any:
        settings, service = self.settings, self.service
        assert service is not None
        if settings.port is None:
            return None
        listening = socket.create_server((settings.host, settings.port), backlog=2048)
        self.port = listening.getsockname()[1]
        patient = type("_Protocol", (_PatientProtocol,), {"patience": service.limits.seconds})
        config = uvicorn.Config(
            application(service, settings.token, settings.access_log), http=patient, log_config=None, access_log=False,
            ssl_certfile=settings.certificate or None, ssl_keyfile=settings.key or None, lifespan="off",
            timeout_graceful_shutdown=10, server_header=False, ws="none", timeout_keep_alive=75,
        )  # fmt: skip
        self._http = uvicorn.Server(config)
        served = self._http.serve if signals else self._http._serve
        return served(sockets=[listening])

    async def _start_grpc(self) -> grpc.aio.Server | None:
        settings = self.settings
        assert self.service is not None
        if settings.grpc_port is None:
            return None
        server = grpc_server(self.service, settings.token)
        address = f"{settings.host}:{settings.grpc_port}"
        try:
            if settings.certificate:
                pair = [(Path(settings.key).read_bytes(), Path(settings.certificate).read_bytes())]
                self.grpc_port = server.add_secure_port(address, grpc.ssl_server_credentials(pair))
            else:
                self.grpc_port = server.add_insecure_port(address)
        except RuntimeError as e:
            raise OSError(f"gRPC cannot listen at {address}: {e}") from None
        await server.start()
        return server

    # -- in the background -----------------------------------------------------------------------------------------
    def start(self) -> Server:
        """Serve in a thread; comes back once it is ready.

        Raises:
            ServingError: if a model cannot be loaded.
        """
        started, failure = threading.Event(), list[BaseException]()

        def work() -> None:
            try:
                with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                    runner.run(self._serve(started=started))
            except BaseException as e:
                failure.append(e)
            started.set()

        self._thread = threading.Thread(target=work, name="paddle-server", daemon=True)
        self._thread.start()
        started.wait()
        if failure:
            raise failure[0]
        return self

    def stop(self) -> None:
        """End it; requests under way are answered first."""
        if self._loop is not None and self._stopped is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *error: Any) -> None:
        self.stop()


def _loop_factory() -> Any:
    """uvloop's event loop where it is installed: it takes two thirds of the time."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def check_tls(certificate: str, key: str) -> None:
    """Check that the TLS files are a pair.

    Raises:
        ServingError: if they are not.
    """
    if bool(certificate) != bool(key):
        raise ServingError("invalid", "TLS takes both a certificate and a key: --tls-cert FILE --tls-key FILE")
    if certificate:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as e:
            raise ServingError("invalid", f"TLS: {certificate} and {key} are no pair: {e}") from e
