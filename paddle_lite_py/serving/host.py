"""The models that a process holds: loaded, compiled and run by a key. A server has one, or each of its workers has."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any, NamedTuple

import jax

from ..core.jax_compat.xla import COMPILED
from ..core.switches import baseline_tier
from .errors import ServingError
from .joining import Rows, sample, warm_up
from .models import ServedModel, load_model
from .tensors import Arrays, TensorSpec

PROGRAMS, PERIOD = 256, 600.0  # for sizes that are new, of a model, in so many seconds; a program takes 2 MB
Shapes = tuple[tuple[int, ...], ...]


def settle() -> None:
    """Leave what is there out of later garbage collections, once it was collected itself; for processes of our own.

    A full collection looks at all of JAX and of the programs, for a tenth of a second in which nobody is answered.

    Examples:
        >>> settle()
        >>> gc.get_freeze_count() > 0
        True
        >>> gc.unfreeze()
    """
    gc.unfreeze()  # what a model that was replaced has left is found
    gc.collect()
    gc.freeze()


class ModelInfo(NamedTuple):
    """The description of a model that another process may hold."""

    platform: str
    inputs: list[TensorSpec]
    outputs: list[TensorSpec]
    rows: Rows
    seconds: float  # that one row takes, once it is compiled

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return self._asdict()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ModelInfo:
        """Return the same again."""
        inputs, outputs = ([_spec(*s) for s in data[k]] for k in ("inputs", "outputs"))
        sizes, objection = data["rows"]
        return cls(data["platform"], inputs, outputs, Rows(tuple(sizes), objection), data["seconds"])


def _spec(name: str, datatype: str, dims: list[int | str], limits: list[int] | None) -> TensorSpec:
    return TensorSpec(name, datatype, tuple(dims), (limits[0], limits[1]) if limits else None)


class HostedModel:
    """A model, and the sizes that it has run on.

    Only so many new sizes are compiled in a period: requests of ever new sizes take neither all of the time nor memory.

    Arguments:
        ready: sizes that it is compiled for, which are never refused.
    """

    def __init__(self, model: ServedModel, ready: set[Shapes]) -> None:
        self.model, self.ready, self.seen = model, ready, set(ready)
        self.compiled, self._since = 0, time.monotonic()  # runs that have compiled something in this period

    def admit(self, shapes: Shapes, programs: int) -> None:
        """Note new sizes. What is compiled for others is dropped once there are too many.

        Raises:
            ServingError: if too many were compiled in this period.
        """
        if (now := time.monotonic()) - self._since > PERIOD:
            self.compiled, self._since = 0, now
        if self.compiled >= programs and shapes not in self.ready:
            found = ", ".join(f"{s.name}{list(n)}" for s, n in zip(self.model.inputs, shapes, strict=True))
            raise ServingError(
                "busy", f"it is not compiled for {found}, and {programs} other sizes were compiled in the last "
                f"{PERIOD:g} s, which is the limit (--max-programs); send a size that it has run on, or start the "
                "server with --max-batch and --size",
            )  # fmt: skip
        if len(self.seen) >= programs + len(self.ready):
            self.seen.clear()
            self.model.forget()
        self.seen.add(shapes)


class ModelHost:
    """Models by key.

    Arguments:
        programs: of new sizes, how many are compiled for a model in ten minutes, and kept.

    Examples:
        >>> import tempfile, numpy as np, paddle_lite_py as paddle
        >>> prefix = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.ReLU(), prefix, input_spec=[paddle.static.InputSpec([None, 2], name="x")])
        >>> host = ModelHost()
        >>> host.load("a", prefix, 2, {}).rows.sizes
        (1, 2)
        >>> host.run("a", {"x": np.ones((1, 2), "float32")})["out0"].shape
        (1, 2)
    """

    def __init__(self, programs: int = PROGRAMS) -> None:
        self._models: dict[str, HostedModel] = {}
        self._programs, self._here = programs, threading.local()
        self.compilations = 0
        jax.monitoring.register_event_duration_secs_listener(self._count)

    def _count(self, event: str, duration_secs: float, **kwargs: Any) -> None:
        if event == COMPILED:
            self.compilations += 1
            self._here.compiled = True

    def add(self, key: str, model: ServedModel, most: int, sizes: dict[str, int]) -> ModelInfo:
        """Hold a model, and compile it for the sizes of batches.

        Arguments:
            most: rows of the largest batch that requests are joined to; 1: they are not.
            sizes: of unknown dimensions that are no rows.
        """
        with baseline_tier.off():  # once the model is ready, all of it is compiled
            rows = warm_up(model, most, sizes)
            seconds = _timed(model, sizes)
        ready = {_shapes(model, sample(model, n, sizes)) for n in rows.sizes or (1,)}
        self._models[key] = HostedModel(model, ready)
        return ModelInfo(model.platform, list(model.inputs), list(model.outputs), rows, seconds)

    def load(self, key: str, path: str, most: int, sizes: dict[str, int]) -> ModelInfo:
        """Read a model, and hold it; see add()."""
        return self.add(key, load_model(path), most, sizes)

    def run(self, key: str, arrays: Arrays) -> Arrays:
        """Run a model that was loaded.

        Raises:
            ServingError: if the inputs are of a new size, and too many were compiled just now; or they do not fit.
        """
        hosted = self._models[key]
        shapes = _shapes(hosted.model, arrays)
        if shapes in hosted.seen:
            return hosted.model.run(arrays)
        hosted.admit(shapes, self._programs)
        self._here.compiled = False
        try:
            return hosted.model.run(arrays)
        finally:
            hosted.compiled += self._here.compiled

    def unload(self, key: str) -> None:
        """Drop a model."""
        self._models.pop(key, None)


def _shapes(model: ServedModel, arrays: Arrays) -> Shapes:
    return tuple([arrays[s.name].shape for s in model.inputs])


def _timed(model: ServedModel, sizes: dict[str, int]) -> float:
    """The least of some runs; one that fails takes long."""
    arrays, best, end = sample(model, 1, sizes), float("inf"), time.perf_counter() + 0.05
    while (start := time.perf_counter()) < end:
        try:
            model.run(arrays)
        except Exception:
            return 1.0
        best = min(best, time.perf_counter() - start)
    return best
