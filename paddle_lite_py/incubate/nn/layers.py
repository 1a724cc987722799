"""Layers that are one op."""

from __future__ import annotations

from typing import Any

from ...nn.base import Layer
from ...nn.initializer import Constant
from . import functional as fused

__all__ = ["FusedBiasDropoutResidualLayerNorm", "FusedDropoutAdd", "FusedLinear"]


class FusedLinear(Layer):
    """x @ weight + bias; transpose_weight keeps the weight as [out, in].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.nn.FusedLinear(4, 3)(paddle.ones([1, 4])).shape
        paddle.Size([1, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        transpose_weight: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        shape = [out_features, in_features] if transpose_weight else [in_features, out_features]
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.transpose_weight, self.name = transpose_weight, name

    def forward(self, input: Any) -> Any:
        """Return the product."""
        return fused.fused_linear(input, self.weight, self.bias, self.transpose_weight)


class FusedDropoutAdd(Layer):
    """dropout(x) + y.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.nn.FusedDropoutAdd(0.0)(paddle.ones([2]), paddle.ones([2])).tolist()
        [2.0, 2.0]
    """

    def __init__(self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None) -> None:
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, x: Any, y: Any) -> Any:
        """Return the sum."""
        return fused.fused_dropout_add(x, y, self.p, self.training, self.mode)


class FusedBiasDropoutResidualLayerNorm(Layer):
    """layer_norm(residual + dropout(x + bias)).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.incubate.nn.FusedBiasDropoutResidualLayerNorm(2, 0.0)
        >>> out = layer(paddle.to_tensor([[1.0, 3.0]]), paddle.zeros([1, 2]))
        >>> out.astype("float64").numpy().round(3).tolist()
        [[-1.0, 1.0]]
    """

    def __init__(
        self,
        embed_dim: int,
        dropout_rate: float = 0.5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        epsilon: float = 1e-5,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.linear_bias = self.create_parameter([embed_dim], bias_attr, is_bias=True)
        self.ln_scale = self.create_parameter([embed_dim], weight_attr, default_initializer=Constant(1.0))
        self.ln_bias = self.create_parameter([embed_dim], bias_attr, is_bias=True)
        self.dropout_rate, self.epsilon = dropout_rate, epsilon

    def forward(self, x: Any, residual: Any) -> Any:
        """Return the normalized sum."""
        rate = self.dropout_rate
        return fused.fused_bias_dropout_residual_layer_norm(
            x, residual, self.linear_bias, self.ln_scale, self.ln_bias, rate, self.epsilon, self.training
        )
