"""Pooling layers."""

from __future__ import annotations

from typing import Any, ClassVar

from .function_layer import REQUIRED, FunctionLayer, property_of

__all__ = [
    *("AdaptiveAvgPool1D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "AdaptiveMaxPool1D", "AdaptiveMaxPool2D"),
    *("AdaptiveMaxPool3D", "AvgPool1D", "AvgPool2D", "AvgPool3D", "FractionalMaxPool2D", "FractionalMaxPool3D"),
    *("LPPool1D", "LPPool2D", "MaxPool1D", "MaxPool2D", "MaxPool3D", "MaxUnPool1D", "MaxUnPool2D", "MaxUnPool3D"),
]

_WINDOW: dict[str, Any] = {"kernel_size": REQUIRED, "stride": None, "padding": 0}
_MAX: dict[str, Any] = {**_WINDOW, "return_mask": False, "ceil_mode": False}
_AVG: dict[str, Any] = {**_WINDOW, "ceil_mode": False, "exclusive": True, "divisor_override": None}


class _Window(FunctionLayer):
    ksize = property_of("kernel_size")  # as subclasses of programs name it


class _Pool(_Window):
    _shown: ClassVar[tuple[str, ...] | None] = ("kernel_size", "stride", "padding")


class MaxPool1D(_Pool):
    """1-D max pooling: the maximum of each window of sequences [N, C, L].

    Arguments:
        return_mask: also return the index of each maximum in its flattened sequence, an int32 tensor of the shape of
            the output; MaxUnPool1D takes it. Default: False.

    Shape:
        Input: [N, C, L].
        Output: [N, C, L_out], where each size is `floor((size + 2 * padding - kernel_size) / stride) + 1`, or ceil with
            ceil_mode.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MaxPool1D(2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 4])
    """

    _function, _settings = "max_pool1d", _MAX


class MaxPool2D(_Pool):
    """2-D max pooling: the maximum of each window of images [N, C, H, W].

    Arguments:
        return_mask: also return the index of each maximum in its flattened image, an int32 tensor of the shape of the
            output; MaxUnPool2D takes it. Default: False.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        Input: [N, C, H, W].
        Output: [N, C, H_out, W_out], where each size is `floor((size + 2 * padding - kernel_size) / stride) + 1`, or
            ceil with ceil_mode.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MaxPool2D(2)(paddle.arange(4.0).reshape([1, 1, 2, 2])).tolist()
        [[[[3.0]]]]
    """

    _function, _settings = "max_pool2d", {**_MAX, "data_format": "NCHW"}


class MaxPool3D(_Pool):
    """3-D max pooling: the maximum of each window of volumes [N, C, D, H, W].

    Arguments:
        return_mask: also return the index of each maximum in its flattened volume, an int32 tensor of the shape of the
            output; MaxUnPool3D takes it. Default: False.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        Input: [N, C, D, H, W].
        Output: [N, C, D_out, H_out, W_out], where each size is `floor((size + 2 * padding - kernel_size) / stride) +
            1`, or ceil with ceil_mode.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MaxPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    _function, _settings = "max_pool3d", {**_MAX, "data_format": "NCDHW"}


class AvgPool1D(_Pool):
    """1-D average pooling: the mean of each window of sequences [N, C, L].

    Shape:
        Input: [N, C, L].
        Output: [N, C, L_out], where each size is `floor((size + 2 * padding - kernel_size) / stride) + 1`, or ceil with
            ceil_mode.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AvgPool1D(2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 4])
    """

    _function, _settings = "avg_pool1d", {**_WINDOW, "exclusive": True, "ceil_mode": False}


class AvgPool2D(_Pool):
    """2-D average pooling: the mean of each window of images [N, C, H, W].

    Arguments:
        divisor_override: divide the sums by this number instead of the window size.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        Input: [N, C, H, W].
        Output: [N, C, H_out, W_out], where each size is `floor((size + 2 * padding - kernel_size) / stride) + 1`, or
            ceil with ceil_mode.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AvgPool2D(2)(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 3, 4, 4])
    """

    _function, _settings = "avg_pool2d", {**_AVG, "data_format": "NCHW"}
    divisor = property_of("divisor_override")


class AvgPool3D(_Pool):
    """3-D average pooling: the mean of each window of volumes [N, C, D, H, W].

    Arguments:
        divisor_override: divide the sums by this number instead of the window size.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        Input: [N, C, D, H, W].
        Output: [N, C, D_out, H_out, W_out], where each size is `floor((size + 2 * padding - kernel_size) / stride) +
            1`, or ceil with ceil_mode.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AvgPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    _function, _settings = "avg_pool3d", {**_AVG, "data_format": "NCDHW"}
    divisor = property_of("divisor_override")


_LP_SHOWN = ("norm_type", "kernel_size", "stride", "padding")


