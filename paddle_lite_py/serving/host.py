"""The models that a process holds: loaded, compiled and run by a key. A server has one, or each of its workers has."""

from __future__ import annotations

import gc
import time
from typing import Any, NamedTuple

import jax

from ..core.jax_compat.xla import COMPILED
from ..core.switches import baseline_tier
from .joining import Rows, sample, warm_up
from .models import ServedModel, load_model
from .tensors import Arrays, TensorSpec


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
        inputs, outputs = ([TensorSpec(n, d, tuple(s)) for n, d, s in data[k]] for k in ("inputs", "outputs"))
        sizes, objection = data["rows"]
        return cls(data["platform"], inputs, outputs, Rows(tuple(sizes), objection), data["seconds"])


class ModelHost:
    """Models by key.

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

    most_shapes = 256  # of which programs of a model are kept; one takes 2 MB

    def __init__(self) -> None:
        self._models: dict[str, ServedModel] = {}
        self._shapes: dict[str, set[tuple[tuple[int, ...], ...]]] = {}  # that a model was given
        self.compilations = 0
        jax.monitoring.register_event_duration_secs_listener(self._count)

    def _count(self, event: str, duration_secs: float, **kwargs: Any) -> None:
        self.compilations += event == COMPILED

    def add(self, key: str, model: ServedModel, most: int, sizes: dict[str, int]) -> ModelInfo:
        """Hold a model, and compile it for the sizes of batches.

        Arguments:
            most: rows of the largest batch that requests are joined to; 1: they are not.
            sizes: of unknown dimensions that are no rows.
        """
        with baseline_tier.off():  # once the model is ready, all of it is compiled
            rows = warm_up(model, most, sizes)
            seconds = _timed(model, sizes)
        self._models[key] = model
        return ModelInfo(model.platform, list(model.inputs), list(model.outputs), rows, seconds)

    def load(self, key: str, path: str, most: int, sizes: dict[str, int]) -> ModelInfo:
        """Read a model, and hold it; see add()."""
        return self.add(key, load_model(path), most, sizes)

    def run(self, key: str, arrays: Arrays) -> Arrays:
        """Run a model that was loaded. What it has compiled for ever new shapes is dropped once there are too many."""
        model, shapes = self._models[key], self._shapes.setdefault(key, set())
        shapes.add(tuple([a.shape for a in arrays.values()]))
        if len(shapes) > self.most_shapes:
            shapes.clear()
            model.forget()
        return model.run(arrays)

    def unload(self, key: str) -> None:
        """Drop a model."""
        self._models.pop(key, None)
        self._shapes.pop(key, None)


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
