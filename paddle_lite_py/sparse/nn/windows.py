"""Convolution, pooling and normalization layers of sparse tensors."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ...core.no_effect import KERNELS, Immaterial, no_effect
from ...nn import batch_norm
from ...nn.base import Layer
from ...nn.conv import as_list
from ...nn.initializer import Normal
from . import convolution

__all__ = ["BatchNorm", "Conv2D", "Conv3D", "MaxPool3D", "SubmConv2D", "SubmConv3D", "SyncBatchNorm"]


class _SparseConv(Layer):
    """Base class of sparse convolutions; subclasses set the number of dimensions."""

    _n: ClassVar[int]
    _same_sites: ClassVar[bool] = False

    def _make(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        groups: int, padding_mode: str, weight_attr: Any, bias_attr: Any, data_format: str,
    ) -> None:  # fmt: skip
        who = type(self).__name__
        if groups != 1 or padding_mode != "zeros":
            raise ValueError(
                f"sparse {who}: groups is {groups} and padding_mode {padding_mode!r}; expected 1 and 'zeros'"
            )
        self._in_channels, self._out_channels, self._data_format = in_channels, out_channels, data_format
        self._kernel_size = as_list(kernel_size, self._n, f"{who}: kernel_size")
        self._stride, self._padding, self._dilation = stride, padding, dilation
        taps = math.prod(self._kernel_size) * in_channels
        shape = [*self._kernel_size, in_channels, out_channels]
        self.weight = self.create_parameter(
            shape, weight_attr, default_initializer=Normal(0.0, math.sqrt(2.0 / max(taps, 1)))
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Apply the convolution."""
        function = getattr(convolution, f"{'subm_' * self._same_sites}conv{self._n}d")
        settings = self._stride, self._padding, self._dilation
        return function(x, self.weight, self.bias, *settings, data_format=self._data_format)

    def extra_repr(self) -> str:
        """Return the settings that differ from the defaults, as text."""
        out = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        for name, default in (("stride", 1), ("padding", 0), ("dilation", 1)):
            value = getattr(self, f"_{name}")
            out += f", {name}={value}" if value not in (default, [default] * self._n) else ""
        return f"{out}, data_format={self._data_format}"


class Conv2D(_SparseConv):
    """Sparse 2-D convolution of [N, H, W, C]; the output has a site wherever the window covers an input site.

    Arguments:
        in_channels, out_channels: int, number of input and output channels.
        kernel_size, stride, padding, dilation: int or two ints, the geometry of the window.
        groups, padding_mode: only 1 and "zeros" are supported.
        weight_attr, bias_attr: ParamAttr of the weight [KH, KW, C_in, C_out] and of the bias; `bias_attr=False`: no
            bias.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1]], [[1.0, 2.0]], [1, 4, 4, 2])
        >>> paddle.sparse.nn.Conv2D(2, 3, 3, padding=1)(x).values().shape
        paddle.Size([9, 3])
    """

    _n = 2

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, padding_mode: str = "zeros", weight_attr: Any = None, bias_attr: Any = None,
        data_format: str = "NHWC",
    ) -> None:  # fmt: skip
        super().__init__()
        window = kernel_size, stride, padding, dilation
        self._make(in_channels, out_channels, *window, groups, padding_mode, weight_attr, bias_attr, data_format)


class Conv3D(_SparseConv):
    """Sparse 3-D convolution of [N, D, H, W, C]; see `Conv2D`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1], [1]], [[1.0, 2.0]], [1, 4, 4, 4, 2])
        >>> paddle.sparse.nn.Conv3D(2, 3, 3, padding=1)(x).values().shape
        paddle.Size([27, 3])
    """

    _n = 3

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, padding_mode: str = "zeros", weight_attr: Any = None, bias_attr: Any = None,
        data_format: str = "NDHWC",
    ) -> None:  # fmt: skip
        super().__init__()
        window = kernel_size, stride, padding, dilation
        self._make(in_channels, out_channels, *window, groups, padding_mode, weight_attr, bias_attr, data_format)


_AT_PLACES = Immaterial("what meets where is kept with the places")


class SubmConv2D(_SparseConv):
    """Submanifold sparse 2-D convolution: the output has the sites of the input; see `Conv2D`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1]], [[1.0, 2.0]], [1, 4, 4, 2])
        >>> paddle.sparse.nn.SubmConv2D(2, 3, 3)(x).values().shape
        paddle.Size([1, 3])
    """

    _n, _same_sites = 2, True

    @no_effect(key=_AT_PLACES, backend=KERNELS)
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, padding_mode: str = "zeros", key: str | None = None,
        weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NHWC", backend: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        window = kernel_size, stride, padding, dilation
        self._make(in_channels, out_channels, *window, groups, padding_mode, weight_attr, bias_attr, data_format)


class SubmConv3D(_SparseConv):
    """Submanifold sparse 3-D convolution; see `SubmConv2D`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1], [1]], [[1.0, 2.0]], [1, 4, 4, 4, 2])
        >>> paddle.sparse.nn.SubmConv3D(2, 3, 3)(x).values().shape
        paddle.Size([1, 3])
    """

    _n, _same_sites = 3, True

    @no_effect(key=_AT_PLACES, backend=KERNELS)
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, padding_mode: str = "zeros", key: str | None = None,
        weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NDHWC", backend: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        window = kernel_size, stride, padding, dilation
        self._make(in_channels, out_channels, *window, groups, padding_mode, weight_attr, bias_attr, data_format)


class MaxPool3D(Layer):
    """Sparse 3-D max pooling; see `paddle.sparse.nn.functional.max_pool3d()`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1], [1]], [[1.0, 2.0]], [1, 4, 4, 4, 2])
        >>> paddle.sparse.nn.MaxPool3D(2)(x).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False,
        ceil_mode: bool = False, data_format: str = "NDHWC", name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if return_mask:
            raise ValueError("sparse MaxPool3D: return_mask is True; expected False")
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode, self.data_format = ceil_mode, data_format

    def forward(self, x: Any) -> Any:
        """Apply the pooling."""
        return convolution.max_pool3d(x, self.ksize, self.stride, self.padding, self.ceil_mode, self.data_format)

    def extra_repr(self) -> str:
        """Return the settings as text."""
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"


class BatchNorm(batch_norm._BatchNormBase):
    """Batch normalization of a sparse tensor with dense channels, over its sites; see `paddle.nn.BatchNorm1D`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [1, 2], [1, 0]], [[1.0], [3.0]], [1, 4, 4, 1])
        >>> paddle.sparse.nn.BatchNorm(1)(x).values().round().tolist()
        [[-1.0], [1.0]]
    """

    _dims, _default_format = (2,), "NDHWC"

    def forward(self, input: Any) -> Any:
        """Normalize each channel."""
        return input._with(super().forward(input.values()))


class SyncBatchNorm(batch_norm.SyncBatchNorm):
    """Batch normalization of a sparse tensor with statistics over all processes; with one process, `BatchNorm`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [1, 2], [1, 0]], [[1.0], [3.0]], [1, 4, 4, 1])
        >>> paddle.sparse.nn.SyncBatchNorm(1)(x).values().round().tolist()
        [[-1.0], [1.0]]
    """

    def forward(self, x: Any) -> Any:
        """Normalize each channel."""
        return x._with(super().forward(x.values()))

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """Replace each sparse batch normalization of a layer by a synchronous one; parameters are shared."""
        if isinstance(layer, BatchNorm):
            return super().convert_sync_batchnorm(layer)
        for name, inner in list(layer._sub_layers.items()):
            layer._sub_layers[name] = cls.convert_sync_batchnorm(inner)
        return layer
