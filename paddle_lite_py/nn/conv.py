"""Convolutions."""

from __future__ import annotations

import math
from typing import Any

from ..ops.convolution import paddings
from . import functional as F
from .base import Layer
from .formats import CHANNELS_FIRST, show_default
from .initializer import Normal

__all__ = ["Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose"]


def as_list(value: Any, n: int, what: str) -> list[int]:
    """Return an integer repeated n times, or a sequence of n integers as a list.

    Raises:
        ValueError: if there are others than n.
    """
    out = [value] * n if isinstance(value, int) else list(value)
    if len(out) != n:
        raise ValueError(f"{what} is {value!r}; expected a number or {n} of them")
    return out


class _Conv(Layer):
    """The base of all convolution layers; subclasses set the number of dimensions."""

    _n = 2
    _transposed = False
    _use_cudnn = False  # what PaddlePaddle's layers have where it runs on CPUs; subclasses pass it on

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        output_padding: Any,
        dilation: Any,
        groups: int,
        padding_mode: str,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
    ) -> None:
        super().__init__()
        who = type(self).__name__
        if in_channels % groups or (out_channels % groups and not self._transposed):
            raise ValueError(
                f"{who}: in_channels {in_channels} and out_channels {out_channels} must divide into {groups} groups"
            )
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f"{who}: padding_mode is {padding_mode!r}; expected 'zeros', 'reflect', 'replicate' or 'circular'"
            )
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = as_list(kernel_size, self._n, f"{who}: kernel_size")
        self._stride = as_list(stride, self._n, f"{who}: stride")
        self._dilation = as_list(dilation, self._n, f"{who}: dilation")
        self._padding, self._padding_mode, self._data_format = padding, padding_mode, data_format
        self.output_padding = output_padding
        outer = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        taps = math.prod(self._kernel_size) * in_channels
        if taps < 1:
            raise ValueError(f"{who}: in_channels is {in_channels} and kernel_size {kernel_size}; expected at least 1")
        default = None if self._transposed else Normal(0.0, math.sqrt(2.0 / taps))
        self._param_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([*outer, *self._kernel_size], weight_attr, default_initializer=default)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    @property
    def _padding_algorithm(self) -> str:
        same_or_valid = isinstance(self._padding, str) and self._padding_mode == "zeros"
        return self._padding.upper() if same_or_valid else "EXPLICIT"

    @property
    def _updated_padding(self) -> Any:
        """The padding that is left to the convolution, as numbers."""
        if self._padding_mode != "zeros" or isinstance(self._padding, str):
            return [0] * self._n
        found = paddings(self._padding, self._n, self._data_format)
        return [p for p, _ in found] if all(p == q for p, q in found) else [p for pair in found for p in pair]

    @property
    def _op_type(self) -> str:
        """The operator of PaddlePaddle's, which subclasses give to `functional.conv._conv_nd`."""
        return "depthwise_conv2d" if self._n == 2 and self._groups == self._in_channels > 1 else f"conv{self._n}d"

    @property
    def _channel_dim(self) -> int:
        return 1 if self._data_format.startswith("NC") else self._n + 1

    def _pad(self, x: Any) -> tuple[Any, Any]:
        """Return the input and the padding that is left to the convolution."""
        if self._padding_mode == "zeros":
            return x, self._padding
        widths = [w for p in reversed(as_list(self._padding, self._n, "padding")) for w in (p, p)]
        return F.pad(x, widths, mode=self._padding_mode, data_format=self._data_format), 0

    def extra_repr(self) -> str:
        """Return its settings, but for those at their defaults."""
        out = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        ones = [1] * self._n
        for name, value, default in (
            ("stride", self._stride, ones),
            ("padding", self._padding, 0),
            ("padding_mode", self._padding_mode, "zeros"),
            ("output_padding", self.output_padding, 0),
            ("dilation", self._dilation, ones),
            ("groups", self._groups, 1),
        ):
            out += f", {name}={value}" if value != default else ""
        return f"{out}, data_format={self._data_format}"


class _Forward(_Conv):
    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        show_default(cls, CHANNELS_FIRST[cls._n])

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        *,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        bias_attr = bias_attr if bias else False
        data_format = data_format or CHANNELS_FIRST[self._n]
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            0,
            dilation,
            groups,
            padding_mode,
            weight_attr,
            bias_attr,
            data_format,
        )
        if device is not None or dtype is not None:
            self.to(device, dtype)

    def forward(self, x: Any) -> Any:
        """Return the convolution of x."""
        x, padding = self._pad(x)
        function = getattr(F, f"conv{self._n}d")
        return function(
            x, self.weight, self.bias, self._stride, padding, self._dilation, self._groups, self._data_format
        )


class Conv1D(_Forward):
    """1-D convolution of sequences [N, C, L] with a trainable kernel, plus a bias.

    The kernel is not flipped (cross-correlation). The weight has shape [out_channels, in_channels / groups,
    kernel_size].

    Arguments:
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        Input: [N, in_channels, L].
        Output: [N, out_channels, L_out], where each size is `floor((size + 2 * padding - dilation * (kernel_size - 1) -
            1) / stride) + 1`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Conv1D(2, 4, 3)(paddle.ones([1, 2, 8])).shape
        paddle.Size([1, 4, 6])
    """

    _n = 1


