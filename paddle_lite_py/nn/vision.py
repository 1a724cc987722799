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
    """[N, C * r * r, H, W] to [N, C, H * r, W * r] (Shi et al., 2016).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.PixelShuffle(2)(paddle.ones([1, 4, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """

    _function, _settings = "pixel_shuffle", {"upscale_factor": REQUIRED, "data_format": "NCHW"}


class PixelUnshuffle(FunctionLayer):
    """[N, C, H * r, W * r] to [N, C * r * r, H, W].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.PixelUnshuffle(2)(paddle.ones([1, 1, 4, 4])).shape
        paddle.Size([1, 4, 2, 2])
    """

    _function, _settings = "pixel_unshuffle", {"downscale_factor": REQUIRED, "data_format": "NCHW"}


class ChannelShuffle(FunctionLayer):
    """Mixes the channels of groups (Zhang et al., 2017).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ChannelShuffle(2)(paddle.arange(4.0).reshape([1, 4, 1, 1])).flatten().tolist()
        [0.0, 2.0, 1.0, 3.0]
    """

    _function, _settings = "channel_shuffle", {"groups": REQUIRED, "data_format": "NCHW"}


class Upsample(FunctionLayer):
    """Resizes images to a size, or by a factor.

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
        """Its settings."""
        what = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        how = f"mode={self.mode}, align_corners={self.align_corners}, align_mode={self.align_mode}"
        return f"{what}, {how}, data_format={self.data_format}" + (f", name={self._name}" if self._name else "")


class _Upsampling2D(FunctionLayer):
    _settings = {"size": None, "scale_factor": None, "data_format": "NCHW"}
    _mode: dict[str, Any] = {}

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The images, resized."""
        return F.interpolate(
            *inputs,
            **kwargs,
            size=self.size,
            scale_factor=self.scale_factor,
            data_format=self.data_format,
            **self._mode,
        )

    def extra_repr(self) -> str:
        """Its settings."""
        size = [self.size] * 2 if isinstance(self.size, int) else self.size
        what = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={size}"
        return f"{what}, data_format={self.data_format}" + (f", name={self._name}" if self._name else "")


class UpsamplingNearest2D(_Upsampling2D):
    """Resizes images [N, C, H, W], each pixel like the nearest one.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.UpsamplingNearest2D([4, 4])(paddle.ones([1, 1, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """

    _mode = {"mode": "nearest"}


class UpsamplingBilinear2D(_Upsampling2D):
    """Resizes images [N, C, H, W] by bilinear interpolation, corners aligned.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.UpsamplingBilinear2D([4, 4])(paddle.ones([1, 1, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """

    _mode = {"mode": "bilinear", "align_corners": True, "align_mode": 0}


class _Windows(FunctionLayer):
    def extra_repr(self) -> str:
        """Its settings."""
        windows = f"kernel_size={self.kernel_sizes}, dilation={self.dilations}"
        where = f"padding={self.paddings}, stride={self.strides}"
        return f"{windows}, {where}" + (f", name={self._name}" if self._name else "")


class Unfold(_Windows):
    """The windows of images [N, C, H, W] as columns [N, C * window, number of windows].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Unfold(2)(paddle.ones([1, 1, 3, 3])).shape
        paddle.Size([1, 4, 4])
    """

    _function = "unfold"
    _settings = {"kernel_sizes": REQUIRED, "dilations": 1, "paddings": 0, "strides": 1}


