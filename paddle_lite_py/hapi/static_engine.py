"""Batches of a paddle.Model in static mode: a program for each of training, evaluation and prediction."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from ..eager.tensor import Tensor
from ..static import amp
from ..static.current import current
from ..static.executor import Executor, feed_array
from ..static.mode import data, program_guard
from ..static.program import Program
from ..static.saving import save_inference_model
from ..static.scope import global_scope
from .eager_engine import as_list


class Built(NamedTuple):
    """A program with what it is fed and what it gives."""

    program: Program
    feeds: list[Tensor]
    results: list[list[Any]]  # losses, then what each metric takes; or the outputs


class StaticEngine:
    """Runs batches of a Model: builds a program at the first batch of a kind.

    Arguments:
        model: with its network, optimizer, loss and metrics.
    """

    static = True

    def __init__(self, model: Any) -> None:
        self.model, self.startup, self.executor = model, current.startup, Executor()
        self.built: dict[str, Built] = {}

    def train_batch(self, inputs: list[Any], labels: list[Any], update: bool) -> tuple[list[Any], list[Any]]:
        """Losses of a batch, which is trained on, and what the metrics take in.

        Raises:
            NotImplementedError: if gradients are to be added up.
        """
        if not update:
            raise NotImplementedError(
                "Model.train_batch(update=False), which accumulate_grad_batches asks for, adds up gradients, which a "
                "static program does by itself: give prepare() a paddle.static.GradientMergeOptimizer"
            )
        return self._measure("train", inputs, labels)

    def eval_batch(self, inputs: list[Any], labels: list[Any]) -> tuple[list[Any], list[Any]]:
        """Losses of a batch, and what the metrics take in."""
        return self._measure("eval", inputs, labels)

    def predict_batch(self, inputs: list[Any]) -> list[np.ndarray]:
        """Outputs for a batch."""
        return self._run("predict", inputs, [])[0]

    def save(self, path: str) -> None:
        """Write the network for inference."""
        found = self._of("predict", self.model._inputs, [])
        save_inference_model(path, found.feeds, found.results[0], program=found.program)

    def _measure(self, kind: str, inputs: list[Any], labels: list[Any]) -> tuple[list[Any], list[Any]]:
        losses, *states = self._run(kind, inputs, labels)
        return losses, states

    def _run(self, kind: str, inputs: list[Any], labels: list[Any]) -> list[list[Any]]:
        built = self._of(kind, inputs, labels)
        given = [*inputs, *labels]
        feed = {t.name: feed_array(v, t.dtype.np) for t, v in zip(built.feeds, given, strict=True)}
        out = iter(self.executor.run(built.program, feed, [t for part in built.results for t in part]))
        return [[next(out) for _ in part] for part in built.results]

    def _of(self, kind: str, inputs: Sequence[Any], labels: Sequence[Any]) -> Built:
        if kind not in self.built:
            self.built[kind] = self._build(kind, inputs, labels)
        self._start()
        return self.built[kind]

    def _build(self, kind: str, inputs: Sequence[Any], labels: Sequence[Any]) -> Built:
        network, program = self.model.network, Program()
        program.parameters = {p.name: p for p in network.parameters()}
        (network.train if kind == "train" else network.eval)()
        with program_guard(program, self.startup):
            taken = [_declare(v, s, f"input_{i}") for i, (v, s) in enumerate(_specs(inputs, self.model._inputs))]
            wanted = [_declare(v, s, f"label_{i}") for i, (v, s) in enumerate(_specs(labels, self.model._labels))]
            with nullcontext() if kind == "train" else self.model._casting():  # minimize() casts a program to train
                outputs = as_list(network(*taken))
                if kind == "predict":
                    return Built(program, taken, [outputs])
                losses = self.model._losses(outputs, wanted)
            metrics = [as_list(m.compute(*outputs, *wanted)) for m in self.model._metrics]
            if kind == "train":
                self._optimizer().minimize(sum(losses[1:], losses[0]))
        return Built(program, [*taken, *wanted], [losses, *metrics])

    def _optimizer(self) -> Any:
        given, casting = self.model._optimizer, dict(self.model._amp)
        if not casting or casting.get("level") == "O0":
            return given
        lists = [casting.pop(k, None) for k in ("custom_white_list", "custom_black_list")]
        scaling = {k: v for k, v in self.model._scaling.items() if k != "enable"}
        return amp.decorate(given, amp.CustomOpLists(*lists), **casting, **scaling)

    def _start(self) -> None:
        """First values for what has none yet in the scope in force."""
        missing = {n: i for n, i in self.startup.initials.items() if n not in global_scope().homes}
        if missing:
            startup = Program()
            startup.initials = missing
            self.executor.run(startup)


def _specs(values: Sequence[Any], specs: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(v, specs[i] if i < len(specs) else None) for i, v in enumerate(values)]


def _declare(value: Any, spec: Any, name: str) -> Tensor:
    """Data as an InputSpec says, or like a batch."""
    if spec is not None:
        return data(spec.name or name, spec.shape, spec.dtype)
    array = feed_array(value, None)
    return data(name, [None, *array.shape[1:]], array.dtype)
