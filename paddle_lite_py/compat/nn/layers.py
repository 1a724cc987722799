"""Layers with torch's signatures."""

from __future__ import annotations

from typing import Any

from ... import nn as _nn
from ...nn import functional as F
from ...nn.base import Layer
from ...nn.initializer import Constant, Uniform
from . import functional

__all__ = [
    *("AvgPool1D", "AvgPool2D", "AvgPool3D", "Dropout2d", "Dropout3d", "Linear", "MaxPool1d", "MaxPool2d", "MaxPool3d"),
    *("GroupNorm", "LayerNorm"),
    *("PReLU", "Softmax", "Softmin", "Threshold", "Unfold", "in_place"),
]
nn: Any = _nn  # whose lists of names mypy cannot read


class AvgPool1D(nn.AvgPool1D):
    """paddle.nn.AvgPool1D, but counting padding by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.AvgPool1D(2, padding=1)(paddle.ones([1, 1, 4])).tolist()
        [[[0.5, 1.0, 0.5]]]
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size, stride, padding, exclusive=not count_include_pad, ceil_mode=ceil_mode)
        self.stride, self.count_include_pad = kernel_size if stride is None else stride, count_include_pad


class AvgPool2D(nn.AvgPool2D):
    """paddle.nn.AvgPool2D, but counting padding by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.AvgPool2D(2, divisor_override=2)(paddle.ones([1, 1, 2, 2])).tolist()
        [[[[2.0]]]]
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        settings = {"exclusive": not count_include_pad, "ceil_mode": ceil_mode, "divisor_override": divisor_override}
        super().__init__(kernel_size, stride, padding, **settings)
        self.stride, self.count_include_pad = kernel_size if stride is None else stride, count_include_pad


class AvgPool3D(nn.AvgPool3D):
    """paddle.nn.AvgPool3D, but counting padding by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.AvgPool3D(2)(paddle.ones([1, 1, 2, 2, 2])).shape
        paddle.Size([1, 1, 1, 1, 1])
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        settings = {"exclusive": not count_include_pad, "ceil_mode": ceil_mode, "divisor_override": divisor_override}
        super().__init__(kernel_size, stride, padding, **settings)
        self.stride, self.count_include_pad = kernel_size if stride is None else stride, count_include_pad


class _DropoutOfChannels(Layer):
    """Whole channels become zero with probability p while training."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """Return its settings."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout2d(_DropoutOfChannels):
    """Whole channels of [N, C, H, W] become zero with probability p while training; of [N, C] single elements.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.Dropout2d(0.2)(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """

    def forward(self, input: Any) -> Any:
        """Return the input with zeros; its other elements are divided by 1 - p."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutOfChannels):
    """Whole channels of [N, C, D, H, W] become zero with probability p while training.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.Dropout3d(0.2).eval()(paddle.ones([1, 1])).tolist()
        [[1.0]]
    """

    def forward(self, input: Any) -> Any:
        """Return the input with zeros; its other elements are divided by 1 - p."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class Linear(Layer):
    """x @ weight.T + bias, with a weight [out, in] that starts uniform within 1 / sqrt(in).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.Linear(2, 3)
        >>> layer.weight.shape, layer(paddle.ones([1, 2])).shape
        (paddle.Size([3, 2]), paddle.Size([1, 3]))
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        start = self._start()
        self.weight = self.create_parameter([out_features, in_features], default_initializer=start)
        self.bias = self.create_parameter([out_features], is_bias=True, default_initializer=start) if bias else None
        if device is not None or dtype is not None:
            self.to(device, dtype)

    def _start(self) -> Uniform:
        bound = max(self.in_features, 1) ** -0.5
        return Uniform(-bound, bound)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for p in self.parameters():
            p.set_value(self.create_parameter(p.shape, default_initializer=self._start()))

    def forward(self, input: Any) -> Any:
        """Return the product."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return its settings."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class LayerNorm(nn.LayerNorm):
    """paddle.nn.LayerNorm with torch's arguments and attributes.

    Arguments:
        normalized_shape: the last dimensions, or the last one.
        eps: added to the variance. Default: 1e-05.
        elementwise_affine: with weight and bias. Default: True.
        bias: with a bias beside the weight. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.LayerNorm(2, 1e-6, False)
        >>> layer.eps, layer.normalized_shape, layer.weight
        (1e-06, (2,), None)
    """

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            normalized_shape, eps, elementwise_affine=elementwise_affine, bias=bias, device=device, dtype=dtype
        )
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine


