"""The service behind all protocols: loaded models, metadata, inference."""

from __future__ import annotations

import asyncio
import collections
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..version import full_version
from .batching import Batcher, Limits
from .errors import ServingError
from .executors import ModelExecutor
from .host import ModelInfo
from .language.engine import VERSION, GenerationEngine
from .language.model import LanguageModel
from .metrics import Metrics
from .repository import ModelSource, Repository
from .tensors import Arrays, check

_log = logging.getLogger("paddle_lite_py.serving")
MOST_DELAY = 60.0  # seconds between two attempts to load a model that cannot be loaded
EXTENSIONS = ["binary_tensor_data", "model_repository", "model_repository(unload_dependents)"]


@dataclass
class ServedVersion:
    """A version of a model at work."""

    source: ModelSource
    stamp: tuple[int, int]
    key: str
    info: ModelInfo
    batcher: Batcher
    under_way: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    latencies: collections.deque[float] = field(default_factory=lambda: collections.deque(maxlen=1000))
    answered: int = 0
    failed: int = 0

    def metadata(self, versions: list[str]) -> dict[str, Any]:
        """As the protocol shows it."""
        inputs, outputs = ([s.metadata() for s in specs] for specs in (self.info.inputs, self.info.outputs))
        head = {"name": self.source.name, "versions": versions, "platform": self.info.platform}
        return head | {"inputs": inputs, "outputs": outputs}


class _Retry(NamedTuple):
    """A model that could not be loaded: the stamps of its files then, and when it is tried again if these stay."""

    stamps: Any
    at: float
    delay: float


