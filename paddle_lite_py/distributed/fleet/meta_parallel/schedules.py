"""Parts of a pipeline that programs run in an order of their own."""

from __future__ import annotations

import importlib
import queue
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ....autograd import backward
from ....eager.tensor import Tensor
from ....utils import map_structure

__all__ = [
    *("EventStore", "LayerSpec", "PipelineDatasetPreprocessor", "ScheduleChunk", "ScheduleNode", "WeightGradStore"),
    *("build_spec_layer", "get_spec_layer"),
]


class ScheduleNode:
    """A part of a model with its forward and its backward, each called by itself.

    Arguments:
        fwd_func: the part: of its inputs, and of labels where it has some.
        name: its name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> node = ScheduleNode(lambda x: x * 3)
        >>> node.forward(paddle.ones([2])).tolist(), node.backward(paddle.ones([2]))[0].tolist()
        ([3.0, 3.0], [3.0, 3.0])
    """

    def __init__(self, fwd_func: Callable[..., Any], name: str = "") -> None:
        self.name, self.fwd_func = name, fwd_func
        self.inputs: Any = None
        self.outputs: Any = None
        self.labels: Any = None
        self.scale_loss_factor: float | None = None

    def forward(self, inputs: Any = (), **kwargs: Any) -> Any:
        """Run the part and return its outputs, detached from the graph of its inputs."""
        self.inputs = map_structure(_leaf, inputs)
        more = () if self.labels is None else (self.labels,)
        out = self.fwd_func(self.inputs, *more, **kwargs)
        self.outputs = out if self.scale_loss_factor is None else out / self.scale_loss_factor
        return self.outputs

    def backward(self, output_grad: Any = None, scaler: Any = None) -> tuple[Any, ...]:
        """Return the gradients of the inputs, for those of what forward() gave; 1 for a loss by default."""
        outs = [t for t in _tensors(self.outputs) if not t.stop_gradient]
        if output_grad is None:
            backward([t if scaler is None else scaler.scale(t) for t in outs])
        else:
            backward(outs, [g for g in _tensors(output_grad) if g is not None])
        found = tuple([t.grad if t is not None else None for t in _tensors(self.inputs)])
        self.inputs = self.outputs = self.labels = self.scale_loss_factor = None
        return found


def _leaf(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    found = value.detach()
    found.stop_gradient = not (found.dtype.is_floating or found.dtype.is_complex)
    return found


def _tensors(nest: Any) -> list[Any]:
    if isinstance(nest, dict):
        nest = list(nest.values())
    return list(nest) if isinstance(nest, tuple | list) else [nest]


class ScheduleChunk:
    """Several nodes, one after the other.

    Arguments:
        nodes: ScheduleNode and ScheduleChunk.

    Raises:
        TypeError: if there is another one.
    """

    def __init__(self, nodes: Sequence[Any]) -> None:
        if wrong := [n for n in nodes if not isinstance(n, ScheduleNode | ScheduleChunk)]:
            raise TypeError(f"ScheduleChunk: nodes has a {type(wrong[0]).__name__}; expected ScheduleNode")
        self.nodes = list(nodes)

    def forward(self, inputs: Any) -> Any:
        """Return the outputs of the last node."""
        for node in self.nodes:
            inputs = node.forward(inputs)
        return inputs

    def backward(self, output_grad: Any) -> Any:
        """Return the gradients of the first node's inputs."""
        for node in reversed(self.nodes):
            output_grad = node.backward(output_grad)
        return output_grad


class WeightGradStore:
    """Weight gradients that are deferred and computed when there is time (Qi et al., 2023)."""

    enabled: ClassVar[bool] = False
    cache: ClassVar[list[Callable[[], Any]]] = []
    funcs_queue: ClassVar[queue.Queue[Any]] = queue.Queue()

    @classmethod
    def put(cls, func: Callable[[], Any]) -> None:
        """Put one off."""
        cls.cache.append(func)

    @classmethod
    def flush(cls) -> None:
        """End a group of deferred gradients."""
        cls.funcs_queue.put(cls.cache)
        cls.cache = []

    @classmethod
    def pop(cls) -> None:
        """Compute the oldest group of deferred gradients.

        Raises:
            RuntimeError: if there is nothing.
        """
        if cls.funcs_queue.empty():
            raise RuntimeError("WeightGradStore.pop(): nothing was deferred; call flush() first")
        for func in cls.funcs_queue.get():
            func()

    @classmethod
    def clear(cls) -> None:
        """Forget all."""
        cls.cache, cls.funcs_queue = [], queue.Queue()


class EventStore:
    """Events that a program waits for, kept for later."""

    event: ClassVar[Any] = None

    @classmethod
    def set(cls, event: Any) -> None:
        """Keep it."""
        cls.event = event


class PipelineDatasetPreprocessor:
    """A function that returns a batch on demand.

    Arguments:
        function: gives it.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function

    def __call__(self) -> Any:
        """Return the batch."""
        return self.function()


@dataclass
class LayerSpec:
    """A layer that is yet to be made: its class, or (module, name), and arguments."""

    layer: Any
    extra_kwargs: dict[str, Any] = field(default_factory=dict)
    sublayers_spec: Any = None


def get_spec_layer(spec_or_layer: Any) -> Any:
    """Return the class or function of a LayerSpec; a class or function itself."""
    found = getattr(spec_or_layer, "layer", spec_or_layer)
    if isinstance(found, tuple):
        found = getattr(importlib.import_module(found[0]), found[1])
    return found


def build_spec_layer(spec_or_layer: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the layer of a LayerSpec or class, made; a function as it is.

    Examples:
        >>> build_spec_layer(LayerSpec(("paddle_lite_py.nn", "Linear"), {"out_features": 3}), 2).weight.shape
        paddle.Size([2, 3])
    """
    made = get_spec_layer(spec_or_layer)
    if isinstance(made, types.FunctionType):
        return made
    if getattr(spec_or_layer, "sublayers_spec", None) is not None:
        kwargs["sublayers_spec"] = spec_or_layer.sublayers_spec
    return made(*args, **{**kwargs, **getattr(spec_or_layer, "extra_kwargs", {})})