class LPPool1D(_Pool):
    """1-D power-average pooling: `sum(x**norm_type)**(1 / norm_type)` over each window of sequences [N, C, L].

    Arguments:
        norm_type: the power; 1 gives sum pooling.
        data_format: "NCL" or "NLC". Default: 'NCL'.

    Shape:
        Input: [N, C, L].
        Output: [N, C, L_out], where each size is `floor((size + 2 * padding - kernel_size) / stride) + 1`, or ceil with
            ceil_mode.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LPPool1D(2, 2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 4])
    """

    _function, _shown = "lp_pool1d", _LP_SHOWN
    _settings = {"norm_type": REQUIRED, **_WINDOW, "ceil_mode": False, "data_format": "NCL"}


class LPPool2D(_Pool):
    """2-D power-average pooling: `sum(x**norm_type)**(1 / norm_type)` over each window of images [N, C, H, W].

    Arguments:
        norm_type: the power; 1 gives sum pooling.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        Input: [N, C, H, W].
        Output: [N, C, H_out, W_out], where each size is `floor((size + 2 * padding - kernel_size) / stride) + 1`, or
            ceil with ceil_mode.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LPPool2D(2, 2)(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 3, 4, 4])
    """

    _function, _shown = "lp_pool2d", _LP_SHOWN
    _settings = {"norm_type": REQUIRED, **_WINDOW, "ceil_mode": False, "data_format": "NCHW"}


class AdaptiveAvgPool1D(FunctionLayer):
    """1-D adaptive average pooling: average pooling to a given output size, for sequences of any size.

    Window i along a dimension goes from floor(i * size / output_size) to ceil((i + 1) * size / output_size).

    Arguments:
        output_size: size of the output, an integer.

    Shape:
        Input: [N, C, L].
        Output: [N, C, *output_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveAvgPool1D(2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 2])
    """

    _function, _settings = "adaptive_avg_pool1d", {"output_size": REQUIRED}


class AdaptiveAvgPool2D(FunctionLayer):
    """2-D adaptive average pooling: average pooling to a given output size, for images of any size.

    Window i along a dimension goes from floor(i * size / output_size) to ceil((i + 1) * size / output_size).

    Arguments:
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        Input: [N, C, H, W].
        Output: [N, C, *output_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveAvgPool2D(2)(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 3, 2, 2])
    """

    _function, _settings = "adaptive_avg_pool2d", {"output_size": REQUIRED, "data_format": "NCHW"}


class AdaptiveAvgPool3D(FunctionLayer):
    """3-D adaptive average pooling: average pooling to a given output size, for volumes of any size.

    Window i along a dimension goes from floor(i * size / output_size) to ceil((i + 1) * size / output_size).

    Arguments:
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        Input: [N, C, D, H, W].
        Output: [N, C, *output_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveAvgPool3D(1)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 1, 1, 1])
    """

    _function, _settings = "adaptive_avg_pool3d", {"output_size": REQUIRED, "data_format": "NCDHW"}


class AdaptiveMaxPool1D(FunctionLayer):
    """1-D adaptive max pooling: max pooling to a given output size, for sequences of any size.

    Window i along a dimension goes from floor(i * size / output_size) to ceil((i + 1) * size / output_size).

    Arguments:
        output_size: size of the output, an integer.
        return_mask: also return the index of each maximum in its flattened sequence, an int32 tensor of the shape of
            the output. Default: False.

    Shape:
        Input: [N, C, L].
        Output: [N, C, *output_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveMaxPool1D(2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 2])
    """

    _function, _settings = "adaptive_max_pool1d", {"output_size": REQUIRED, "return_mask": False}


class AdaptiveMaxPool2D(FunctionLayer):
    """2-D adaptive max pooling: max pooling to a given output size, for images of any size.

    Window i along a dimension goes from floor(i * size / output_size) to ceil((i + 1) * size / output_size).

    Arguments:
        return_mask: also return the index of each maximum in its flattened image, an int32 tensor of the shape of the
            output. Default: False.

    Shape:
        Input: [N, C, H, W].
        Output: [N, C, *output_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveMaxPool2D(2)(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 3, 2, 2])
    """

    _function, _settings = "adaptive_max_pool2d", {"output_size": REQUIRED, "return_mask": False}


class AdaptiveMaxPool3D(FunctionLayer):
    """3-D adaptive max pooling: max pooling to a given output size, for volumes of any size.

    Window i along a dimension goes from floor(i * size / output_size) to ceil((i + 1) * size / output_size).

    Arguments:
        return_mask: also return the index of each maximum in its flattened volume, an int32 tensor of the shape of the
            output. Default: False.

    Shape:
        Input: [N, C, D, H, W].
        Output: [N, C, *output_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveMaxPool3D(1)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 1, 1, 1])
    """

    _function, _settings = "adaptive_max_pool3d", {"output_size": REQUIRED, "return_mask": False}


