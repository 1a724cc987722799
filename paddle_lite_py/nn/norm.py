"""Normalization layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.param_attr import ParamAttr
from ..eager.tensor import Tensor
from . import functional as F
from .base import Layer
from .formats import check_rank, show_default
from .function_layer import REQUIRED, FunctionLayer
from .initializer import Constant, Normal

__all__ = [
    *("GroupNorm", "InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D", "LayerNorm"),
    *("LocalResponseNorm", "RMSNorm", "SpectralNorm"),
]

ONE = Constant(1.0)


class LayerNorm(Layer):
    """Layer normalization: `(x - mean) / sqrt(var + epsilon) * weight + bias` over the last dimensions.

    Mean and variance are computed for each sample, in training and in evaluation alike (Ba et al., 2016).

    Arguments:
        normalized_shape: sizes of the last dimensions to normalize over, an integer or a list.
        bias_attr: ParamAttr, initializer or name of the shift; None: zeros; False: no shift.
        elementwise_affine: False: no scale and no shift. Default: True.
        bias: False: no shift. Default: True.
        device: device of the parameters; None: the current device.
        dtype: dtype of the parameters; None: the default dtype.

    Shape:
        The output has the shape and dtype of the input.

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
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter(size, weight_attr, dtype, default_initializer=ONE, device=device)
        self.bias = self.create_parameter(size, bias_attr, dtype, is_bias=True, device=device)

    def forward(self, input: Any) -> Any:
        """Return the normalized input."""
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        """Return its settings."""
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class RMSNorm(Layer):
    """Root mean square normalization: `x / sqrt(mean(x**2) + epsilon) * weight` (Zhang and Sennrich, 2019).

    Arguments:
        hidden_size: sizes of the last dimensions to normalize over, an integer or a list.
        epsilon: added to the mean square, for numerical stability. Default: 1e-06.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
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
        """Return the normalized input."""
        return F.rms_norm(input, self._normalized_shape, self.weight, self._epsilon)

    def extra_repr(self) -> str:
        """Return its settings."""
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class GroupNorm(Layer):
    """Group normalization of channels: `(x - mean) / sqrt(var + epsilon) * weight + bias` (Wu and He, 2018).

    Mean and variance are computed for each sample and each group of num_channels / num_groups consecutive channels.

    Arguments:
        num_groups: number of groups; it must divide num_channels.
        num_channels: number of channels of the input.
        bias_attr: ParamAttr, initializer or name of the shift; None: zeros; False: no shift.
        data_format: "NCHW", "NHWC", or the formats of other ranks. Default: 'NCHW'.
        affine: False: no scale and no shift. Default: True.
        device: device of the parameters; None: the current device.
        dtype: dtype of the parameters; None: the default dtype.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
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
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter(
            [num_channels], weight_attr if affine else False, dtype, default_initializer=ONE, device=device
        )
        self.bias = self.create_parameter(
            [num_channels], bias_attr if affine else False, dtype, is_bias=True, device=device
        )

    def forward(self, input: Any) -> Any:
        """Return the input with each group of channels normalized."""
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        """Return its settings."""
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
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=ONE)
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def _check_input_dim(self, input: Any) -> None:
        check_rank(type(self).__name__, input, self._dims)

    def forward(self, input: Any) -> Any:
        """Return the input, each channel of each sample normalized."""
        self._check_input_dim(input)
        return F.instance_norm(
            input,
            weight=self.scale,
            bias=self.bias,
            momentum=self._momentum,
            eps=self._epsilon,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        """Return its settings."""
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNorm):
    """Instance normalization: normalize each channel of each sequence on its own (Ulyanov et al., 2016).

    `y = (x - mean) / sqrt(var + epsilon) * weight + bias`, with statistics over the spatial dimensions.

    Arguments:
        weight_attr: ParamAttr, initializer or name of the scale; None: ones; False, with bias_attr=False: no scale.
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        Input: [N, C, L] or [C, L].
        Output: the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.InstanceNorm1D(2)(paddle.ones([1, 2, 3])).shape
        paddle.Size([1, 2, 3])
    """

    _dims, _default_format = (2, 3), "NCL"


