"""Pooling layers."""

from __future__ import annotations

from typing import Any, ClassVar

from .function_layer import REQUIRED, FunctionLayer

__all__ = [
    *("AdaptiveAvgPool1D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "AdaptiveMaxPool1D", "AdaptiveMaxPool2D"),
    *("AdaptiveMaxPool3D", "AvgPool1D", "AvgPool2D", "AvgPool3D", "FractionalMaxPool2D", "FractionalMaxPool3D"),
    *("LPPool1D", "LPPool2D", "MaxPool1D", "MaxPool2D", "MaxPool3D", "MaxUnPool1D", "MaxUnPool2D", "MaxUnPool3D"),
]

_WINDOW: dict[str, Any] = {"kernel_size": REQUIRED, "stride": None, "padding": 0}
_MAX: dict[str, Any] = {**_WINDOW, "return_mask": False, "ceil_mode": False}
_AVG: dict[str, Any] = {**_WINDOW, "ceil_mode": False, "exclusive": True, "divisor_override": None}


class _Pool(FunctionLayer):
    _shown: ClassVar[tuple[str, ...] | None] = ("kernel_size", "stride", "padding")


class MaxPool1D(_Pool):
    """Largest element of each window of a sequence [N, C, L].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MaxPool1D(2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 4])
    """

    _function, _settings = "max_pool1d", _MAX


class MaxPool2D(_Pool):
    """Largest element of each window of an image [N, C, H, W].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MaxPool2D(2)(paddle.arange(4.0).reshape([1, 1, 2, 2])).tolist()
        [[[[3.0]]]]
    """

    _function, _settings = "max_pool2d", {**_MAX, "data_format": "NCHW"}


class MaxPool3D(_Pool):
    """Largest element of each window of a volume [N, C, D, H, W].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MaxPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    _function, _settings = "max_pool3d", {**_MAX, "data_format": "NCDHW"}


class AvgPool1D(_Pool):
    """Mean of each window of a sequence [N, C, L].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AvgPool1D(2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 4])
    """

    _function, _settings = "avg_pool1d", {**_WINDOW, "exclusive": True, "ceil_mode": False}


class AvgPool2D(_Pool):
    """Mean of each window of an image [N, C, H, W].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AvgPool2D(2)(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 3, 4, 4])
    """

    _function, _settings = "avg_pool2d", {**_AVG, "data_format": "NCHW"}


class AvgPool3D(_Pool):
    """Mean of each window of a volume [N, C, D, H, W].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AvgPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    _function, _settings = "avg_pool3d", {**_AVG, "data_format": "NCDHW"}


_LP_SHOWN = ("norm_type", "kernel_size", "stride", "padding")


class LPPool1D(_Pool):
    """Power mean of each window of a sequence [N, C, L], without the division.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LPPool1D(2, 2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 4])
    """

    _function, _shown = "lp_pool1d", _LP_SHOWN
    _settings = {"norm_type": REQUIRED, **_WINDOW, "ceil_mode": False, "data_format": "NCL"}


class LPPool2D(_Pool):
    """Power mean of each window of an image [N, C, H, W], without the division.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LPPool2D(2, 2)(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 3, 4, 4])
    """

    _function, _shown = "lp_pool2d", _LP_SHOWN
    _settings = {"norm_type": REQUIRED, **_WINDOW, "ceil_mode": False, "data_format": "NCHW"}


class AdaptiveAvgPool1D(FunctionLayer):
    """Means of windows so chosen that output_size of them cover a sequence.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveAvgPool1D(2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 2])
    """

    _function, _settings = "adaptive_avg_pool1d", {"output_size": REQUIRED}


class AdaptiveAvgPool2D(FunctionLayer):
    """Means of windows so chosen that output_size of them cover an image.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveAvgPool2D(2)(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 3, 2, 2])
    """

    _function, _settings = "adaptive_avg_pool2d", {"output_size": REQUIRED, "data_format": "NCHW"}