class Conv2D(_Forward):
    """2-D convolution of images [N, C, H, W] with a trainable kernel, plus a bias.

    The kernel is not flipped (cross-correlation). The weight has shape [out_channels, in_channels / groups,
    kernel_height, kernel_width].

    Arguments:
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        Input: [N, in_channels, H, W].
        Output: [N, out_channels, H_out, W_out], where each size is `floor((size + 2 * padding - dilation * (kernel_size
            - 1) - 1) / stride) + 1`.

    Raises:
        ValueError: if the channels do not divide into the groups.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Conv2D(3, 8, 3, padding=1)(paddle.ones([1, 3, 4, 4])).shape
        paddle.Size([1, 8, 4, 4])
    """

    _n = 2


class Conv3D(_Forward):
    """3-D convolution of volumes [N, C, D, H, W] with a trainable kernel, plus a bias.

    The kernel is not flipped (cross-correlation). The weight has shape [out_channels, in_channels / groups,
    kernel_depth, kernel_height, kernel_width].

    Arguments:
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        Input: [N, in_channels, D, H, W].
        Output: [N, out_channels, D_out, H_out, W_out], where each size is `floor((size + 2 * padding - dilation *
            (kernel_size - 1) - 1) / stride) + 1`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Conv3D(2, 4, 3)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 4, 2, 2, 2])
    """

    _n = 3


class _Transposed(_Conv):
    _transposed = True

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """Return the transposed convolution of x; output_size settles a size that the stride leaves open."""
        function = getattr(F, f"conv{self._n}d_transpose")
        return function(
            x,
            self.weight,
            self.bias,
            output_size=output_size,
            output_padding=self.output_padding if output_size is None else 0,
            padding=self._padding,
            stride=self._stride,
            dilation=self._dilation,
            groups=self._groups,
            data_format=self._data_format,
        )


class Conv1DTranspose(_Transposed):
    """1-D transposed convolution of sequences [N, C, L], the gradient of a convolution with respect to its input.

    The weight has shape [in_channels, out_channels / groups, kernel_size].

    Arguments:
        stride: factor by which the input is upsampled, an integer. Default: 1.
        padding: elements removed from both ends of each spatial dimension of the output, an integer; or "SAME" or
            "VALID". Default: 0.
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        Input: [N, in_channels, L].
        Output: [N, out_channels, L_out], where each size is `(size - 1) * stride - 2 * padding + dilation *
            (kernel_size - 1) + output_padding + 1`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Conv1DTranspose(2, 4, 3)(paddle.ones([1, 2, 8])).shape
        paddle.Size([1, 4, 10])
    """

    _n = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            dilation,
            groups,
            "zeros",
            weight_attr,
            bias_attr,
            data_format,
        )


class _TransposedWide(_Transposed):
    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        show_default(cls, CHANNELS_FIRST[cls._n])

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
    ) -> None:
        data_format = data_format or CHANNELS_FIRST[self._n]
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            dilation,
            groups,
            "zeros",
            weight_attr,
            bias_attr,
            data_format,
        )


class Conv2DTranspose(_TransposedWide):
    """2-D transposed convolution of images [N, C, H, W], the gradient of a convolution with respect to its input.

    The weight has shape [in_channels, out_channels / groups, kernel_height, kernel_width].

    Arguments:
        stride: factor by which the input is upsampled, an integer, or two integers. Default: 1.
        padding: elements removed from both ends of each spatial dimension of the output, an integer, or two integers;
            or "SAME" or "VALID". Default: 0.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        Input: [N, in_channels, H, W].
        Output: [N, out_channels, H_out, W_out], where each size is `(size - 1) * stride - 2 * padding + dilation *
            (kernel_size - 1) + output_padding + 1`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Conv2DTranspose(3, 2, 2, stride=2)(paddle.ones([1, 3, 4, 4])).shape
        paddle.Size([1, 2, 8, 8])
    """

    _n = 2


class Conv3DTranspose(_TransposedWide):
    """3-D transposed convolution of volumes [N, C, D, H, W], the gradient of a convolution with respect to its input.

    The weight has shape [in_channels, out_channels / groups, kernel_depth, kernel_height, kernel_width].

    Arguments:
        stride: factor by which the input is upsampled, an integer, or three integers. Default: 1.
        padding: elements removed from both ends of each spatial dimension of the output, an integer, or three integers;
            or "SAME" or "VALID". Default: 0.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        Input: [N, in_channels, D, H, W].
        Output: [N, out_channels, D_out, H_out, W_out], where each size is `(size - 1) * stride - 2 * padding + dilation
            * (kernel_size - 1) + output_padding + 1`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Conv3DTranspose(2, 4, 2)(paddle.ones([1, 2, 3, 3, 3])).shape
        paddle.Size([1, 4, 4, 4, 4])
    """

    _n = 3