class InstanceNorm2D(_InstanceNorm):
    """Instance normalization: normalize each channel of each image on its own (Ulyanov et al., 2016).

    `y = (x - mean) / sqrt(var + epsilon) * weight + bias`, with statistics over the spatial dimensions.

    Arguments:
        weight_attr: ParamAttr, initializer or name of the scale; None: ones; False, with bias_attr=False: no scale.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        Input: [N, C, H, W].
        Output: the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.InstanceNorm2D(2)(paddle.ones([1, 2, 3, 3])).shape
        paddle.Size([1, 2, 3, 3])
    """

    _dims = (4,)


class InstanceNorm3D(_InstanceNorm):
    """Instance normalization: normalize each channel of each volume on its own (Ulyanov et al., 2016).

    `y = (x - mean) / sqrt(var + epsilon) * weight + bias`, with statistics over the spatial dimensions.

    Arguments:
        weight_attr: ParamAttr, initializer or name of the scale; None: ones; False, with bias_attr=False: no scale.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        Input: [N, C, D, H, W].
        Output: the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.InstanceNorm3D(2)(paddle.ones([1, 2, 3, 3, 3])).shape
        paddle.Size([1, 2, 3, 3, 3])
    """

    _dims, _default_format = (5,), "NCDHW"


class LocalResponseNorm(FunctionLayer):
    """Local response normalization over neighboring channels (Krizhevsky et al., 2012).

    `y = x / (k + alpha * mean(x**2 over size channels))**beta`

    Arguments:
        size: number of neighboring channels in the mean.
        alpha: factor of the mean square. Default: 0.0001.
        beta: exponent of the denominator. Default: 0.75.
        k: constant added in the denominator. Default: 1.0.
        data_format: "NCHW", "NHWC", or the formats of other ranks. Default: 'NCHW'.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LocalResponseNorm(2)(paddle.ones([1, 3, 2, 2])).shape
        paddle.Size([1, 3, 2, 2])
    """

    _function = "local_response_norm"
    _settings = {"size": REQUIRED, "alpha": 0.0001, "beta": 0.75, "k": 1.0, "data_format": "NCHW"}


class SpectralNorm(Layer):
    """Spectral normalization: divide a weight by its largest singular value (Miyato et al., 2018).

    The singular value is estimated by power iteration; the layer keeps the singular vectors from call to call.

    Arguments:
        weight_shape: shape of the weight that is passed to the layer.
        dim: dimension that forms the rows of the matrix; all others form the columns. Default: 0.
        power_iters: power iterations in each call. Default: 1.
        eps: lower bound of the divisors, for numerical stability. Default: 1e-12.
        dtype: dtype of the singular vectors. Default: 'float32'.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SpectralNorm([2, 3])(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """

    def __init__(
        self, weight_shape: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, dtype: Any = "float32"
    ) -> None:
        super().__init__()
        self._dim, self._power_iters, self._eps = dim, power_iters, eps
        rows = row_count("SpectralNorm", weight_shape, dim)
        attr = ParamAttr(trainable=False)
        self.weight_u = self.create_parameter([rows], attr, dtype, default_initializer=Normal(0.0, 1.0))
        self.weight_v = self.create_parameter(
            [int(np.prod(weight_shape)) // rows], attr, dtype, default_initializer=Normal(0.0, 1.0)
        )

    def forward(self, x: Any) -> Any:
        """Return the weight divided by its largest singular value."""
        if not isinstance(x, Tensor):
            raise TypeError(f"SpectralNorm: x is {type(x).__name__}; expected a tensor")
        out, u, v = spectral_norm(x, self.weight_u, self.weight_v, self._dim, self._power_iters, self._eps)
        self.weight_u._set_payload(u._payload)
        self.weight_v._set_payload(v._payload)
        return out


def row_count(who: str, shape: Any, dim: int) -> int:
    """Return the size of the dimension that forms the rows of a matrix.

    Raises:
        ValueError: there is no such dimension.
    """
    if not -len(shape) <= dim < len(shape):
        raise ValueError(f"{who}: dim is {dim}; expected {-len(shape)} to {len(shape) - 1}, of the shape {[*shape]}")
    return int(shape[dim])


def spectral_norm(weight: Any, u: Any, v: Any, dim: int, power_iters: int, eps: float) -> tuple[Any, Any, Any]:
    """Divide a weight by its largest singular value; also return better estimates of its singular vectors."""
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