class AdaptiveAvgPool3D(FunctionLayer):
    """Means of windows so chosen that output_size of them cover a volume.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveAvgPool3D(1)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 1, 1, 1])
    """

    _function, _settings = "adaptive_avg_pool3d", {"output_size": REQUIRED, "data_format": "NCDHW"}


class AdaptiveMaxPool1D(FunctionLayer):
    """Largest elements of windows so chosen that output_size of them cover a sequence.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveMaxPool1D(2)(paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 3, 2])
    """

    _function, _settings = "adaptive_max_pool1d", {"output_size": REQUIRED, "return_mask": False}


class AdaptiveMaxPool2D(FunctionLayer):
    """Largest elements of windows so chosen that output_size of them cover an image.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveMaxPool2D(2)(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 3, 2, 2])
    """

    _function, _settings = "adaptive_max_pool2d", {"output_size": REQUIRED, "return_mask": False}


class AdaptiveMaxPool3D(FunctionLayer):
    """Largest elements of windows so chosen that output_size of them cover a volume.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AdaptiveMaxPool3D(1)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 1, 1, 1])
    """

    _function, _settings = "adaptive_max_pool3d", {"output_size": REQUIRED, "return_mask": False}


_FRACTIONAL: dict[str, Any] = {"output_size": REQUIRED, "kernel_size": None, "random_u": None, "return_mask": False}


class FractionalMaxPool2D(FunctionLayer):
    """Largest elements of windows of random sizes that cover an image (Graham, 2014).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.FractionalMaxPool2D(3, random_u=0.3)(paddle.ones([1, 1, 5, 5])).shape
        paddle.Size([1, 1, 3, 3])
    """

    _function, _settings = "fractional_max_pool2d", _FRACTIONAL
    _shown = ("output_size", "return_mask")


class FractionalMaxPool3D(FunctionLayer):
    """Largest elements of windows of random sizes that cover a volume (Graham, 2014).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.FractionalMaxPool3D(1, random_u=0.3)(paddle.ones([1, 1, 2, 2, 2])).shape
        paddle.Size([1, 1, 1, 1, 1])
    """

    _function, _settings = "fractional_max_pool3d", _FRACTIONAL
    _shown = ("output_size", "return_mask")


class MaxUnPool1D(FunctionLayer):
    """Puts the elements of a pooled sequence back to where the mask says; zeros elsewhere.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(4.0).reshape([1, 1, 4])
        >>> y, at = paddle.nn.functional.max_pool1d(x, 2, return_mask=True)
        >>> paddle.nn.MaxUnPool1D(2)(y, at).shape
        paddle.Size([1, 1, 4])
    """

    _function, _settings = "max_unpool1d", {**_WINDOW, "data_format": "NCL", "output_size": None}
    _shown = ("output_size",)


class MaxUnPool2D(FunctionLayer):
    """Puts the elements of a pooled image back to where the mask says; zeros elsewhere.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> y, at = paddle.nn.functional.max_pool2d(x, 2, return_mask=True)
        >>> paddle.nn.MaxUnPool2D(2)(y, at).shape
        paddle.Size([1, 1, 4, 4])
    """

    _function, _settings = "max_unpool2d", {**_WINDOW, "data_format": "NCHW", "output_size": None}
    _shown = ("output_size",)


class MaxUnPool3D(FunctionLayer):
    """Puts the elements of a pooled volume back to where the mask says; zeros elsewhere.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(64.0).reshape([1, 1, 4, 4, 4])
        >>> y, at = paddle.nn.functional.max_pool3d(x, 2, return_mask=True)
        >>> paddle.nn.MaxUnPool3D(2)(y, at).shape
        paddle.Size([1, 1, 4, 4, 4])
    """

    _function, _settings = "max_unpool3d", {**_WINDOW, "data_format": "NCDHW", "output_size": None}
    _shown = ("output_size",)
