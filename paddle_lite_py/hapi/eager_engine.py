"""Batches of a Model, run eagerly: what the engines have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.interpreter import layer_version, no_grad
from ..eager.tensor import Tensor
from ..ops.convert import to_tensor

Found = tuple[list[Tensor], list[list[Any]]]  # losses, and what each metric takes in


class Kind(NamedTuple):
    """The operation on a batch: train, evaluate or predict."""

    what: str  # "train", "eval" or "predict"
    inputs: int  # how many of the tensors are inputs; the others are labels
    update: bool = False  # of the parameters; gradients are added up otherwise


class EagerEngine:
    """Runs batches of a Model as they are.

    Arguments:
        model: with its network, optimizer, loss and metrics.
    """

    static = False

    def __init__(self, model: Any) -> None:
        self.model = model
        self._mode: Any = None  # whether the network was set to training, and at which version of its settings

    def train_batch(self, inputs: list[Any], labels: list[Any], update: bool) -> Found:
        """Losses of a batch, which is trained on, and what the metrics take in."""
        self._switch(True)
        return self._run(Kind("train", len(inputs), update), _tensors(inputs, labels))

    def eval_batch(self, inputs: list[Any], labels: list[Any]) -> Found:
        """Losses of a batch, and what the metrics take in."""
        self._switch(False)
        return self._run(Kind("eval", len(inputs)), _tensors(inputs, labels))

    def predict_batch(self, inputs: list[Any]) -> list[Tensor]:
        """Outputs for a batch."""
        self._switch(False)
        return self._run(Kind("predict", len(inputs)), _tensors(inputs, []))[0]

    def _switch(self, training: bool) -> None:
        """Put the network into training or evaluation; a walk over its layers, so only if settings have changed."""
        if self._mode != (training, layer_version.number):
            self.model.network.train() if training else self.model.network.eval()
            self._mode = training, layer_version.number

    def _run(self, kind: Kind, tensors: list[Tensor]) -> Found:
        losses, outputs = self._step(kind, tensors)
        return losses, self._measures(kind, outputs, tensors)

    def _step(self, kind: Kind, tensors: Any) -> tuple[list[Tensor], list[Tensor]]:
        """Losses and outputs; of a prediction the outputs come first, since it has no losses."""
        inputs, labels = tensors[: kind.inputs], tensors[kind.inputs :]
        if kind.what == "train":
            return self._trained(inputs, labels, kind.update)
        with no_grad(), self.model._casting():
            outputs = as_list(self.model.network(*inputs))
            return (outputs, []) if kind.what == "predict" else (self.model._losses(outputs, labels), outputs)

    def _trained(self, inputs: Any, labels: Any, update: bool) -> tuple[list[Tensor], list[Tensor]]:
        model = self.model
        with model._casting():
            outputs = as_list(model.network(*inputs))
            losses = model._losses(outputs, labels)
        model._backward(losses[0] if len(losses) == 1 else sum(losses[1:], losses[0]))
        if update:
            model._update()
        return [v.detach() for v in losses], [o.detach() for o in outputs]

    def _measures(self, kind: Kind, outputs: list[Tensor], tensors: Any) -> list[list[Any]]:
        if kind.what == "predict":
            return []
        with no_grad():
            return [as_list(m.compute(*outputs, *tensors[kind.inputs :])) for m in self.model._metrics]


def as_list(value: Any) -> list[Any]:
    """Return a value as a list: what is one already, nothing for None."""
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _tensors(inputs: list[Any], labels: list[Any]) -> list[Tensor]:
    return [v if isinstance(v, Tensor) else to_tensor(v) for v in (*inputs, *labels)]