class Service:
    """The models of a repository, loaded and served.

    Arguments:
        repository: which models there are.
        executor: where they run.
        limits: on batches, queues and requests.
        sizes: of unknown dimensions that are no rows, for which programs are compiled before the server is ready.
        loaded: is called whenever a model was loaded.
    """

    def __init__(
        self, repository: Repository, executor: ModelExecutor, limits: Limits, sizes: dict[str, int] | None = None,
        loaded: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._repository, self.executor = repository, executor
        self.limits, self._sizes, self._loaded = limits, sizes or {}, loaded
        self._served: dict[str, dict[str, ServedVersion]] = {}
        self._failures: dict[str, str] = {}
        self._retries: dict[str, _Retry] = {}
        self._unloaded: set[str] = set()
        self._loading, self._number, self.ready = asyncio.Lock(), 0, False
        self._draining: set[asyncio.Task[None]] = set()
        self.metrics = Metrics(lambda: executor.compilations)
        self.engines: dict[str, GenerationEngine] = {}  # of language models, once they are ready

    @property
    def answers(self) -> bool:
        """Whether all was loaded, and something runs it."""
        return self.ready and self.executor.runs

    # -- loading ---------------------------------------------------------------------------------------------------
    async def add_language_model(self, name: str, model: LanguageModel, slots: int) -> None:
        """Compile a language model, and serve it."""
        start = time.perf_counter()
        engine = GenerationEngine(model, slots, self.limits.queue, self.metrics.generation(name))
        await asyncio.to_thread(engine.start)
        self.engines[name] = engine
        _log.info("language model %s: compiled in %.1f s", name, time.perf_counter() - start)

    async def start(self) -> None:
        """Load all models; the server is ready then, without those of its folder that cannot be loaded.

        Raises:
            ServingError: if one that was named cannot be loaded.
        """
        for name in self._repository.named():
            try:
                await self.load(name)
            except ServingError as e:
                if self._repository.is_given(name):
                    raise
                _log.error("model %s is not loaded, the others are: %s", name, e)
        self.ready = True

    async def load(self, name: str) -> None:
        """Load a model, or what is new of it; requests under way finish on what was there.

        Raises:
            ServingError: if there is none of that name, or it cannot be loaded; what was there goes on.
        """
        async with self._loading:
            try:
                sources = self._repository.versions(name)
                there = self._served.get(name, {})
                fresh = {s.version: await self._current(s, there.get(s.version)) for s in sources}
            except ServingError as e:
                if e.kind != "unknown":
                    self._failed(name, e.text)
                raise
            except Exception as e:  # whatever a file brings about is no reason to end
                self._failed(name, f"{type(e).__name__}: {e}")
                raise ServingError("unavailable", f"model `{name}` cannot be loaded: {type(e).__name__}: {e}") from e
            self._failures.pop(name, None)
            self._unloaded.discard(name)
            self._served[name] = fresh
            for version, old in there.items():
                if fresh.get(version) is not old:
                    self._drain(old)
            self._loaded()

    def _failed(self, name: str, why: str) -> None:
        self._failures[name] = why
        self.metrics.load_failure(name)

    async def _current(self, source: ModelSource, there: ServedVersion | None) -> ServedVersion:
        stamp = source.stamp()
        if there is not None and there.stamp == stamp and there.source == source:
            return there
        self._number += 1
        key = f"{source.name}.{source.version}.{self._number}"
        start = time.perf_counter()
        if self.ready and isinstance(source.path, str):
            await self.executor.try_out(source.path, self.limits.batch, self._sizes)
        info = await self.executor.load(key, source.path, self.limits.batch, self._sizes)
        _log.info("model %s, version %s: loaded and compiled in %.1f s", *source[:2], time.perf_counter() - start)
        if info.rows.objection and self.limits.batch > 1:
            _log.warning("model %s: requests are not joined: %s", source.name, info.rows.objection)

        def run(arrays: Arrays) -> Any:
            return self.executor.run(key, arrays, info.seconds)

        batcher = Batcher(info, run, self.limits, self.executor.slots(info))
        name, version = source.name, source.version
        batcher.numbers.on_batch = self.metrics.on_batch(name, version)
        self.metrics.watch_queue(name, version, lambda: batcher.numbers.waiting)
        return ServedVersion(source, stamp, key, info, batcher)

    def _drain(self, old: ServedVersion) -> None:
        """Drop a version once its last request is answered."""

        async def drop() -> None:
            if old.under_way:
                await old.idle.wait()
            await self.executor.unload(old.key)

        old.idle.clear()
        task = asyncio.ensure_future(drop())
        self._draining.add(task)
        task.add_done_callback(self._draining.discard)

    async def unload(self, name: str) -> None:
        """Serve a model no more; requests under way finish.

        Raises:
            ServingError: if there is none of that name.
        """
        self._repository.versions(name)
        async with self._loading:
            self._unloaded.add(name)
            self._failures.pop(name, None)
            for old in self._served.pop(name, {}).values():
                self._drain(old)

    async def watch(self, seconds: float) -> None:
        """Load what is new or was written anew, and drop what is gone, as long as the server runs."""
        while True:
            await asyncio.sleep(seconds)
            try:
                named = self._repository.named()
            except OSError as e:  # the folder is away, perhaps for a while
                _log.warning("the repository cannot be read: %s", e)
                continue
            for name in self._served.keys() - named.keys():
                async with self._loading:
                    for old in self._served.pop(name, {}).values():
                        self._drain(old)
            for name in named.keys() - self._unloaded:
                await self._looked_at(name, seconds)

    async def _looked_at(self, name: str, seconds: float) -> None:
        found: Any = None
        before = self._retries.get(name)
        try:
            found = {s.version: s.stamp() for s in self._repository.versions(name)}
            if found == {v: s.stamp for v, s in self._served.get(name, {}).items()}:
                self._retries.pop(name, None)
                return
            if before is not None and before.stamps == found and time.monotonic() < before.at:
                return
            await self.load(name)
            self._retries.pop(name, None)
        except (ServingError, OSError) as e:  # half written, perhaps; what was there goes on
            same = before is not None and before.stamps == found
            delay = min(2 * before.delay, MOST_DELAY) if before is not None and same else seconds
            self._retries[name] = _Retry(found, time.monotonic() + delay, delay)
            if not same or self._failures.get(name) != str(e):
                _log.warning("model %s: %s", name, e)
            self._failures[name] = str(e)

    # -- answers ---------------------------------------------------------------------------------------------------
    def version(self, name: str, version: str = "") -> ServedVersion:
        """Return the requested version, or the newest if none is named.

        Raises:
            ServingError: if it is not served.
        """
        versions = self._served.get(name)
        if name in self.engines:
            raise ServingError("invalid", f"`{name}` is a language model; see its addresses in /openapi.json")
        if not versions:
            if name in self._repository.named():
                why = self._failures.get(name, "it is being loaded" if not self.ready else "it was unloaded")
                raise ServingError("unavailable", f"model `{name}` is not ready: {why}")
            raise ServingError(
                "unknown", f"there is no model `{name[:80]}`; there are {', '.join(self._served) or 'none'}"
            )
        found = versions.get(version) if version else versions[next(reversed(versions))]
        if found is None:
            have = ", ".join(versions)
            raise ServingError("unknown", f"model `{name}` has no version {version[:80]!r}; it has {have}")
        return found

    def require(self, name: str, version: str = "") -> None:
        """Do nothing if a model, or a language model, is ready.

        Raises:
            ServingError: It is not.
        """
        if name not in self.engines:
            self.version(name, version)
        elif version not in ("", VERSION):
            raise ServingError("unknown", f"model `{name}` has no version {version[:80]!r}; it has {VERSION}")

    def server_metadata(self) -> dict[str, Any]:
        """Name, version and extensions."""
        return {"name": "paddle_lite_py", "version": full_version, "extensions": EXTENSIONS}

    def model_metadata(self, name: str, version: str = "") -> dict[str, Any]:
        """Return the inputs and outputs of a model."""
        self.require(name, version)
        if name in self.engines:
            inputs, outputs = ([{"name": n, "datatype": "BYTES", "shape": [1]}] for n in ("text_input", "text_output"))
            head = {"name": name, "versions": [VERSION], "platform": "paddle_lite_py"}
            return {**head, "inputs": inputs, "outputs": outputs}
        return self.version(name, version).metadata(list(self._served[name]))

    def index(self, ready: bool = False) -> list[dict[str, str]]:
        """Return all models and versions of the repository, or those that are ready."""
        found = [
            {"name": n, "version": v, "state": "READY", "reason": self._failures.get(n, "")}
            for n, versions in self._served.items() for v in versions
        ]  # fmt: skip
        found += [{"name": n, "version": VERSION, "state": "READY", "reason": ""} for n in self.engines]
        absent = [n for n in self._repository.named() if n not in self._served and not ready]
        return found + [
            {"name": n, "version": "", "state": "UNAVAILABLE", "reason": self._failures.get(n, "unloaded")}
            for n in absent
        ]

    def all_versions(self) -> list[ServedVersion]:
        """Return all versions that are served."""
        return [v for versions in self._served.values() for v in versions.values()]

    async def infer(
        self, name: str, version: str, arrays: Arrays, seconds: float = 0.0
    ) -> tuple[ServedVersion, Arrays]:
        """Run a model on the inputs of a request.

        Arguments:
            seconds: that the one who asks will wait, if less than the server's limit.

        Raises:
            ServingError: if the inputs do not fit, too many wait, time is up, or the model fails.
        """
        start = time.perf_counter()
        served = self.version(name, version)
        served.under_way += 1
        result = "ok"
        try:
            check(served.info.inputs, arrays, name)
            limit = min(seconds or self.limits.seconds, self.limits.seconds)
            async with asyncio.timeout(limit):
                return served, await served.batcher.submit(arrays)
        except TimeoutError:
            result = "late"
            why = f": {self.executor.outage}; ask again" if self.executor.outage else ""
            raise ServingError("late", f"model `{name}` did not answer within {limit:g} s{why}") from None
        except ServingError as e:
            result = e.kind
            raise
        except Exception as e:
            result = "failed"
            _log.exception("model %s failed", name)
            raise ServingError("failed", f"model `{name}` failed: {type(e).__name__}: {e}") from e
        finally:
            self._counted(served, result, time.perf_counter() - start)

    def _counted(self, served: ServedVersion, result: str, seconds: float) -> None:
        served.under_way -= 1
        if not served.under_way:
            served.idle.set()
        served.latencies.append(seconds)
        served.answered += result == "ok"
        served.failed += result != "ok"
        self.metrics.requests(served.source.name, served.source.version, result, seconds)

    async def close(self) -> None:
        """End what runs."""
        self.ready = False
        for engine in self.engines.values():
            await asyncio.to_thread(engine.close)
        await self.executor.close()
