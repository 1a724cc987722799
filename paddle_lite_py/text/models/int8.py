"""Weights of linear layers as 8-bit integers: a quarter of the memory of float32, for inference."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn.base import Layer
from ...nn.common import Linear
from ...nn.quant import weight_only_linear, weight_quantize
from .lora import layer_places

__all__ = ["Int8Linear", "quantize_weights"]


class Int8Linear(Layer):
    """A linear layer with a weight of 8-bit integers, and a scale for each output; activations are not quantized.

    Arguments:
        linear: the layer that is replaced.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> Int8Linear(paddle.nn.Linear(4, 2)).weight.dtype
        paddle.int8
    """

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        weight, scale = weight_quantize(linear.weight.detach())
        self.register_buffer("weight", weight)
        self.register_buffer("weight_scale", scale)
        self.bias = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer to x [..., in]."""
        return weight_only_linear(x, self.weight, self.bias, self.weight_scale)


def quantize_weights(model: Any) -> list[str]:
    """Replace the linear layers of a model, in place, by layers with 8-bit weights.

    Args:
        model: Any layer, such as a CausalLM. With adapters, only the layers without them are replaced.

    Returns:
        The full names of the layers.

    Example:
        >>> model = paddle.text.models.CausalLM(paddle.text.models.tiny_config(num_hidden_layers=1))
        >>> len(quantize_weights(model))
        8
    """
    found = list(layer_places(model, Linear))
    for owner, name, layer, _ in found:
        setattr(owner, name, Int8Linear(layer))
    return [full for *_, full in found]
