"""Layers that rearrange, pad or resize images."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .base import Layer
from .formats import CHANNELS_FIRST, show_default
from .function_layer import REQUIRED, FunctionLayer

__all__ = [
    *("ChannelShuffle", "CircularPad1D", "CircularPad2D", "CircularPad3D", "ConstantPad1D", "ConstantPad2D"),
    *("ConstantPad3D", "Fold", "Pad1D", "Pad2D", "Pad3D", "PixelShuffle", "PixelUnshuffle", "ReflectionPad1D"),
    *("ReflectionPad2D", "ReflectionPad3D", "ReplicationPad1D", "ReplicationPad2D", "ReplicationPad3D", "Unfold"),
    *("Upsample", "UpsamplingBilinear2D", "UpsamplingNearest2D", "ZeroPad1D", "ZeroPad2D", "ZeroPad3D"),
]


class PixelShuffle(FunctionLayer):
    """Rearrange channels into space: [N, C * r**2, H, W] becomes [N, C, H * r, W * r] (Shi et al., 2016).

    Arguments:
        upscale_factor: the factor r of height and width.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.PixelShuffle(2)(paddle.ones([1, 4, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """

    _function, _settings = "pixel_shuffle", {"upscale_factor": REQUIRED, "data_format": "NCHW"}


class PixelUnshuffle(FunctionLayer):
    """Rearrange space into channels: [N, C, H * r, W * r] becomes [N, C * r**2, H, W], the inverse of PixelShuffle.

    Arguments:
        downscale_factor: the factor r by which height and width shrink.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.PixelUnshuffle(2)(paddle.ones([1, 1, 4, 4])).shape
        paddle.Size([1, 4, 2, 2])
    """

    _function, _settings = "pixel_unshuffle", {"downscale_factor": REQUIRED, "data_format": "NCHW"}


class ChannelShuffle(FunctionLayer):
    """Interleave the channels of groups: reshape to [groups, C / groups], transpose and flatten (Zhang et al., 2017).

    Arguments:
        groups: number of groups; it must divide the number of channels.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ChannelShuffle(2)(paddle.arange(4.0).reshape([1, 4, 1, 1])).flatten().tolist()
        [0.0, 2.0, 1.0, 3.0]
    """

    _function, _settings = "channel_shuffle", {"groups": REQUIRED, "data_format": "NCHW"}


class Upsample(FunctionLayer):
    """Resize the spatial dimensions to a size or by a factor, with interpolation.

    Arguments:
        size: spatial size of the output, a list of integers; give either size or scale_factor.
        scale_factor: factor of the spatial size, a number or one for each spatial dimension.
        mode: "nearest", "linear" (3-D inputs), "bilinear" or "bicubic" (4-D), "trilinear" (5-D), or "area". Default:
            'nearest'.
        align_corners: align the centers of the corner elements of input and output. Default: False.
        align_mode: 0: source index `scale * (i + 0.5) - 0.5`; 1: `scale * i`; for linear modes without align_corners.
            Default: 0.
        data_format: "NCW", "NCHW", "NCDHW" or the channels-last formats; None: channels first.
        recompute_scale_factor: compute the scale anew from the input and output sizes.

    Shape:
        Input: 3-D to 5-D, [N, C, *spatial].
        Output: [N, C, *size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Upsample(scale_factor=2)(paddle.ones([1, 1, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """

    _function = "interpolate"
    _settings = {
        **{"size": None, "scale_factor": None, "mode": "nearest", "align_corners": False, "align_mode": 0},
        **{"data_format": None, "recompute_scale_factor": None},
    }

    def extra_repr(self) -> str:
        """Return its settings."""
        what = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        how = f"mode={self.mode}, align_corners={self.align_corners}, align_mode={self.align_mode}"
        return f"{what}, {how}, data_format={self.data_format}" + (f", name={self._name}" if self._name else "")


class _Upsampling2D(FunctionLayer):
    _settings = {"size": None, "scale_factor": None, "data_format": "NCHW"}
    _mode: dict[str, Any] = {}

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the images, resized."""
        return F.interpolate(
            *inputs,
            **kwargs,
            size=self.size,
            scale_factor=self.scale_factor,
            data_format=self.data_format,
            **self._mode,
        )

    def extra_repr(self) -> str:
        """Return its settings."""
        size = [self.size] * 2 if isinstance(self.size, int) else self.size
        what = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={size}"
        return f"{what}, data_format={self.data_format}" + (f", name={self._name}" if self._name else "")


class UpsamplingNearest2D(_Upsampling2D):
    """Resize images [N, C, H, W] by nearest-neighbor interpolation.

    Arguments:
        size: height and width of the output; give either size or scale_factor.
        scale_factor: factor of height and width, a number or two.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.UpsamplingNearest2D([4, 4])(paddle.ones([1, 1, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """

    _mode = {"mode": "nearest"}


class UpsamplingBilinear2D(_Upsampling2D):
    """Resize images [N, C, H, W] by bilinear interpolation with aligned corners.

    Arguments:
        size: height and width of the output; give either size or scale_factor.
        scale_factor: factor of height and width, a number or two.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.UpsamplingBilinear2D([4, 4])(paddle.ones([1, 1, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """

    _mode = {"mode": "bilinear", "align_corners": True, "align_mode": 0}


class _Windows(FunctionLayer):
    def extra_repr(self) -> str:
        """Return its settings."""
        windows = f"kernel_size={self.kernel_sizes}, dilation={self.dilations}"
        where = f"padding={self.paddings}, stride={self.strides}"
        return f"{windows}, {where}" + (f", name={self._name}" if self._name else "")


class Unfold(_Windows):
    """Extract sliding windows of images as columns (im2col).

    Arguments:
        kernel_sizes: height and width of the window, an integer or two.
        dilations: distance between neighboring elements of the window, an integer or two. Default: 1.
        paddings: zero padding, an integer, two (height, width) or four (top, left, bottom, right). Default: 0.
        strides: step of the window, an integer or two. Default: 1.

    Shape:
        Input: [N, C, H, W].
        Output: [N, C * kernel_height * kernel_width, number of windows].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Unfold(2)(paddle.ones([1, 1, 3, 3])).shape
        paddle.Size([1, 4, 4])
    """

    _function = "unfold"
    _settings = {"kernel_sizes": REQUIRED, "dilations": 1, "paddings": 0, "strides": 1}


class Fold(_Windows):
    """Sum columns of sliding windows into images (col2im): the adjoint of Unfold.

    Arguments:
        output_sizes: height and width of the images, an integer or two.
        kernel_sizes: height and width of the window, an integer or two.
        dilations: distance between neighboring elements of the window, an integer or two. Default: 1.
        paddings: zero padding that Unfold used, an integer, two or four. Default: 0.
        strides: step of the window, an integer or two. Default: 1.

    Shape:
        Input: [N, C * kernel_height * kernel_width, number of windows].
        Output: [N, C, *output_sizes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Fold([3, 3], 2)(paddle.ones([1, 4, 4])).shape
        paddle.Size([1, 1, 3, 3])
    """

    _function = "fold"
    _settings = {"output_sizes": REQUIRED, "kernel_sizes": REQUIRED, "dilations": 1, "paddings": 0, "strides": 1}


class _Pad(Layer):
    """Pads the last dimensions but the channels; `_n` of them."""

    _n = 2
    _mode = "constant"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        show_default(cls, CHANNELS_FIRST[cls._n])

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.padding = [padding] * (2 * self._n) if isinstance(padding, int) else padding
        self._mode, self.value, self._name = mode, value, name
        self._data_format = data_format or CHANNELS_FIRST[self._n]

    def forward(self, x: Any) -> Any:
        """Return the input, padded."""
        return F.pad(x, self.padding, mode=self._mode, value=self.value, data_format=self._data_format)

    def extra_repr(self) -> str:
        """Return its settings."""
        named = f", name={self._name}" if self._name else ""
        return f"padding={self.padding}, mode={self._mode}, value={self.value}, data_format={self._data_format}{named}"


class Pad1D(_Pad):
    """Pad sequences [N, C, L] with constant, reflected, replicated or circular values.

    Arguments:
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Pad1D([1, 2])(paddle.ones([1, 1, 3])).shape
        paddle.Size([1, 1, 6])
    """

    _n = 1


class Pad2D(_Pad):
    """Pad images [N, C, H, W] with constant, reflected, replicated or circular values.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom], or one integer for all sides.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Pad2D([1, 0, 0, 0])(paddle.ones([1, 1, 1, 2])).tolist()
        [[[[0.0, 1.0, 1.0]]]]
    """


class Pad3D(_Pad):
    """Pad volumes [N, C, D, H, W] with constant, reflected, replicated or circular values.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom, front, back], or one integer for all sides.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Pad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
        paddle.Size([1, 1, 4, 4, 4])
    """

    _n = 3


class _ModePad(_Pad):
    def __init__(self, padding: Any, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__(padding, type(self)._mode, 0.0, data_format, name)


class ZeroPad1D(_ModePad, Pad1D):
    """Pad sequences [N, C, L] with zeros.

    Arguments:
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ZeroPad1D(1)(paddle.ones([1, 1, 2])).shape
        paddle.Size([1, 1, 4])
    """

    _n = 1


class ZeroPad2D(_ModePad, Pad2D):
    """Pad images [N, C, H, W] with zeros.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom], or one integer for all sides.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ZeroPad2D(1)(paddle.ones([1, 1, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """


class ZeroPad3D(_ModePad, Pad3D):
    """Pad volumes [N, C, D, H, W] with zeros.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom, front, back], or one integer for all sides.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ZeroPad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
        paddle.Size([1, 1, 4, 4, 4])
    """

    _n = 3


class ReflectionPad1D(_ModePad, Pad1D):
    """Pad sequences [N, C, L] by reflection at the borders, without repeating the border elements.

    Arguments:
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReflectionPad1D([1, 1])(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[2.0, 1.0, 2.0, 3.0, 2.0]]]
    """

    _n, _mode = 1, "reflect"


class ReflectionPad2D(_ModePad, Pad2D):
    """Pad images [N, C, H, W] by reflection at the borders, without repeating the border elements.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom], or one integer for all sides.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReflectionPad2D([1, 0, 0, 0])(paddle.to_tensor([[[[1.0, 2.0, 3.0]]]])).tolist()
        [[[[2.0, 1.0, 2.0, 3.0]]]]
    """

    _mode = "reflect"


class ReflectionPad3D(_ModePad, Pad3D):
    """Pad volumes [N, C, D, H, W] by reflection at the borders, without repeating the border elements.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom, front, back], or one integer for all sides.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReflectionPad3D([1, 0, 0, 0, 0, 0])(paddle.to_tensor([[[[[1.0, 2.0, 3.0]]]]])).flatten().tolist()
        [2.0, 1.0, 2.0, 3.0]
    """

    _n, _mode = 3, "reflect"


class ReplicationPad1D(_ModePad, Pad1D):
    """Pad sequences [N, C, L] by repeating the border elements.

    Arguments:
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReplicationPad1D([1, 1])(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[1.0, 1.0, 2.0, 3.0, 3.0]]]
    """

    _n, _mode = 1, "replicate"


class ReplicationPad2D(_ModePad, Pad2D):
    """Pad images [N, C, H, W] by repeating the border elements.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom], or one integer for all sides.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReplicationPad2D([1, 0, 0, 0])(paddle.to_tensor([[[[1.0, 2.0, 3.0]]]])).tolist()
        [[[[1.0, 1.0, 2.0, 3.0]]]]
    """

    _mode = "replicate"


class ReplicationPad3D(_ModePad, Pad3D):
    """Pad volumes [N, C, D, H, W] by repeating the border elements.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom, front, back], or one integer for all sides.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReplicationPad3D([1, 0, 0, 0, 0, 0])(paddle.to_tensor([[[[[1.0, 2.0, 3.0]]]]])).flatten().tolist()
        [1.0, 1.0, 2.0, 3.0]
    """

    _n, _mode = 3, "replicate"


class CircularPad1D(_ModePad, Pad1D):
    """Pad sequences [N, C, L] circularly, with elements of the opposite side.

    Arguments:
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CircularPad1D([1, 1])(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[3.0, 1.0, 2.0, 3.0, 1.0]]]
    """

    _n, _mode = 1, "circular"


class CircularPad2D(_ModePad, Pad2D):
    """Pad images [N, C, H, W] circularly, with elements of the opposite side.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom], or one integer for all sides.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CircularPad2D([1, 0, 0, 0])(paddle.to_tensor([[[[1.0, 2.0, 3.0]]]])).tolist()
        [[[[3.0, 1.0, 2.0, 3.0]]]]
    """

    _mode = "circular"


class CircularPad3D(_ModePad, Pad3D):
    """Pad volumes [N, C, D, H, W] circularly, with elements of the opposite side.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom, front, back], or one integer for all sides.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CircularPad3D([1, 0, 0, 0, 0, 0])(paddle.to_tensor([[[[[1.0, 2.0, 3.0]]]]])).flatten().tolist()
        [3.0, 1.0, 2.0, 3.0]
    """

    _n, _mode = 3, "circular"


class _ConstantPad(_Pad):
    def __init__(self, padding: Any, value: float, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class ConstantPad1D(_ConstantPad, Pad1D):
    """Pad sequences [N, C, L] with a constant value.

    Arguments:
        value: the value of the padding.
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ConstantPad1D([1, 1], 0.0)(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[0.0, 1.0, 2.0, 3.0, 0.0]]]
    """

    _n = 1


class ConstantPad2D(_ConstantPad, Pad2D):
    """Pad images [N, C, H, W] with a constant value.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom], or one integer for all sides.
        value: the value of the padding.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ConstantPad2D([1, 0, 0, 0], 0.0)(paddle.to_tensor([[[[1.0, 2.0, 3.0]]]])).tolist()
        [[[[0.0, 1.0, 2.0, 3.0]]]]
    """


class ConstantPad3D(_ConstantPad, Pad3D):
    """Pad volumes [N, C, D, H, W] with a constant value.

    Arguments:
        padding: number of elements to add, [left, right, top, bottom, front, back], or one integer for all sides.
        value: the value of the padding.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        The output is larger than the input by the padding of each spatial dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[[[[1.0, 2.0, 3.0]]]]])
        >>> paddle.nn.ConstantPad3D([1, 0, 0, 0, 0, 0], 0.0)(x).flatten().tolist()
        [0.0, 1.0, 2.0, 3.0]
    """

    _n = 3
