"""Batch normalization."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.interpreter import no_grad
from ..core.no_effect import MEMORY, Immaterial, no_effect
from ..core.param_attr import ParamAttr
from ..core.processes import gathered_rows, world
from ..eager.pending import payload_of
from ..ops.joining import stack
from . import functional as F
from .base import Layer
from .formats import check_format, check_rank, show_default
from .initializer import Constant
from .named_activation import apply_activation

__all__ = ["BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "SyncBatchNorm"]

ONE = Constant(1.0)


class _BatchNorm(Layer):
    """Batch normalization (Ioffe and Szegedy, 2015): by the batch's statistics while training, else by running ones.

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

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        show_default(cls, cls._default_format)

    _in_place = False  # which subclasses of other packages read

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
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([num_features], weight_attr, default_initializer=ONE)
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        mean, variance = self.__dict__.get("_statistic_names", (None, None))
        self._mean, self._variance = self._statistic(0.0, mean), self._statistic(1.0, variance)

    def _statistic(self, value: float, name: str | None = None) -> Any:
        attr = ParamAttr(name=name, initializer=Constant(value), trainable=False)
        return self.create_parameter([self._num_features], attr)

    def _statistics(self) -> list[Any]:
        # They are parameters: a loop that unfreezes all of these must not have an optimizer train them.
        return [v if v.stop_gradient else v.detach() for v in (self._mean, self._variance)]

    def _check_data_format(self, input: str | None = None) -> None:
        # A subclass of a user may call it before a forward of its own, as it does _check_input_dim().
        check_format(type(self).__name__, self._data_format if input is None else input, self._default_format)

    def _check_input_dim(self, input: Any) -> None:
        check_rank(type(self).__name__, input, self._dims)

    def forward(self, input: Any) -> Any:
        """Return the input, each channel normalized."""
        self._check_input_dim(input)
        return F.batch_norm(
            input,
            *self._statistics(),
            self.weight,
            self.bias,
            training=self.training,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_format,
            use_global_stats=self._use_global_stats,
        )

    def extra_repr(self) -> str:
        """Return its settings."""
        placed = "" if self._data_format == "NCHW" else f", data_format={self._data_format}"
        named = f", name={self._name}" if self._name else ""
        return f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}{placed}{named}"


class _BatchNormBase(_BatchNorm):
    """The base of all of them but the older BatchNorm, by which programs tell them from it."""


class BatchNorm1D(_BatchNormBase):
    """Batch normalization of inputs [N, C] or [N, C, L] (Ioffe and Szegedy, 2015).

    `y = (x - mean) / sqrt(var + epsilon) * weight + bias` for each channel. In training mode mean and variance are
    those of the batch, and the running statistics are updated as `running = momentum * running + (1 - momentum) *
    batch`. In evaluation mode the running statistics are used.

    Arguments:
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        Input: [N, C] or [N, C, L].
        Output: the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.BatchNorm1D(2)(paddle.to_tensor([[1.0, 2.0], [3.0, 6.0]])).round().tolist()
        [[-1.0, -1.0], [1.0, 1.0]]
    """

    _dims, _default_format = (2, 3), "NCL"


