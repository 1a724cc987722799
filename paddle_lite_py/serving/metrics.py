"""The server's metrics, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_LATENCIES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counters of one server.

    Arguments:
        compilations: how many programs XLA has compiled so far.

    Examples:
        >>> metrics = Metrics(lambda: 3)
        >>> metrics.requests("net", "1", "ok", 0.002)
        >>> b'paddle_serving_compilations 3.0' in metrics.text()
        True
    """

    def __init__(self, compilations: Callable[[], int]) -> None:
        registry = self._registry = CollectorRegistry()
        labels = ["model", "version"]
        self._requests = Counter("paddle_serving_requests", "Requests answered", [*labels, "result"], registry=registry)
        self._latency = Histogram(
            "paddle_serving_latency_seconds", "From a request that is read to its answer", labels,
            buckets=_LATENCIES, registry=registry,
        )  # fmt: skip
        self._rows = Histogram("paddle_serving_batch_rows", "Rows of a batch", labels, buckets=_ROWS, registry=registry)
        self._queue = Gauge("paddle_serving_queue", "Requests that wait for a batch", labels, registry=registry)
        gauge = Gauge("paddle_serving_compilations", "Programs that XLA has compiled", registry=registry)
        gauge.set_function(compilations)
        self._failures = Counter(
            "paddle_serving_load_failures", "Models that could not be loaded", ["model"], registry=registry
        )
        self._kept: dict[tuple[str, str, str], tuple[Counter, Histogram]] = {}
        self._generation: _GenerationCounters | None = None

    def requests(self, model: str, version: str, result: str, seconds: float) -> None:
        """Count a request that is answered; result is "ok" or the kind of error."""
        key = (model, version, result)
        if key not in self._kept:
            self._kept[key] = self._requests.labels(*key), self._latency.labels(model, version)
        counter, histogram = self._kept[key]
        counter.inc()
        histogram.observe(seconds)

    def load_failure(self, model: str) -> None:
        """Count a model that could not be loaded."""
        self._failures.labels(model).inc()

    def on_batch(self, model: str, version: str) -> Callable[[int], None]:
        """Return the callback for the rows of each batch of a model."""
        return self._rows.labels(model, version).observe

    def watch_queue(self, model: str, version: str, waiting: Callable[[], int]) -> None:
        """Show how many requests of a model wait."""
        self._queue.labels(model, version).set_function(waiting)

    def generation(self, model: str) -> GenerationMetrics:
        """Counters of a language model."""
        if self._generation is None:
            self._generation = _GenerationCounters(self._registry)
        return GenerationMetrics(self._generation, model)

    def text(self) -> bytes:
        """Return all of it."""
        return generate_latest(self._registry)


class _GenerationCounters:
    """The counters of language models, each labeled with the model."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def made(kind: Any, name: str, text: str, **options: Any) -> Any:
            return kind(f"paddle_serving_{name}", text, ["model"], registry=registry, **options)

        self.prompt_tokens = made(Counter, "prompt_tokens", "Tokens of prompts that were read")
        self.shared_tokens = made(Counter, "prefix_hit_tokens", "Tokens of prompts that were in the cache already")
        self.generated_tokens = made(Counter, "generated_tokens", "Tokens generated")
        self.first_token = made(
            Histogram, "time_to_first_token_seconds", "From a request to its first token", buckets=_LATENCIES
        )
        self.waiting = made(Gauge, "generation_queue", "Requests that wait for a slot")
        self.running = made(Gauge, "generation_slots_used", "Requests that are being answered")
        self.cache = made(Gauge, "cache_use_ratio", "Part of the cache that requests use")


class GenerationMetrics:
    """Counters of one language model.

    Examples:
        >>> metrics = Metrics(lambda: 0)
        >>> metrics.generation("lm").token()
        >>> b'paddle_serving_generated_tokens_total{model="lm"} 1.0' in metrics.text()
        True
    """

    def __init__(self, counters: _GenerationCounters, model: str) -> None:
        self._counters, self._model = counters, model
        self._generated = counters.generated_tokens.labels(model)
        self._first = counters.first_token.labels(model)

    def prompt(self, tokens: int, shared: int) -> None:
        """Count a prompt that is read, and its tokens that were in the cache already."""
        self._counters.prompt_tokens.labels(self._model).inc(tokens)
        self._counters.shared_tokens.labels(self._model).inc(shared)

    def first_token(self, seconds: float) -> None:
        """Count the time until the first token of a request."""
        self._first.observe(seconds)

    def token(self) -> None:
        """Count a token that is generated."""
        self._generated.inc()

    def watch(self, waiting: Callable[[], int], running: Callable[[], int], cache: Callable[[], float]) -> None:
        """Show how many requests wait and run, and the part of the cache that requests use."""
        for gauge, value in (
            (self._counters.waiting, waiting), (self._counters.running, running), (self._counters.cache, cache)
        ):  # fmt: skip
            gauge.labels(self._model).set_function(value)
