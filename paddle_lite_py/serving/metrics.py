"""What a server counts, in the text form of Prometheus."""

from __future__ import annotations

from collections.abc import Callable

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
        """What is to be called with the rows of each batch of a model."""
        return self._rows.labels(model, version).observe

    def watch_queue(self, model: str, version: str, waiting: Callable[[], int]) -> None:
        """Show how many requests of a model wait."""
        self._queue.labels(model, version).set_function(waiting)

    def text(self) -> bytes:
        """All of it."""
        return generate_latest(self._registry)
