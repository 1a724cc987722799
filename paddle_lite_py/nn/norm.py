"""Normalization layers but for batch normalization."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.param_attr import ParamAttr
from . import functional as F
from .base import Layer
from .formats import show_default
from .function_layer import REQUIRED, FunctionLayer
from .initializer import Constant, Normal

__all__ = [
    *("GroupNorm", "InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D", "LayerNorm"),
    *("LocalResponseNorm", "RMSNorm", "SpectralNorm"),
]

ONE = Constant(1.0)


class LayerNorm(Layer):
    """Normalizes over the last dimensions (Ba et al., 2016).

    Arguments:
        normalized_shape: sizes of these dimensions.
        epsilon: added to the variance.
        weight_attr, bias_attr: ParamAttr of scale and shift; False: there is none.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LayerNorm(2)(paddle.to_tensor([[1.0, 3.0]])).round().tolist()
        [[-1.0, 1.0]]
    """

    def __init__(
        self,
        normalized_shape: Any,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self._epsilon = epsilon
        size = [math.prod(self._normalized_shape)]
        weight_attr = weight_attr if elementwise_affine else False
        bias_attr = bias_attr if elementwise_affine and bias else False
        self.weight = self.create_parameter(size, weight_attr, dtype, default_initializer=ONE, device=device)
        self.bias = self.create_parameter(size, bias_attr, dtype, is_bias=True, device=device)

    def forward(self, input: Any) -> Any:
        """The input, normalized."""
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        """Its settings."""
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class RMSNorm(Layer):
    """Divides by the root of the mean square over the last dimensions (Zhang and Sennrich, 2019).

    Arguments:
        hidden_size: sizes of these dimensions.
        epsilon: added to the mean square.
        weight_attr: ParamAttr of the scale; False: there is none.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.RMSNorm(2)(paddle.to_tensor([[3.0, 3.0]])).round().tolist()
        [[1.0, 1.0]]
    """

    def __init__(
        self, hidden_size: Any, epsilon: float = 1e-6, weight_attr: Any = None, name: str | None = None
    ) -> None:
        super().__init__()
        self._normalized_shape = [hidden_size] if isinstance(hidden_size, int) else list(hidden_size)
        self._epsilon = epsilon
        self.weight = self.create_parameter(self._normalized_shape, weight_attr, default_initializer=ONE)

    def forward(self, input: Any) -> Any:
        """The input, normalized."""
        return F.rms_norm(input, self._normalized_shape, self.weight, self._epsilon)

    def extra_repr(self) -> str:
        """Its settings."""
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class GroupNorm(Layer):
    """Normalizes over groups of channels (Wu and He, 2018).

    Arguments:
        num_groups: how many groups.
        num_channels: channels; they must divide into the groups.
        epsilon: added to the variance.
        weight_attr, bias_attr: ParamAttr of scale and shift; False: there is none.
        data_format: where the channels are.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.GroupNorm(2, 4)(paddle.ones([1, 4, 3])).abs().max().item()
        0.0
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
        *,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not divide into {num_groups} groups")
        self._num_groups, self._num_channels, self._epsilon, self._data_format = (
            num_groups,
            num_channels,
            epsilon,
            data_format,
        )
        self.weight = self.create_parameter(
            [num_channels], weight_attr if affine else False, dtype, default_initializer=ONE, device=device
        )
        self.bias = self.create_parameter(
            [num_channels], bias_attr if affine else False, dtype, is_bias=True, device=device
        )

    def forward(self, input: Any) -> Any:
        """The input, each group of channels normalized."""
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        """Its settings."""
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class _InstanceNorm(Layer):
    _dims: tuple[int, ...] = ()
    _default_format = "NCHW"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        show_default(cls, cls._default_format)

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise ValueError(f"{type(self).__name__}: weight_attr and bias_attr must both be False, or neither")
        self._num_features, self._epsilon, self._momentum = num_features, epsilon, momentum
        self._data_format = data_format or self._default_format
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=ONE)
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """The input, each channel of each sample normalized."""
        if input.ndim not in self._dims:
            expected = " or ".join(map(str, self._dims))
            raise ValueError(
                f"{type(self).__name__}: an input of {expected} dimensions is expected, got the shape {[*input.shape]}"
            )
        return F.instance_norm(
            input,
            weight=self.scale,
            bias=self.bias,
            momentum=self._momentum,
            eps=self._epsilon,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        """Its settings."""
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNorm):
    """Normalizes each channel of each sequence [N, C, L] on its own (Ulyanov et al., 2016).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.InstanceNorm1D(2)(paddle.ones([1, 2, 3])).shape
        paddle.Size([1, 2, 3])
    """

    _dims, _default_format = (2, 3), "NCL"


