"""Convolutions with torch's arguments, attributes and initialization."""

from __future__ import annotations

import math
from typing import Any

from ... import nn as _nn
from ...nn import functional as F
from ...nn.base import Layer
from ...nn.initializer import Uniform
from ...ops.convolution import tuple_of
from . import functional

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]
nn: Any = _nn  # whose lists of names mypy cannot read


class _ConvNd(Layer):
    """A convolution whose weight and bias start uniform within 1 / sqrt(fan_in); beside the class of the layer."""

    _n = 2
    weight: Any
    bias: Any

    def _make(
        self, base: Any, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any,
        dilation: Any, groups: int, bias: bool, padding_mode: str, device: Any, dtype: Any, **more: Any,
    ) -> None:  # fmt: skip
        n = self._n
        kernel_size = tuple_of(kernel_size, n, "kernel_size")
        stride, dilation = tuple_of(stride, n, "stride"), tuple_of(dilation, n, "dilation")
        padding = padding if isinstance(padding, str) else tuple_of(padding, n, "padding")
        inner = out_channels if base._transposed else in_channels
        fan_in = inner // max(groups, 1) * math.prod(kernel_size)
        bound = max(fan_in, 1) ** -0.5
        start = Uniform(-bound, bound)
        base.__init__(
            self, in_channels, out_channels, list(kernel_size), list(stride),
            padding if isinstance(padding, str) else list(padding), dilation=list(dilation), groups=groups,
            weight_attr=start, bias_attr=start if bias else False, **more,
        )  # fmt: skip
        self.in_channels, self.out_channels, self.groups, self.kernel_size = (
            in_channels, out_channels, groups, kernel_size
        )  # fmt: skip
        self.stride, self.dilation, self.padding, self.padding_mode = stride, dilation, padding, padding_mode
        self.transposed = base._transposed
        self.output_padding = tuple_of(more.get("output_padding", 0), n, "output_padding")
        if device is not None or dtype is not None:
            self.to(device, dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = math.prod(self.weight.shape[1:]) ** -0.5
        for p in self.parameters():
            p.set_value(self.create_parameter(p.shape, default_initializer=Uniform(-bound, bound)))


class _TorchForwardConv(_ConvNd):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        base = getattr(nn, f"Conv{self._n}D")
        self._make(
            base, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
            dtype,
        )  # fmt: skip

    def forward(self, input: Any) -> Any:
        """Return the convolution of the input [N, C, *size], or without a batch [C, *size]."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        n = self._n
        padding: Any = self.padding
        if input.ndim == n + 1:
            return self._conv_forward(input.unsqueeze(0), weight, bias).squeeze(0)
        if self.padding_mode != "zeros":
            pairs = functional.same_padding(self.kernel_size, self.stride, self.dilation) if padding == "same" else (
                [(0, 0)] * n if padding == "valid" else [(p, p) for p in padding]
            )  # fmt: skip
            input = F.pad(input, [w for pair in reversed(pairs) for w in pair], mode=self.padding_mode)
            padding = 0
        function = getattr(functional, f"conv{n}d")
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_TorchForwardConv, nn.Conv1D):
    """paddle.nn.Conv1D with torch's arguments; weight and bias start uniform within 1 / sqrt(fan_in).

    Arguments:
        in_channels: channels of the input [N, C, L].
        out_channels: channels of the output.
        padding: zeros at both ends, or "same" or "valid". Default: 0.
        bias: with a bias. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.Conv1d(4, 2, 4, padding="same")
        >>> layer(paddle.ones([1, 4, 6])).shape, layer.kernel_size, bool(layer.weight.abs().max() <= 0.25)
        (paddle.Size([1, 2, 6]), (4,), True)
    """

    _n = 1


class Conv2d(_TorchForwardConv, nn.Conv2D):
    """paddle.nn.Conv2D of [N, C, H, W] with torch's arguments and initialization; see Conv1d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.Conv2d(1, 3, 2, bias=False)
        >>> layer(paddle.ones([1, 1, 4, 5])).shape, layer.kernel_size, layer.bias
        (paddle.Size([1, 3, 3, 4]), (2, 2), None)
    """

    _n = 2


class Conv3d(_TorchForwardConv, nn.Conv3D):
    """paddle.nn.Conv3D of [N, C, D, H, W] with torch's arguments and initialization; see Conv1d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.Conv3d(1, 2, 2, stride=2)(paddle.ones([1, 1, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    _n = 3


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f"{type(self).__name__}: padding_mode is {padding_mode!r}; expected 'zeros'")
        base = getattr(nn, f"Conv{self._n}DTranspose")
        self._make(
            base, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
            dtype, output_padding=output_padding,
        )  # fmt: skip

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """Return the transposed convolution of the input [N, C, *size], or without a batch [C, *size]."""
        if input.ndim == self._n + 1:
            return self.forward(input.unsqueeze(0), output_size).squeeze(0)
        size = output_size if output_size is None else [*output_size][-self._n :]
        return super().forward(input, size)


class ConvTranspose1d(_ConvTransposeNd, nn.Conv1DTranspose):
    """paddle.nn.Conv1DTranspose of [N, C, L] with torch's arguments; parameters start uniform within 1 / sqrt(fan_in).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.ConvTranspose1d(2, 3, 4, stride=2, bias=False)(paddle.ones([1, 2, 5])).shape
        paddle.Size([1, 3, 12])
    """

    _n = 1


class ConvTranspose2d(_ConvTransposeNd, nn.Conv2DTranspose):
    """paddle.nn.Conv2DTranspose of [N, C, H, W] with torch's arguments and initialization; see ConvTranspose1d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.ConvTranspose2d(2, 3, 4, 2, 1)
        >>> layer(paddle.ones([1, 2, 5, 5])).shape, layer.stride
        (paddle.Size([1, 3, 10, 10]), (2, 2))
    """

    _n = 2


class ConvTranspose3d(_ConvTransposeNd, nn.Conv3DTranspose):
    """paddle.nn.Conv3DTranspose of [N, C, D, H, W] with torch's arguments and initialization; see ConvTranspose1d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.ConvTranspose3d(1, 2, 2)(paddle.ones([1, 1, 2, 2, 2])).shape
        paddle.Size([1, 2, 3, 3, 3])
    """

    _n = 3