class Fold(_Windows):
    """Sums columns [N, C * window, number of windows] into images: the reverse of Unfold.

    Example:
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
        """The input, padded."""
        return F.pad(x, self.padding, mode=self._mode, value=self.value, data_format=self._data_format)

    def extra_repr(self) -> str:
        """Its settings."""
        named = f", name={self._name}" if self._name else ""
        return f"padding={self.padding}, mode={self._mode}, value={self.value}, data_format={self._data_format}{named}"


class Pad1D(_Pad):
    """Pads sequences by [left, right]; mode: "constant", "reflect", "replicate" or "circular".

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Pad1D([1, 2])(paddle.ones([1, 1, 3])).shape
        paddle.Size([1, 1, 6])
    """

    _n = 1


class Pad2D(_Pad):
    """Pads images by [left, right, top, bottom]; mode: "constant", "reflect", "replicate" or "circular".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Pad2D([1, 0, 0, 0])(paddle.ones([1, 1, 1, 2])).tolist()
        [[[[0.0, 1.0, 1.0]]]]
    """


class Pad3D(_Pad):
    """Pads volumes by [left, right, top, bottom, front, back].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Pad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
        paddle.Size([1, 1, 4, 4, 4])
    """

    _n = 3


class _ModePad(_Pad):
    def __init__(self, padding: Any, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__(padding, type(self)._mode, 0.0, data_format, name)


class ZeroPad1D(_ModePad):
    """Pads sequences with zeros.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ZeroPad1D(1)(paddle.ones([1, 1, 2])).shape
        paddle.Size([1, 1, 4])
    """

    _n = 1


class ZeroPad2D(_ModePad):
    """Pads images with zeros.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ZeroPad2D(1)(paddle.ones([1, 1, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """


class ZeroPad3D(_ModePad):
    """Pads volumes with zeros.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ZeroPad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
        paddle.Size([1, 1, 4, 4, 4])
    """

    _n = 3


class ReflectionPad1D(_ModePad):
    """Pads sequences with their mirror image.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReflectionPad1D([1, 1])(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[2.0, 1.0, 2.0, 3.0, 2.0]]]
    """

    _n, _mode = 1, "reflect"


class ReflectionPad2D(_ModePad):
    """Pads images with their mirror image.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReflectionPad2D([1, 0, 0, 0])(paddle.to_tensor([[[[1.0, 2.0, 3.0]]]])).tolist()
        [[[[2.0, 1.0, 2.0, 3.0]]]]
    """

    _mode = "reflect"


class ReflectionPad3D(_ModePad):
    """Pads volumes with their mirror image.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReflectionPad3D([1, 0, 0, 0, 0, 0])(paddle.to_tensor([[[[[1.0, 2.0, 3.0]]]]])).flatten().tolist()
        [2.0, 1.0, 2.0, 3.0]
    """

    _n, _mode = 3, "reflect"


class ReplicationPad1D(_ModePad):
    """Pads sequences with their last element.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReplicationPad1D([1, 1])(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[1.0, 1.0, 2.0, 3.0, 3.0]]]
    """

    _n, _mode = 1, "replicate"


class ReplicationPad2D(_ModePad):
    """Pads images with their border.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReplicationPad2D([1, 0, 0, 0])(paddle.to_tensor([[[[1.0, 2.0, 3.0]]]])).tolist()
        [[[[1.0, 1.0, 2.0, 3.0]]]]
    """

    _mode = "replicate"


class ReplicationPad3D(_ModePad):
    """Pads volumes with their border.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReplicationPad3D([1, 0, 0, 0, 0, 0])(paddle.to_tensor([[[[[1.0, 2.0, 3.0]]]]])).flatten().tolist()
        [1.0, 1.0, 2.0, 3.0]
    """

    _n, _mode = 3, "replicate"


class CircularPad1D(_ModePad):
    """Pads sequences with their other end.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CircularPad1D([1, 1])(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[3.0, 1.0, 2.0, 3.0, 1.0]]]
    """

    _n, _mode = 1, "circular"


class CircularPad2D(_ModePad):
    """Pads images with their other side.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CircularPad2D([1, 0, 0, 0])(paddle.to_tensor([[[[1.0, 2.0, 3.0]]]])).tolist()
        [[[[3.0, 1.0, 2.0, 3.0]]]]
    """

    _mode = "circular"


class CircularPad3D(_ModePad):
    """Pads volumes with their other side.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CircularPad3D([1, 0, 0, 0, 0, 0])(paddle.to_tensor([[[[[1.0, 2.0, 3.0]]]]])).flatten().tolist()
        [3.0, 1.0, 2.0, 3.0]
    """

    _n, _mode = 3, "circular"


class _ConstantPad(_Pad):
    def __init__(self, padding: Any, value: float, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class ConstantPad1D(_ConstantPad):
    """Pads sequences with a value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ConstantPad1D([1, 1], 0.0)(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[0.0, 1.0, 2.0, 3.0, 0.0]]]
    """

    _n = 1


class ConstantPad2D(_ConstantPad):
    """Pads images with a value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ConstantPad2D([1, 0, 0, 0], 0.0)(paddle.to_tensor([[[[1.0, 2.0, 3.0]]]])).tolist()
        [[[[0.0, 1.0, 2.0, 3.0]]]]
    """


class ConstantPad3D(_ConstantPad):
    """Pads volumes with a value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[[[[1.0, 2.0, 3.0]]]]])
        >>> paddle.nn.ConstantPad3D([1, 0, 0, 0, 0, 0], 0.0)(x).flatten().tolist()
        [0.0, 1.0, 2.0, 3.0]
    """

    _n = 3
