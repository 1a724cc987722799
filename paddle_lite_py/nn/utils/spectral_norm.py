"""Spectral normalization of a layer's weight."""

from __future__ import annotations

from typing import Any

from ...core.interpreter import state
from ...core.param_attr import ParamAttr
from .. import initializer
from ..base import Layer
from ..common import Linear
from ..conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from ..norm import row_count
from ..norm import spectral_norm as normalized


class SpectralNormHook:
    """Pre-hook that computes the normalized weight of a layer from `<name>_orig`."""

    def __init__(self, name: str, dim: int, n_power_iterations: int, eps: float) -> None:
        self.name, self.dim, self.iterations, self.eps = name, dim, n_power_iterations, eps

    def __call__(self, layer: Any, _inputs: Any) -> None:
        u, v = getattr(layer, f"{self.name}_u"), getattr(layer, f"{self.name}_v")
        iterations = self.iterations if layer.training else 0
        weight = getattr(layer, f"{self.name}_orig")
        out, new_u, new_v = normalized(weight, u, v, self.dim, iterations, self.eps)
        if layer.training:
            u._set_payload(new_u._payload)
            v._set_payload(new_v._payload)
        state.interpreter.rebound(layer, self.name)
        setattr(layer, self.name, out)


def spectral_norm(
    layer: Layer, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Layer:
    """Reparametrize a weight as itself divided by its largest singular value (Miyato et al., 2018).

    Arguments:
        layer: the layer, which is changed in place.
        name: name of the parameter. Default: 'weight'.
        n_power_iterations: power iterations in each forward pass in training mode. Default: 1.
        eps: lower bound of the divisors, for numerical stability. Default: 1e-12.
        dim: dimension that forms the rows of the matrix; None: that of the outputs.

    Returns:
        The layer.

    Raises:
        ValueError: if the layer has no such parameter.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.nn.utils.spectral_norm(paddle.nn.Linear(2, 2))
        >>> layer(paddle.ones([1, 2])).shape
        paddle.Size([1, 2])
    """
    if name not in layer._parameters:
        raise ValueError(f"spectral_norm: {type(layer).__name__} has no parameter '{name}'")
    if dim is None:
        dim = 1 if isinstance(layer, Linear | Conv1DTranspose | Conv2DTranspose | Conv3DTranspose) else 0
    weight: Any = layer._parameters[name]
    rows = row_count("spectral_norm", weight.shape, dim)
    draw = ParamAttr(initializer=initializer.Normal(0.0, 1.0), trainable=False)
    delattr(layer, name)
    layer.add_parameter(f"{name}_orig", weight)
    setattr(layer, name, weight * 1.0)
    for suffix, size in (("u", rows), ("v", weight.size // rows)):
        layer.register_buffer(f"{name}_{suffix}", layer.create_parameter([size], draw, weight.dtype))
    layer.register_forward_pre_hook(SpectralNormHook(name, dim, n_power_iterations, eps))
    return layer