class InstanceNorm2D(_InstanceNorm):
    """Normalizes each channel of each image [N, C, H, W] on its own (Ulyanov et al., 2016).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.InstanceNorm2D(2)(paddle.ones([1, 2, 3, 3])).shape
        paddle.Size([1, 2, 3, 3])
    """

    _dims = (4,)


class InstanceNorm3D(_InstanceNorm):
    """Normalizes each channel of each volume [N, C, D, H, W] on its own (Ulyanov et al., 2016).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.InstanceNorm3D(2)(paddle.ones([1, 2, 3, 3, 3])).shape
        paddle.Size([1, 2, 3, 3, 3])
    """

    _dims, _default_format = (5,), "NCDHW"


class LocalResponseNorm(FunctionLayer):
    """Divides by a function of the neighbouring channels (Krizhevsky et al., 2012).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LocalResponseNorm(2)(paddle.ones([1, 3, 2, 2])).shape
        paddle.Size([1, 3, 2, 2])
    """

    _function = "local_response_norm"
    _settings = {"size": REQUIRED, "alpha": 0.0001, "beta": 0.75, "k": 1.0, "data_format": "NCHW"}


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, found by power iteration (Miyato et al., 2018).

    Arguments:
        weight_shape: shape of the weights that it is called with.
        dim: the dimension that is the rows of the matrix.
        power_iters: iterations in each call.
        eps: keeps the divisors from zero.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SpectralNorm([2, 3])(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """

    def __init__(
        self, weight_shape: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, dtype: Any = "float32"
    ) -> None:
        super().__init__()
        self._dim, self._power_iters, self._eps = dim, power_iters, eps
        rows = weight_shape[dim]
        attr = ParamAttr(trainable=False)
        self.weight_u = self.create_parameter([rows], attr, dtype, default_initializer=Normal(0.0, 1.0))
        self.weight_v = self.create_parameter(
            [int(np.prod(weight_shape)) // rows], attr, dtype, default_initializer=Normal(0.0, 1.0)
        )

    def forward(self, x: Any) -> Any:
        """The weight over its largest singular value."""
        out, u, v = spectral_norm(x, self.weight_u, self.weight_v, self._dim, self._power_iters, self._eps)
        self.weight_u._set_payload(u._data)
        self.weight_v._set_payload(v._data)
        return out


def spectral_norm(weight: Any, u: Any, v: Any, dim: int, power_iters: int, eps: float) -> tuple[Any, Any, Any]:
    """The weight over its largest singular value, and better estimates of its singular vectors."""
    order = [dim, *(i for i in range(weight.ndim) if i != dim)]
    matrix = weight.transpose(order).reshape([weight.shape[dim], -1])
    fixed = matrix.detach()
    u, v = u.detach(), v.detach()
    for _ in range(power_iters):
        v = _unit(fixed.t() @ u, eps)
        u = _unit(fixed @ v, eps)
    return weight / (u * (matrix @ v)).sum(), u, v


def _unit(x: Any, eps: float) -> Any:
    return x / ((x * x).sum().sqrt() + eps)
