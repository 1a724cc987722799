"""Activation layers."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import as_dtype
from . import functional as F
from .base import Layer
from .function_layer import REQUIRED, FunctionLayer
from .initializer import Constant

__all__ = [
    *("CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid"),
    *("LogSoftmax", "Maxout", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Silu", "Softmax"),
    *("Softmax2D", "Softplus", "Softshrink", "Softsign", "Swish", "Tanh", "Tanhshrink", "ThresholdedReLU"),
]


class ReLU(FunctionLayer):
    """Rectified linear unit: `max(x, 0)`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReLU()(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    _function = "relu"


class ReLU6(FunctionLayer):
    """ReLU with an upper limit of 6: `min(max(x, 0), 6)`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReLU6()(paddle.to_tensor([-1.0, 2.0, 8.0])).tolist()
        [0.0, 2.0, 6.0]
    """

    _function = "relu6"


class LeakyReLU(FunctionLayer):
    """Leaky ReLU: `x` if x >= 0, else `negative_slope * x`.

    Arguments:
        negative_slope: slope for negative elements. Default: 0.01.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LeakyReLU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.02, 0.0, 2.0]
    """

    _function, _settings = "leaky_relu", {"negative_slope": 0.01}


class ELU(FunctionLayer):
    """Exponential linear unit: `x` if x > 0, else `alpha * (exp(x) - 1)`.

    Arguments:
        alpha: scale of the negative part; the output tends to -alpha. Default: 1.0.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ELU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.865, 0.0, 2.0]
    """

    _function, _settings = "elu", {"alpha": 1.0}


class CELU(FunctionLayer):
    """Continuously differentiable ELU: `max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)`.

    Arguments:
        alpha: scale of the negative part. Default: 1.0.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CELU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.865, 0.0, 2.0]
    """

    _function, _settings = "celu", {"alpha": 1.0}


class SELU(FunctionLayer):
    """Scaled ELU: `scale * (x if x > 0 else alpha * (exp(x) - 1))` (Klambauer et al., 2017).

    With the default constants, and inputs of mean 0 and variance 1, activations keep that mean and variance through
    layers.

    Arguments:
        scale: factor of the output. Default: 1.0507009873554805.
        alpha: factor of the exponential part. Default: 1.6732632423543772.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SELU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-1.52, 0.0, 2.101]
    """

    _function = "selu"
    _settings = {"scale": 1.0507009873554805, "alpha": 1.6732632423543772}


class GELU(FunctionLayer):
    """Gaussian error linear unit: `x * Phi(x)`, with Phi the distribution function of the standard normal distribution.

    Arguments:
        approximate: True: the tanh approximation `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`; False:
            the exact function. Default: False.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.GELU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.046, 0.0, 1.954]
    """

    _function, _settings = "gelu", {"approximate": False}


class Sigmoid(FunctionLayer):
    """Logistic sigmoid: `1 / (1 + exp(-x))`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Sigmoid()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [0.119, 0.5, 0.881]
    """

    _function = "sigmoid"


class Tanh(FunctionLayer):
    """Hyperbolic tangent: `(exp(x) - exp(-x)) / (exp(x) + exp(-x))`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Tanh()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.964, 0.0, 0.964]
    """

    _function = "tanh"


class Silu(FunctionLayer):
    """Sigmoid linear unit: `x * sigmoid(x)`.

    Arguments:
        inplace: write the result into the input. Default: False.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SiLU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.238, 0.0, 1.762]
    """

    _function, _settings, _shown = "silu", {"inplace": False}, ("inplace",)


SiLU = Silu


class Swish(FunctionLayer):
    """Swish, the same function as Silu: `x * sigmoid(x)`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Swish()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.238, 0.0, 1.762]
    """

    _function = "swish"


class Mish(FunctionLayer):
    """Mish: `x * tanh(softplus(x))`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Mish()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.253, 0.0, 1.944]
    """

    _function = "mish"


class Hardswish(FunctionLayer):
    """Piecewise linear approximation of Swish: `x * min(max(x + 3, 0), 6) / 6`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Hardswish()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.333, 0.0, 1.667]
    """

    _function = "hardswish"


class Hardsigmoid(FunctionLayer):
    """Piecewise linear approximation of the sigmoid: `min(max(x / 6 + 0.5, 0), 1)`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Hardsigmoid()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [0.167, 0.5, 0.833]
    """

    _function = "hardsigmoid"


class Hardtanh(FunctionLayer):
    """Limit elements to an interval: `min(max(x, min), max)`.

    Arguments:
        min: lower bound of the output. Default: -1.0.
        max: upper bound of the output. Default: 1.0.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Hardtanh()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-1.0, 0.0, 1.0]
    """

    _function, _settings = "hardtanh", {"min": -1.0, "max": 1.0}


class Hardshrink(FunctionLayer):
    """Hard shrinkage: `x` if |x| > threshold, else 0.

    Arguments:
        threshold: half the width of the interval that is mapped to zero. Default: 0.5.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Hardshrink()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-2.0, 0.0, 2.0]
    """

    _function, _settings = "hardshrink", {"threshold": 0.5}


class Softshrink(FunctionLayer):
    """Soft shrinkage: `sign(x) * max(|x| - threshold, 0)`.

    Arguments:
        threshold: how far elements are moved towards zero; at least 0. Default: 0.5.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softshrink()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-1.5, 0.0, 1.5]
    """

    _function, _settings = "softshrink", {"threshold": 0.5}


class Tanhshrink(FunctionLayer):
    """Shrinkage by the hyperbolic tangent: `x - tanh(x)`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Tanhshrink()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-1.036, 0.0, 1.036]
    """

    _function = "tanhshrink"


class ThresholdedReLU(FunctionLayer):
    """Thresholded ReLU: `x` if x > threshold, else `value`.

    Arguments:
        threshold: elements above it are passed through. Default: 1.0.
        value: output for all other elements. Default: 0.0.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ThresholdedReLU()(paddle.to_tensor([0.5, 2.0])).tolist()
        [0.0, 2.0]
    """

    _function, _settings = "thresholded_relu", {"threshold": 1.0, "value": 0.0}


class Softplus(FunctionLayer):
    """Smooth approximation of ReLU: `log(1 + exp(beta * x)) / beta`.

    Arguments:
        beta: sharpness; the larger, the closer to ReLU. Default: 1.
        threshold: where beta * x exceeds it, the output is x itself, for numerical stability. Default: 20.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softplus()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [0.127, 0.693, 2.127]
    """

    _function, _settings = "softplus", {"beta": 1, "threshold": 20}


class Softsign(FunctionLayer):
    """Softsign: `x / (1 + |x|)`.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softsign()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.667, 0.0, 0.667]
    """

    _function = "softsign"


class LogSigmoid(FunctionLayer):
    """Logarithm of the sigmoid: `log(1 / (1 + exp(-x)))`, computed without overflow.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LogSigmoid()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-2.127, -0.693, -0.127]
    """

    _function = "log_sigmoid"


class Softmax(FunctionLayer):
    """Softmax: `exp(x) / sum(exp(x))` along a dimension.

    Arguments:
        axis: dimension along which the output sums to 1; negative values count from the last. Default: -1.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softmax()(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.5, 0.5]
    """

    _function, _settings = "softmax", {"axis": -1}


class LogSoftmax(FunctionLayer):
    """Logarithm of the softmax: `x - log(sum(exp(x)))` along a dimension, computed without overflow.

    Arguments:
        axis: dimension along which the probabilities sum to 1; negative values count from the last. Default: -1.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LogSoftmax()(paddle.zeros([1, 2])).exp().tolist()
        [[0.5, 0.5]]
    """

    _function, _settings = "log_softmax", {"axis": -1}


class Softmax2D(Layer):
    """Softmax over the channels of images, at each pixel.

    Shape:
        Input: [N, C, H, W] or [C, H, W].
        Output: the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softmax2D()(paddle.ones([1, 2, 1, 1])).flatten().tolist()
        [0.5, 0.5]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        """Return the softmax of x over dimension -3."""
        if x.ndim not in (3, 4):
            raise ValueError(f"Softmax2D: a tensor of 3 or 4 dimensions is expected, got the shape {[*x.shape]}")
        return F.softmax(x, axis=-3)


class Maxout(FunctionLayer):
    """Maximum over groups of consecutive channels (Goodfellow et al., 2013).

    Arguments:
        groups: channels in each group; the number of channels must be a multiple of it.
        axis: the channel dimension: 1 for NCHW, 3 or -1 for NHWC. Default: 1.

    Shape:
        Input: [N, C, H, W].
        Output: [N, C / groups, H, W].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Maxout(2)(paddle.ones([1, 4, 2, 2])).shape
        paddle.Size([1, 2, 2, 2])
    """

    _function, _settings = "maxout", {"groups": REQUIRED, "axis": 1}


class GLU(FunctionLayer):
    """Gated linear unit: `a * sigmoid(b)`, with a and b the two halves of the input (Dauphin et al., 2017).

    Arguments:
        axis: dimension to halve; its size must be even. Default: -1.

    Shape:
        The output has half the size of the input along `axis`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.GLU()(paddle.ones([1, 4])).shape
        paddle.Size([1, 2])
    """

    _function, _settings = "glu", {"axis": -1}


class RReLU(FunctionLayer):
    """Leaky ReLU with a random slope for each negative element (Xu et al., 2015).

    In training mode the slope is drawn uniformly from [lower, upper]; in evaluation mode it is (lower + upper) / 2.

    Arguments:
        lower: smallest slope.
        upper: largest slope.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.RReLU()(paddle.to_tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """

    _function, _settings = "rrelu", {"lower": 1.0 / 8, "upper": 1.0 / 3}
    _takes_training = True

    def extra_repr(self) -> str:
        """Return its settings."""
        what = f"lower={self.lower}, upper={self.upper}, training={self.training}"
        return f"{what}, dtype={as_dtype(self._dtype).name}" + (f", name={self._name}" if self._name else "")


class PReLU(Layer):
    """Leaky ReLU with a trainable slope: `x` if x >= 0, else `weight * x` (He et al., 2015).

    Arguments:
        num_parameters: 1 for one slope, or the number of channels for one slope per channel. Default: 1.
        init: initial value of the slope. Default: 0.25.
        weight_attr: ParamAttr, initializer or name of the slope.
        data_format: position of the channels: "NCHW", "NHWC", or the formats of other ranks. Default: 'NCHW'.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.PReLU()(paddle.to_tensor([-1.0, 2.0])).tolist()
        [-0.25, 2.0]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_parameters, self._init, self._data_format, self._name = num_parameters, init, data_format, name
        self._weight_attr = weight_attr
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Any) -> Any:
        """Return `x` where it is positive and `weight * x` elsewhere."""
        return F.prelu(x, self._weight, data_format=self._data_format)

    def extra_repr(self) -> str:
        """Return its settings."""
        what = f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}"
        return f"{what}, dtype={self._weight.dtype.name}" + (f", name={self._name}" if self._name else "")