class BatchNorm2D(_BatchNormBase):
    """Batch normalization of inputs [N, C, H, W] (Ioffe and Szegedy, 2015).

    `y = (x - mean) / sqrt(var + epsilon) * weight + bias` for each channel. In training mode mean and variance are
    those of the batch, and the running statistics are updated as `running = momentum * running + (1 - momentum) *
    batch`. In evaluation mode the running statistics are used.

    Arguments:
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        Input: [N, C, H, W].
        Output: the shape of the input.

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


class BatchNorm3D(_BatchNormBase):
    """Batch normalization of inputs [N, C, D, H, W] (Ioffe and Szegedy, 2015).

    `y = (x - mean) / sqrt(var + epsilon) * weight + bias` for each channel. In training mode mean and variance are
    those of the batch, and the running statistics are updated as `running = momentum * running + (1 - momentum) *
    batch`. In evaluation mode the running statistics are used.

    Arguments:
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        Input: [N, C, D, H, W].
        Output: the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.BatchNorm3D(2)(paddle.ones([1, 2, 3, 3, 3])).shape
        paddle.Size([1, 2, 3, 3, 3])
    """

    _dims, _default_format = (5,), "NCDHW"


class SyncBatchNorm(_BatchNormBase):
    """Batch normalization with the statistics of the batches of all processes; with one process, as BatchNorm2D.

    Arguments:
        momentum: weight of the old running statistics in an update. Default: 0.9.
        data_format: "NCHW", "NHWC", or the formats of other ranks. Default: 'NCHW'.

    Shape:
        Input: [N, C, *] with any number of spatial dimensions.
        Output: the shape of the input.

    Raises:
        RuntimeError: in forward(), if several processes were started without paddle.distributed.init_parallel_env().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SyncBatchNorm(2)(paddle.ones([3, 2])).shape
        paddle.Size([3, 2])
    """

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

    def forward(self, input: Any) -> Any:
        """Return the input with each channel normalized by the statistics of all processes."""
        if not self.training or world().size == 1:
            return super().forward(input)
        if not gathered_rows:
            raise RuntimeError("SyncBatchNorm: call paddle.distributed.init_parallel_env() first")
        wide = input if input.dtype.name == "float64" else input.astype("float32")
        channel = input.ndim - 1 if self._data_format[-1] == "C" and input.ndim > 2 else 1
        mean, variance = self._of_all(wide, [i for i in range(input.ndim) if i != channel])
        self._move(mean.detach(), variance.detach())
        shape = [1] * input.ndim
        shape[channel] = -1
        out = (wide - mean.reshape(shape)) * (variance + self._epsilon).rsqrt().reshape(shape)
        if self.weight is not None:
            out = out * self.weight.reshape(shape)
        if self.bias is not None:
            out = out + self.bias.reshape(shape)
        return out.astype(input.dtype)

    def _of_all(self, x: Any, axes: list[int]) -> tuple[Any, Any]:
        """Mean and variance of each channel; each process gives its own, and of how many elements they are."""
        own = x.mean(axes, keepdim=True)
        spread = (x - own).square().mean(axes)
        count = (spread * 0 + 1).detach() * (x.size // self._num_features)
        rows = gathered_rows[0](stack([own.flatten(), spread, count]))
        means, variances, counts = rows.unbind(1)
        share = counts / counts.sum(0, keepdim=True)
        mean = (means * share).sum(0)
        return mean, ((variances + (means - mean).square()) * share).sum(0)

    def _move(self, mean: Any, variance: Any) -> None:
        with no_grad():
            for running, new in ((self._mean, mean), (self._variance, variance)):
                running._set_payload(payload_of(running * self._momentum + new * (1.0 - self._momentum)))

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """Replace every BatchNorm1D, 2D and 3D in a layer by SyncBatchNorm; parameters and statistics are shared.

        Arguments:
            layer: the layer, or model, to convert.

        Returns:
            The converted layer: `layer` itself, or a SyncBatchNorm if `layer` is a batch normalization.
        """
        for name, inner in list(layer._sub_layers.items()):
            layer._sub_layers[name] = cls.convert_sync_batchnorm(inner)
        if not isinstance(layer, _BatchNormBase) or isinstance(layer, SyncBatchNorm):
            return layer
        out = cls(
            layer._num_features, layer._momentum, layer._epsilon, data_format=layer._data_format, name=layer._name
        )
        out._parameters.update(layer._parameters)
        out.training = layer.training
        return out


class BatchNorm(_BatchNorm):
    """Batch normalization of inputs with any number of spatial dimensions, followed by an optional activation.

    Arguments:
        num_channels: number of channels of the input.
        act: name of an activation to apply to the output, such as "relu"; None: none.
        is_test: create the layer in evaluation mode. Default: False.
        momentum: weight of the old running statistics in an update. Default: 0.9.
        param_attr: ParamAttr, initializer or name of the scale; None: ones; False: no scale.
        dtype: dtype of the parameters. Default: 'float32'.
        data_layout: position of the channels: "NCHW" or "NHWC". Default: 'NCHW'.
        moving_mean_name: name of the running mean; None: a unique one.
        moving_variance_name: name of the running variance; None: a unique one.
        use_global_stats: use the running statistics in training too. Default: False.
        trainable_statistics: use the statistics of the batch in evaluation too. Default: False.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.BatchNorm(2, act="relu")(paddle.ones([3, 2])).shape
        paddle.Size([3, 2])
    """

    @no_effect(in_place=MEMORY, do_model_average_for_mean_and_var=Immaterial("ModelAverage averages parameters only"))
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
        self.__dict__["_statistic_names"] = moving_mean_name, moving_variance_name
        super().__init__(num_channels, momentum, epsilon, param_attr, bias_attr, data_layout, use_global_stats or None)
        self._param_attr = param_attr
        self._act, self._trainable_statistics = act, trainable_statistics
        self.training = not is_test
        if dtypes.as_dtype(dtype) is not dtypes.default_dtype():
            self.to(dtype=dtype)

    def forward(self, input: Any) -> Any:
        """Return the input with each channel normalized, after the activation."""
        if self._trainable_statistics and not self.training:
            out = F.batch_norm(
                input,
                *self._statistics(),
                self.weight,
                self.bias,
                epsilon=self._epsilon,
                data_format=self._data_format,
                use_global_stats=False,
            )
        else:
            out = super().forward(input)
        return apply_activation(out, self._act)

    def extra_repr(self) -> str:
        """Nothing, as its settings are many."""
        return ""
