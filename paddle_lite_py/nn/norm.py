"""Normalization layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..param_attr import ParamAttr
from . import functional as F
from .function_layer import REQUIRED, FunctionLayer
from .initializer import Constant, Normal
from .layer import Layer

__all__ = [
    *("BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "GroupNorm", "InstanceNorm1D", "InstanceNorm2D"),
    *("InstanceNorm3D", "LayerNorm", "LocalResponseNorm", "RMSNorm", "SpectralNorm", "SyncBatchNorm"),
]

ONE = Constant(1.0)


class _BatchNorm(Layer):
    """Batch normalization (Ioffe and Szegedy, 2015): by the batch's statistics while training, by running ones otherwise.

    Arguments:
        num_features: channels.
        momentum: what is kept of the running statistics in a step.
        epsilon: added to the variance.
        weight_attr, bias_attr: ParamAttr of scale and shift; False: there is none.
        data_format: where the channels are.
        use_global_stats: True: by the running statistics also while training; False: never.
    """

    _dims: tuple[int, ...] = ()
    _default_format = "NCHW"

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._data_format, self._use_global_stats = data_format or self._default_format, use_global_stats
        self._name = name
        self.weight = self.create_parameter([num_features], weight_attr, default_initializer=ONE)
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        self._mean = self._statistic(0.0)
        self._variance = self._statistic(1.0)

    def _statistic(self, value: float, name: str | None = None) -> Any:
        attr = ParamAttr(name=name, initializer=Constant(value), trainable=False)
        return self.create_parameter([self._num_features], attr)

    def forward(self, x: Any) -> Any:
        """The input, each channel normalized."""
        if self._dims and x.ndim not in self._dims:
            expected = " or ".join(map(str, self._dims))
            raise ValueError(f"{type(self).__name__}: an input of {expected} dimensions is expected, got the shape {x.shape}")
        return F.batch_norm(
            x,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            training=self.training,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_format,
            use_global_stats=self._use_global_stats,
        )

    def extra_repr(self) -> str:
        """Its settings."""
        placed = "" if self._data_format == self._default_format else f", data_format={self._data_format}"
        named = f", name={self._name}" if self._name else ""
        return f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}{placed}{named}"


class BatchNorm1D(_BatchNorm):
    """Batch normalization of [N, C] or [N, C, L]; see BatchNorm2D."""

    _dims, _default_format = (2, 3), "NCL"


class BatchNorm2D(_BatchNorm):
    """Batch normalization of images [N, C, H, W] (Ioffe and Szegedy, 2015).

    Arguments:
        num_features: channels.
        momentum: what is kept of the running statistics in a step.
        epsilon: added to the variance.
        weight_attr, bias_attr: ParamAttr of scale and shift; False: there is none.
        data_format: "NCHW" or "NHWC".
        use_global_stats: True: by the running statistics also while training; False: never.

    Raises:
        ValueError: if the input has not 4 dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.nn.BatchNorm2D(3)
        >>> y = layer(paddle.rand([4, 3, 2, 2]))
        >>> abs(y.mean().item()) < 1e-5, list(layer.state_dict())
        (True, ['weight', 'bias', '_mean', '_variance'])
    """

    _dims = (4,)


class BatchNorm3D(_BatchNorm):
    """Batch normalization of volumes [N, C, D, H, W]; see BatchNorm2D."""

    _dims, _default_format = (5,), "NCDHW"


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the batches of all processes; with one process, as BatchNorm2D."""

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer with every batch normalization in it made synchronous; parameters are shared."""
        for name, inner in list(layer._sub_layers.items()):
            layer._sub_layers[name] = cls.convert_sync_batchnorm(inner)
        if not isinstance(layer, _BatchNorm) or isinstance(layer, SyncBatchNorm):
            return layer
        out = cls(layer._num_features, layer._momentum, layer._epsilon, data_format=layer._data_format, name=layer._name)
        out._parameters.update(layer._parameters)
        out.training = layer.training
        return out


class BatchNorm(_BatchNorm):
    """Batch normalization of any number of dimensions, with an activation after it.

    Arguments:
        num_channels: channels.
        act: name of the activation.
        is_test: start in evaluation mode.
        momentum, epsilon, use_global_stats: as in BatchNorm2D.
        param_attr, bias_attr: ParamAttr of scale and shift.
        data_layout: where the channels are.
        moving_mean_name, moving_variance_name: names of the running statistics.
        trainable_statistics: use the batch's statistics also in evaluation.
        in_place, do_model_average_for_mean_and_var: accepted for compatibility.
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__(num_channels, momentum, epsilon, param_attr, bias_attr, data_layout, use_global_stats or None)
        self._act, self._trainable_statistics = act, trainable_statistics
        if moving_mean_name:
            self._mean.name = moving_mean_name
        if moving_variance_name:
            self._variance.name = moving_variance_name
        self.training = not is_test
        if dtype != "float32":
            self.to(dtype=dtype)

    def forward(self, x: Any) -> Any:
        """The input, each channel normalized, and then the activation of it."""
        if self._trainable_statistics and not self.training:
            out = F.batch_norm(
                x, self._mean, self._variance, self.weight, self.bias, epsilon=self._epsilon, data_format=self._data_format, use_global_stats=False
            )
        else:
            out = super().forward(x)
        return out if self._act is None else getattr(F, self._act)(out)

    def extra_repr(self) -> str:
        """Nothing, as its settings are many."""
        return ""


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
        super().__init__(dtype=dtype or "float32")
        self._normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self._epsilon = epsilon
        size = [math.prod(self._normalized_shape)]
        weight_attr = weight_attr if elementwise_affine else False
        bias_attr = bias_attr if elementwise_affine and bias else False
        self.weight = self.create_parameter(size, weight_attr, default_initializer=ONE, device=device)
        self.bias = self.create_parameter(size, bias_attr, is_bias=True, device=device)

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
    """

    def __init__(self, hidden_size: Any, epsilon: float = 1e-6, weight_attr: Any = None, name: str | None = None) -> None:
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
        super().__init__(dtype=dtype or "float32")
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not divide into {num_groups} groups")
        self._num_groups, self._num_channels, self._epsilon, self._data_format = num_groups, num_channels, epsilon, data_format
        self.weight = self.create_parameter([num_channels], weight_attr if affine else False, default_initializer=ONE, device=device)
        self.bias = self.create_parameter([num_channels], bias_attr if affine else False, is_bias=True, device=device)

    def forward(self, x: Any) -> Any:
        """The input, each group of channels normalized."""
        return F.group_norm(x, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        """Its settings."""
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class _InstanceNorm(Layer):
    _dims: tuple[int, ...] = ()
    _default_format = "NCHW"

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
            raise ValueError(f"{type(self).__name__}: an input of {expected} dimensions is expected, got the shape {input.shape}")
        return F.instance_norm(
            input, weight=self.scale, bias=self.bias, momentum=self._momentum, eps=self._epsilon, data_format=self._data_format
        )

    def extra_repr(self) -> str:
        """Its settings."""
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNorm):
    """Normalizes each channel of each sequence [N, C, L] on its own (Ulyanov et al., 2016)."""

    _dims, _default_format = (2, 3), "NCL"


class InstanceNorm2D(_InstanceNorm):
    """Normalizes each channel of each image [N, C, H, W] on its own (Ulyanov et al., 2016)."""

    _dims = (4,)


class InstanceNorm3D(_InstanceNorm):
    """Normalizes each channel of each volume [N, C, D, H, W] on its own (Ulyanov et al., 2016)."""

    _dims, _default_format = (5,), "NCDHW"


class LocalResponseNorm(FunctionLayer):
    """Divides by a function of the neighbouring channels (Krizhevsky et al., 2012)."""

    _function = "local_response_norm"
    _settings = {"size": REQUIRED, "alpha": 0.0001, "beta": 0.75, "k": 1.0, "data_format": "NCHW"}


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, found by power iteration (Miyato et al., 2018).

    Arguments:
        weight_shape: shape of the weights that it is called with.
        dim: the dimension that is the rows of the matrix.
        power_iters: iterations in each call.
        eps: keeps the divisors from zero.
    """

    def __init__(
        self, weight_shape: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, dtype: Any = "float32"
    ) -> None:
        super().__init__(dtype=dtype)
        self._dim, self._power_iters, self._eps = dim, power_iters, eps
        rows = weight_shape[dim]
        attr = ParamAttr(trainable=False)
        self.weight_u = self.create_parameter([rows], attr, default_initializer=Normal(0.0, 1.0))
        self.weight_v = self.create_parameter([int(np.prod(weight_shape)) // rows], attr, default_initializer=Normal(0.0, 1.0))

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
