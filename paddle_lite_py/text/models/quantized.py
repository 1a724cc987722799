"""Weights of linear layers as integers of 8 or 4 bits: a quarter or an eighth of the memory of float32."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn.base import Layer
from ...nn.common import Linear
from ...nn.quant import weight_dequantize, weight_only_linear, weight_quantize
from .places import layer_places

__all__ = ["QuantizedLinear", "quantize_weights"]


class QuantizedLinear(Layer):
    """A linear layer with a weight of integers, and a scale for each output or group; activations are not quantized.

    Gradients reach the input, and not the weight.

    Arguments:
        linear: the layer that is replaced.
        bits: 8 or 4. Default: 8.
        group_size: -1: one scale for each output; 64, 128: one for each group of so many inputs. Default: -1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> QuantizedLinear(paddle.nn.Linear(4, 2)).weight.dtype
        paddle.int8
    """

    def __init__(self, linear: Linear, bits: int = 8, group_size: int = -1) -> None:
        super().__init__()
        self.dtype, self.bits, self.group_size = linear.weight.dtype, bits, group_size
        weight, scale = weight_quantize(linear.weight.detach(), self._algorithm, group_size=group_size)
        self.register_buffer("weight", weight)
        self.register_buffer("weight_scale", scale)
        self.bias = linear.bias

    def _convert(self, kind: Any, place: Any, floating_only: bool) -> None:
        super()._convert(kind, place, floating_only=True)  # the integers are codes, which no other dtype can be

    @property
    def _algorithm(self) -> str:
        return f"weight_only_int{self.bits}"

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer to x [..., in]."""
        return weight_only_linear(
            x, self.weight, self.bias, self.weight_scale, f"int{self.bits}", group_size=self.group_size
        )

    def expanded(self) -> Tensor:
        """Return the weight [in, out] in the dtype that it had."""
        return weight_dequantize(self.weight, self.weight_scale, self._algorithm, self.dtype, self.group_size)


def quantize_weights(model: Any, bits: int = 8, group_size: int = -1) -> list[str]:
    """Replace the linear layers of a model, in place, by layers with weights of 8 or 4 bits.

    Adapters can be added afterwards (QLoRA).

    Args:
        model: Any layer, such as a CausalLM. With adapters, only the layers without them are replaced.
        bits: 8 or 4.
        group_size: -1: one scale for each output; 64, 128: one for each group of so many inputs, which is more exact.

    Returns:
        The full names of the layers.

    Raises:
        ValueError: bits is neither 8 nor 4, or a layer has an odd number of outputs, of which 4 bits need pairs.

    Example:
        >>> model = paddle.text.models.CausalLM(paddle.text.models.tiny_config(num_hidden_layers=1))
        >>> len(quantize_weights(model, bits=4, group_size=64))
        8
    """
    if bits not in (8, 4):
        raise ValueError(f"quantize_weights: bits is {bits}; expected 8 or 4")
    found = list(layer_places(model, Linear))
    for owner, name, layer, _ in found:
        setattr(owner, name, QuantizedLinear(layer, bits, group_size))
    return [full for *_, full in found]
