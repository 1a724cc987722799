"""A model as a list of layers, of which each process would hold some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .... import nn
from ..recompute import recompute

__all__ = ["LayerDesc", "PipelineLayer", "SharedLayerDesc"]


class LayerDesc:
    """A layer to be made by the process that holds it.

    Args:
        layer_func: its class.
        inputs, kwargs: what the class takes.
    """

    def __init__(self, layer_func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> None:
        self.layer_func, self.inputs, self.kwargs = layer_func, inputs, kwargs

    def build_layer(self) -> Any:
        """The layer."""
        return self.layer_func(*self.inputs, **self.kwargs)


class SharedLayerDesc(LayerDesc):
    """A layer that stands in several places, with one weight.

    Args:
        key: what is shared by those of the same key.
        layer_func: its class.
        forward_func: forward_func(layer, input), in the place of the layer's own forward.
        shared_weight_attr: the attribute that is shared.
        inputs, kwargs: what the class takes.
    """

    def __init__(
        self, key: str, layer_func: Callable[..., Any], forward_func: Callable[..., Any] | None = None,
        shared_weight_attr: str = "weight", *inputs: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name, self.forward_func, self.shared_weight_attr = key, forward_func, shared_weight_attr


class PipelineLayer(nn.Layer):
    """Layers one after the other.

    Args:
        layers: layers, functions and descriptions of layers.
        loss_fn: the loss of what they give.
        recompute_interval: every how many layers are computed again by backward; 0: none.
        num_stages, topology, seg_method, recompute_ctx, num_virtual_pipeline_stages: accepted for compatibility.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> from paddle_lite_py.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer
        >>> model = PipelineLayer([LayerDesc(paddle.nn.Linear, 2, 3), paddle.tanh], num_stages=1)
        >>> model(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
    """

    def __init__(
        self, layers: Sequence[Any], num_stages: int | None = None, topology: Any = None, loss_fn: Any = None,
        seg_method: str = "uniform", recompute_interval: int = 0, recompute_ctx: Any = None,
        num_virtual_pipeline_stages: int | None = None, **more: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self._loss_fn, self._recompute_interval = loss_fn, recompute_interval
        self.shared_layers = nn.LayerDict()
        self.run_function = [self._made(i, described) for i, described in enumerate(layers)]

    def _made(self, place: int, described: Any) -> Any:
        if isinstance(described, SharedLayerDesc):
            return self._shared(described)
        layer = described.build_layer() if isinstance(described, LayerDesc) else described
        if isinstance(layer, nn.Layer):
            self.add_sublayer(str(place), layer)
        return layer

    def _shared(self, described: SharedLayerDesc) -> Any:
        if described.layer_name not in self.shared_layers:
            self.shared_layers[described.layer_name] = described.build_layer()
        layer, forward = self.shared_layers[described.layer_name], described.forward_func
        return layer if forward is None else lambda *args: forward(layer, *args)

    def _run(self, start: int, end: int, x: Any) -> Any:
        for function in self.run_function[start:end]:
            x = function(x)
        return x

    def forward(self, input: Any, chunk_id: int | None = None) -> Any:
        """What the last layer gives."""
        step = self._recompute_interval or len(self.run_function)
        for start in range(0, len(self.run_function), step):
            if self._recompute_interval:
                input = recompute(lambda x, start=start: self._run(start, start + step, x), input)
            else:
                input = self._run(start, start + step, input)
        return input
