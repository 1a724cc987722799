"""Quantized layers: quanters before their product."""

from __future__ import annotations

import abc
from typing import Any

from ..eager.tensor import Tensor
from ..nn import functional as F
from ..nn.base import Layer

__all__ = ["ConvertibleQuantedLayer", "ObserveWrapper", "QuantedConv2D", "QuantedConv2DTranspose", "QuantedLinear"]


class ObserveWrapper(Layer):
    """Layer without a weight, such as an activation or a pooling, whose first input is quantized or observed.

    Arguments:
        observer: the quanter or observer; integer and boolean inputs are passed through.
        observed: the layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
        >>> config = paddle.quantization.QuantConfig(activation=quanter, weight=quanter)
        >>> net = paddle.quantization.QAT(config).quantize(paddle.nn.Sequential(paddle.nn.ReLU()))
        >>> type(net[0]).__name__
        'ObserveWrapper'
    """

    def __init__(self, observer: Any, observed: Any) -> None:
        super().__init__()
        self._observer, self._observed = observer, observed

    def forward(self, input: Any, *inputs: Any, **kwargs: Any) -> Any:
        """Return the output of the layer for the quantized input."""
        floats = isinstance(input, Tensor) and "float" in input.dtype.name
        return self._observed(self._observer(input) if floats else input, *inputs, **kwargs)


class ConvertibleQuantedLayer(Layer, metaclass=abc.ABCMeta):
    """Base class of quantized layers, which name their weights and quanters: convert() rounds the weights.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Scaled(paddle.nn.quant.format.ConvertibleQuantedLayer):
        ...     def __init__(self, quanter):
        ...         super().__init__()
        ...         self.weight, self.weight_quanter = self.create_parameter([2]), quanter._instance(self)
        ...     def forward(self, x):
        ...         return x * self.weight_quanter(self.weight)
        ...     def weights_to_quanters(self):
        ...         return [("weight", "weight_quanter")]
        ...     def activation_quanters(self):
        ...         return []
        >>> Scaled(paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver())(paddle.ones([2])).shape
        paddle.Size([2])
    """

    def __init__(self) -> None:
        super().__init__()
        self.converted = False

    @abc.abstractmethod
    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """Return the names of weights, and of the quanters that round them."""

    @abc.abstractmethod
    def activation_quanters(self) -> list[str]:
        """Return the names of the quanters of activations."""


class _Quanted(ConvertibleQuantedLayer):
    """Base: shares the parameters of the layer whose place it takes."""

    def __init__(self, layer: Any, choice: Any) -> None:
        super().__init__()
        self._source = [layer]  # not a sublayer: its parameters are this one's
        self.weight, self.bias = layer.weight, layer.bias
        self.weight_quanter = None if choice.weight is None else choice.weight._instance(layer)
        self.activation_quanter = None if choice.activation is None else choice.activation._instance(layer)

    def _rounded(self, x: Any) -> tuple[Any, Any]:
        """Return the input and the weight, each through its quanter."""
        x = x if self.activation_quanter is None else self.activation_quanter(x)
        return x, self.weight if self.weight_quanter is None else self.weight_quanter(self.weight)

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """Return the names of the weight and of its quanter."""
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        """Return the name of the quanter of the input."""
        return ["activation_quanter"]

    def original(self) -> Any:
        """Return the layer whose place it took."""
        return self._source[0]


class QuantedLinear(_Quanted):
    """Linear layer with quantized input and weight.

    Arguments:
        layer: the Linear to replace.
        choice: its quanters.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> Q, net = paddle.quantization, paddle.nn.Sequential(paddle.nn.Linear(2, 1))
        >>> choice = Q.quanters.FakeQuanterWithAbsMaxObserver()
        >>> model = Q.QAT(Q.QuantConfig(activation=choice, weight=choice)).quantize(net)
        >>> type(model[0]).__name__, model(paddle.ones([1, 2])).shape
        ('QuantedLinear', paddle.Size([1, 1]))
    """

    def forward(self, input: Any) -> Any:
        """Return the product of quantized input and weight, plus the bias."""
        return F.linear(*self._rounded(input), self.bias)


class QuantedConv2D(_Quanted):
    """2-D convolution with quantized input and weight.

    Arguments:
        layer: the Conv2D to replace.
        choice: its quanters.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> Q, net = paddle.quantization, paddle.nn.Sequential(paddle.nn.Conv2D(1, 1, 1))
        >>> choice = Q.quanters.FakeQuanterWithAbsMaxObserver()
        >>> model = Q.QAT(Q.QuantConfig(activation=choice, weight=choice)).quantize(net)
        >>> type(model[0]).__name__, model(paddle.ones([1, 1, 2, 2])).shape
        ('QuantedConv2D', paddle.Size([1, 1, 2, 2]))
    """

    def forward(self, input: Any) -> Any:
        """Return the convolution of quantized input and weight."""
        x, weight = self._rounded(input)
        layer = self.original()
        x, padding = layer._pad(x)
        settings = {"stride": layer._stride, "padding": padding, "dilation": layer._dilation}
        return F.conv2d(x, weight, self.bias, **settings, groups=layer._groups, data_format=layer._data_format)


class QuantedConv2DTranspose(_Quanted):
    """2-D transposed convolution with quantized input and weight.

    Arguments:
        layer: the Conv2DTranspose to replace.
        choice: its quanters.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Conv2DTranspose(1, 1, 2))
        >>> model = paddle.quantization.ImperativeQuantAware().quantize(net)
        >>> type(model[0]).__name__, model(paddle.ones([1, 1, 2, 2])).shape
        ('QuantedConv2DTranspose', paddle.Size([1, 1, 3, 3]))
    """

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """Return the transposed convolution of quantized input and weight."""
        x, weight = self._rounded(input)
        layer = self.original()
        settings = {"stride": layer._stride, "padding": layer._padding, "dilation": layer._dilation}
        return F.conv2d_transpose(
            x, weight, self.bias, **settings, groups=layer._groups, data_format=layer._data_format,
            output_size=output_size, output_padding=layer.output_padding if output_size is None else 0,
        )  # fmt: skip