class GroupNorm(nn.GroupNorm):
    """paddle.nn.GroupNorm with torch's arguments and attributes.

    Arguments:
        num_groups: number of groups; it divides num_channels.
        num_channels: channels of the input.
        eps: added to the variance. Default: 1e-05.
        affine: with weight and bias. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.GroupNorm(2, 4, 1e-6)
        >>> layer.num_groups, layer.eps
        (2, 1e-06)
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(num_groups, num_channels, eps, affine=affine, device=device, dtype=dtype)
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine


class _MaxPoolNd(Layer):
    """Maxima of windows."""

    _n: int

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Any) -> Any:
        """Return the maxima, with return_indices also where they stood."""
        function = getattr(functional, f"max_pool{self._n}d")
        return function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        """Return its settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}"


class MaxPool2d(_MaxPoolNd):
    """Maximum of each window of [N, C, H, W].

    Arguments:
        return_indices: also return where each stood. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.MaxPool2d(3, 2, dilation=2)(paddle.ones([1, 1, 8, 8])).shape
        paddle.Size([1, 1, 2, 2])
    """

    _n = 2


class MaxPool1d(_MaxPoolNd):
    """Maximum of each window of [N, C, L]; see MaxPool2d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.MaxPool1d(2)(paddle.to_tensor([[[1.0, 2.0, 4.0, 3.0]]])).tolist()
        [[[2.0, 4.0]]]
    """

    _n = 1


class MaxPool3d(_MaxPoolNd):
    """Maximum of each window of [N, C, D, H, W]; see MaxPool2d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.MaxPool3d(2)(paddle.ones([1, 1, 4, 4, 4])).shape
        paddle.Size([1, 1, 2, 2, 2])
    """

    _n = 3


class PReLU(Layer):
    """Leaky ReLU with a trainable slope, whose parameter is `weight`.

    Arguments:
        num_parameters: 1, or the number of channels. Default: 1.
        init: the first value of the slope. Default: 0.25.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.PReLU()
        >>> layer(paddle.to_tensor([[-1.0, 2.0]])).tolist(), [*layer.state_dict()]
        ([[-0.25, 2.0]], ['weight'])
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = self.create_parameter([num_parameters], default_initializer=Constant(init))
        if device is not None or dtype is not None:
            self.to(device, dtype)

    def forward(self, input: Any) -> Any:
        """Return the input, its negative elements times the slope of their channel."""
        return F.prelu(input, self.weight)


class Threshold(Layer):
    """The elements above a threshold, and a value in the place of the others.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.Threshold(1.0, -1.0)(paddle.to_tensor([0.5, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Any) -> Any:
        """Return the elements."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)


def in_place(layer: Layer, inplace: bool = True) -> Layer:
    """Have a layer write its result into its input, as an activation with inplace=True does in torch.

    Arguments:
        layer: a layer whose output has the shape and dtype of its input.
        inplace: False: leave the layer as it is. Default: True.

    Returns:
        The layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([-1.0, 2.0])
        >>> _ = paddle.compat.nn.in_place(paddle.nn.ReLU())(x)
        >>> x.tolist()
        [0.0, 2.0]
    """
    if inplace:
        layer.register_forward_post_hook(_write_into_input)
    layer.inplace = inplace
    return layer


def _write_into_input(layer: Layer, inputs: Any, output: Any) -> Any:
    return functional.in_place(inputs[0], output) if layer.inplace else output


class Softmax(Layer):
    """softmax() along a dimension; without one along the first of tensors of 0, 1 or 3 dimensions, else the second.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.Softmax()(paddle.zeros([1, 2])).tolist()
        [[0.5, 0.5]]
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        """Return the probabilities."""
        return functional.softmax(input, self.dim)


class Softmin(Softmax):
    """softmax() of the negative input; see Softmax.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.Softmin(1)(paddle.zeros([1, 2])).tolist()
        [[0.5, 0.5]]
    """

    def forward(self, input: Any) -> Any:
        """Return the probabilities."""
        return functional.softmin(input, self.dim)


class Unfold(Layer):
    """The windows of an image as columns.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.Unfold(2)(paddle.ones([1, 1, 3, 3])).shape
        paddle.Size([1, 4, 4])
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Any) -> Any:
        """Return the columns."""
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)
