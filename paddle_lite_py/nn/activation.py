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
    """max(x, 0).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReLU()(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    _function = "relu"


class ReLU6(FunctionLayer):
    """min(max(x, 0), 6).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ReLU6()(paddle.to_tensor([-1.0, 2.0, 8.0])).tolist()
        [0.0, 2.0, 6.0]
    """

    _function = "relu6"


class LeakyReLU(FunctionLayer):
    """x where it is positive, negative_slope * x elsewhere.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LeakyReLU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.02, 0.0, 2.0]
    """

    _function, _settings = "leaky_relu", {"negative_slope": 0.01}


class ELU(FunctionLayer):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ELU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.865, 0.0, 2.0]
    """

    _function, _settings = "elu", {"alpha": 1.0}


class CELU(FunctionLayer):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CELU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.865, 0.0, 2.0]
    """

    _function, _settings = "celu", {"alpha": 1.0}


class SELU(FunctionLayer):
    """scale * ELU(x) that keeps mean and variance (Klambauer et al., 2017).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SELU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-1.52, 0.0, 2.101]
    """

    _function = "selu"
    _settings = {"scale": 1.0507009873554805, "alpha": 1.6732632423543772}


class GELU(FunctionLayer):
    """x times the normal distribution function of x; `approximate` takes the tanh form.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.GELU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.046, 0.0, 1.954]
    """

    _function, _settings = "gelu", {"approximate": False}


class Sigmoid(FunctionLayer):
    """1 / (1 + exp(-x)).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Sigmoid()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [0.119, 0.5, 0.881]
    """

    _function = "sigmoid"


class Tanh(FunctionLayer):
    """Hyperbolic tangent.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Tanh()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.964, 0.0, 0.964]
    """

    _function = "tanh"


class Silu(FunctionLayer):
    """x * sigmoid(x).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SiLU()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.238, 0.0, 1.762]
    """

    _function, _settings, _shown = "silu", {"inplace": False}, ("inplace",)


SiLU = Silu


class Swish(FunctionLayer):
    """x * sigmoid(x).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Swish()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.238, 0.0, 1.762]
    """

    _function = "swish"


class Mish(FunctionLayer):
    """x * tanh(softplus(x)).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Mish()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.253, 0.0, 1.944]
    """

    _function = "mish"


class Hardswish(FunctionLayer):
    """x * min(max(x + 3, 0), 6) / 6.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Hardswish()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.333, 0.0, 1.667]
    """

    _function = "hardswish"


class Hardsigmoid(FunctionLayer):
    """x / 6 + 0.5, within [0, 1].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Hardsigmoid()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [0.167, 0.5, 0.833]
    """

    _function = "hardsigmoid"


class Hardtanh(FunctionLayer):
    """x within [min, max].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Hardtanh()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-1.0, 0.0, 1.0]
    """

    _function, _settings = "hardtanh", {"min": -1.0, "max": 1.0}


class Hardshrink(FunctionLayer):
    """x where |x| > threshold, 0 elsewhere.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Hardshrink()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-2.0, 0.0, 2.0]
    """

    _function, _settings = "hardshrink", {"threshold": 0.5}


class Softshrink(FunctionLayer):
    """x moved towards 0 by threshold.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softshrink()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-1.5, 0.0, 1.5]
    """

    _function, _settings = "softshrink", {"threshold": 0.5}


class Tanhshrink(FunctionLayer):
    """x - tanh(x).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Tanhshrink()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-1.036, 0.0, 1.036]
    """

    _function = "tanhshrink"


class ThresholdedReLU(FunctionLayer):
    """x where x > threshold, `value` elsewhere.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.ThresholdedReLU()(paddle.to_tensor([0.5, 2.0])).tolist()
        [0.0, 2.0]
    """

    _function, _settings = "thresholded_relu", {"threshold": 1.0, "value": 0.0}


class Softplus(FunctionLayer):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softplus()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [0.127, 0.693, 2.127]
    """

    _function, _settings = "softplus", {"beta": 1, "threshold": 20}


class Softsign(FunctionLayer):
    """x / (1 + |x|).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softsign()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-0.667, 0.0, 0.667]
    """

    _function = "softsign"


class LogSigmoid(FunctionLayer):
    """log(sigmoid(x)).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LogSigmoid()(paddle.to_tensor([-2.0, 0.0, 2.0])).astype("float64").numpy().round(3).tolist()
        [-2.127, -0.693, -0.127]
    """

    _function = "log_sigmoid"


class Softmax(FunctionLayer):
    """exp(x), normalized to sum 1 along axis.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softmax()(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.5, 0.5]
    """

    _function, _settings = "softmax", {"axis": -1}


class LogSoftmax(FunctionLayer):
    """log(softmax(x)) along axis.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LogSoftmax()(paddle.zeros([1, 2])).exp().tolist()
        [[0.5, 0.5]]
    """

    _function, _settings = "log_softmax", {"axis": -1}


class Softmax2D(Layer):
    """Softmax over the channels of images [N, C, H, W] or [C, H, W].

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Softmax2D()(paddle.ones([1, 2, 1, 1])).flatten().tolist()
        [0.5, 0.5]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        """Softmax along the channels."""
        if x.ndim not in (3, 4):
            raise ValueError(f"Softmax2D: a tensor of 3 or 4 dimensions is expected, got the shape {[*x.shape]}")
        return F.softmax(x, axis=-3)


class Maxout(FunctionLayer):
    """The largest of each group of channels.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Maxout(2)(paddle.ones([1, 4, 2, 2])).shape
        paddle.Size([1, 2, 2, 2])
    """

    _function, _settings = "maxout", {"groups": REQUIRED, "axis": 1}


class GLU(FunctionLayer):
    """The first half along axis times the sigmoid of the second.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.GLU()(paddle.ones([1, 4])).shape
        paddle.Size([1, 2])
    """

    _function, _settings = "glu", {"axis": -1}


class RReLU(FunctionLayer):
    """LeakyReLU with a slope drawn from [lower, upper] for each element while training, and their mean otherwise.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.RReLU()(paddle.to_tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """

    _function, _settings = "rrelu", {"lower": 1.0 / 8, "upper": 1.0 / 3}
    _takes_training = True

    def extra_repr(self) -> str:
        """Its settings."""
        what = f"lower={self.lower}, upper={self.upper}, training={self.training}"
        return f"{what}, dtype={as_dtype(self._dtype).name}" + (f", name={self._name}" if self._name else "")


class PReLU(Layer):
    """LeakyReLU with a trained slope, one for all or one a channel (He et al., 2015).

    Arguments:
        num_parameters: 1, or the number of channels.
        init: first value of the slope.
        weight_attr: ParamAttr of the slope.
        data_format: where the channels are.

    Example:
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
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Any) -> Any:
        """x where it is positive, slope * x elsewhere."""
        return F.prelu(x, self._weight, data_format=self._data_format)

    def extra_repr(self) -> str:
        """Its settings."""
        what = f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}"
        return f"{what}, dtype={self._weight.dtype.name}" + (f", name={self._name}" if self._name else "")