_FRACTIONAL: dict[str, Any] = {"output_size": REQUIRED, "kernel_size": None, "random_u": None, "return_mask": False}


class FractionalMaxPool2D(FunctionLayer):
    """2-D max pooling to a given output size with windows of random position (Graham, 2014).

    Arguments:
        kernel_size: size of overlapping windows; None: windows do not overlap.
        random_u: number in (0, 1) that decides the positions of the windows; None: drawn in each call.
        return_mask: also return the index of each maximum in its flattened image, an int32 tensor of the shape of the
            output. Default: False.

    Shape:
        Input: [N, C, H, W].
        Output: [N, C, *output_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.FractionalMaxPool2D(3, random_u=0.3)(paddle.ones([1, 1, 5, 5])).shape
        paddle.Size([1, 1, 3, 3])
    """

    _function, _settings = "fractional_max_pool2d", _FRACTIONAL
    _shown = ("output_size", "return_mask")


class FractionalMaxPool3D(FunctionLayer):
    """3-D max pooling to a given output size with windows of random position (Graham, 2014).

    Arguments:
        kernel_size: size of overlapping windows; None: windows do not overlap.
        random_u: number in (0, 1) that decides the positions of the windows; None: drawn in each call.
        return_mask: also return the index of each maximum in its flattened volume, an int32 tensor of the shape of the
            output. Default: False.

    Shape:
        Input: [N, C, D, H, W].
        Output: [N, C, *output_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.FractionalMaxPool3D(1, random_u=0.3)(paddle.ones([1, 1, 2, 2, 2])).shape
        paddle.Size([1, 1, 1, 1, 1])
    """

    _function, _settings = "fractional_max_pool3d", _FRACTIONAL
    _shown = ("output_size", "return_mask")


class MaxUnPool1D(_Window):
    """Invert 1-D max pooling: put each maximum back at its index and zeros elsewhere.

    Arguments:
        kernel_size: size of the window of the max pooling, an integer.
        stride: step of its window; None: kernel_size.
        padding: its padding. Default: 0.
        data_format: "NCL". Default: 'NCL'.
        output_size: spatial size of the output; None: computed from the window, stride and padding.

    Shape:
        x, indices: [N, C, L], the two results of a max pooling with return_mask=True.
        Output: the shape of the input of the max pooling.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(4.0).reshape([1, 1, 4])
        >>> y, at = paddle.nn.functional.max_pool1d(x, 2, return_mask=True)
        >>> paddle.nn.MaxUnPool1D(2)(y, at).shape
        paddle.Size([1, 1, 4])
    """

    _function, _settings = "max_unpool1d", {**_WINDOW, "data_format": "NCL", "output_size": None}
    _shown = ("output_size",)


class MaxUnPool2D(_Window):
    """Invert 2-D max pooling: put each maximum back at its index and zeros elsewhere.

    Arguments:
        kernel_size: size of the window of the max pooling, an integer, or two integers.
        stride: step of its window; None: kernel_size.
        padding: its padding. Default: 0.
        data_format: "NCHW". Default: 'NCHW'.
        output_size: spatial size of the output; None: computed from the window, stride and padding.

    Shape:
        x, indices: [N, C, H, W], the two results of a max pooling with return_mask=True.
        Output: the shape of the input of the max pooling.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> y, at = paddle.nn.functional.max_pool2d(x, 2, return_mask=True)
        >>> paddle.nn.MaxUnPool2D(2)(y, at).shape
        paddle.Size([1, 1, 4, 4])
    """

    _function, _settings = "max_unpool2d", {**_WINDOW, "data_format": "NCHW", "output_size": None}
    _shown = ("output_size",)


class MaxUnPool3D(_Window):
    """Invert 3-D max pooling: put each maximum back at its index and zeros elsewhere.

    Arguments:
        kernel_size: size of the window of the max pooling, an integer, or three integers.
        stride: step of its window; None: kernel_size.
        padding: its padding. Default: 0.
        data_format: "NCDHW". Default: 'NCDHW'.
        output_size: spatial size of the output; None: computed from the window, stride and padding.

    Shape:
        x, indices: [N, C, D, H, W], the two results of a max pooling with return_mask=True.
        Output: the shape of the input of the max pooling.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(64.0).reshape([1, 1, 4, 4, 4])
        >>> y, at = paddle.nn.functional.max_pool3d(x, 2, return_mask=True)
        >>> paddle.nn.MaxUnPool3D(2)(y, at).shape
        paddle.Size([1, 1, 4, 4, 4])
    """

    _function, _settings = "max_unpool3d", {**_WINDOW, "data_format": "NCDHW", "output_size": None}
    _shown = ("output_size",)
