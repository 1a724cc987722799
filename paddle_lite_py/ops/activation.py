"""Activations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..dispatch.call_cache import call_cached
from ..dispatch.define import INPLACE, op
from ..eager.tensor import Tensor
from .subgradients import between
from .types import Array

__all__ = [
    *("celu", "elu", "elu_", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "leaky_relu"),
    *("leaky_relu_", "log_sigmoid", "logsigmoid", "mish", "prelu", "relu", "relu6", "relu_", "rrelu", "selu", "silu"),
    *("softplus", "softshrink", "softsign", "swish", "tanhshrink", "thresholded_relu", "thresholded_relu_"),
]


@op(inplace="relu_")
def relu(x: Array, /) -> Any:
    """Apply the rectified linear unit elementwise: `out = max(x, 0)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.relu(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    return _relu(x)


@jax.custom_jvp
def _relu(x: Any) -> Any:
    """As jax.nn.relu, which JAX takes twice as long to trace: its gradient at 0 is 0, and that of maximum() a half."""
    return jax.lax.max(x, np.zeros((), x.dtype))


@_relu.defjvp
def _relu_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (g,) = primals, tangents
    return _relu(x), jax.lax.select(jax.lax.gt(x, np.zeros((), x.dtype)), g, jax.lax.full_like(g, 0))


@op
def relu6(x: Array, /) -> Any:
    """Apply ReLU limited to 6 elementwise: `out = min(max(x, 0), 6)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.relu6(paddle.to_tensor([-1.0, 2.0, 8.0])).tolist()
        [0.0, 2.0, 6.0]
    """
    return between(x, 0, 6)


@op(inplace="leaky_relu_")
def leaky_relu(x: Array, /, negative_slope: float = 0.01) -> Any:
    """Apply leaky ReLU elementwise: `x` where `x >= 0`, else `negative_slope * x`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.leaky_relu(paddle.to_tensor([-1.0, 2.0]), 0.5).tolist()
        [-0.5, 2.0]
    """
    return jnp.where(x >= 0, x, x * negative_slope)


@op(inplace="elu_")
def elu(x: Array, /, alpha: float = 1.0) -> Any:
    """Apply the exponential linear unit elementwise: `x` where `x > 0`, else `alpha * (exp(x) - 1)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.elu(paddle.to_tensor([-100.0, 2.0])).tolist()
        [-1.0, 2.0]
    """
    return jax.nn.elu(x, alpha)


@op
def celu(x: Array, /, alpha: float = 1.0) -> Any:
    """Apply the continuous ELU elementwise: `out = max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.celu(paddle.to_tensor([-100.0, 2.0]), 2.0).tolist()
        [-2.0, 2.0]
    """
    return jax.nn.celu(x, alpha)


@op
def selu(x: Array, /, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772) -> Any:
    """Apply the scaled ELU elementwise: `scale * x` where `x > 0`, else `scale * alpha * (exp(x) - 1)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.selu(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    if scale <= 1 or alpha < 0:
        raise ValueError(f"scale is {scale} and alpha {alpha}; expected a scale above 1 and an alpha of at least 0")
    return scale * jnp.where(x > 0, x, alpha * jnp.expm1(jnp.where(x > 0, 0, x)))


@op
def gelu(x: Array, /, approximate: bool | str = False) -> Any:
    """Apply the Gaussian error linear unit elementwise: `out = x * Phi(x)`, Phi being the standard normal CDF.

    Arguments:
        approximate: True or "tanh": use the tanh approximation; False or "none": the exact form. Default: False.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Raises:
        ValueError: if the value is invalid.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.gelu(paddle.to_tensor([0.0, 100.0])).tolist()
        [0.0, 100.0]
    """
    if isinstance(approximate, str) and approximate not in ("tanh", "none"):
        raise ValueError(f"approximate is {approximate!r}; expected 'tanh', 'none' or a boolean")
    return jax.nn.gelu(x, approximate=approximate != "none" and bool(approximate))


@op(name="silu")
def _silu(x: Any, /) -> Any:
    return jax.nn.silu(x)


@call_cached("x")
def silu(x: Tensor, inplace: bool = False, name: str | None = None) -> Any:
    """Apply the sigmoid linear unit (SiLU, swish) elementwise: `out = x * sigmoid(x)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.silu(paddle.to_tensor([0.0, 100.0])).tolist()
        [0.0, 100.0]
    """
    return x._rebind(_silu(x), False) if inplace else _silu(x)


@op
def swish(x: Array, /) -> Any:
    """Apply swish elementwise: `out = x * sigmoid(x)`, as `silu()`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.swish(paddle.to_tensor([0.0, 100.0])).tolist()
        [0.0, 100.0]
    """
    return jax.nn.silu(x)


@op
def mish(x: Array, /) -> Any:
    """Apply Mish elementwise: `out = x * tanh(softplus(x))`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.mish(paddle.to_tensor([0.0, 100.0])).tolist()
        [0.0, 100.0]
    """
    return x * jnp.tanh(jax.nn.softplus(x))


@op
def hardswish(x: Array, /) -> Any:
    """Apply hard swish elementwise: `out = x * min(max(x + 3, 0), 6) / 6`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.hardswish(paddle.to_tensor([0.0, 5.0])).tolist()
        [0.0, 5.0]
    """
    return x * between(x + 3, 0, 6) / 6


@op
def hardsigmoid(x: Array, /, slope: float = 0.1666667, offset: float = 0.5) -> Any:
    """Apply the piecewise linear sigmoid elementwise: `out = min(max(slope * x + offset, 0), 1)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.hardsigmoid(paddle.to_tensor([-4.0, 0.0, 5.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    return between(x * slope + offset, 0, 1)


@op(inplace="hardtanh_")
def hardtanh(x: Array, /, min: float = -1.0, max: float = 1.0) -> Any:
    """Clamp each element to [min, max]: `out = min(max(x, min), max)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.hardtanh(paddle.to_tensor([-4.0, 0.5, 5.0])).tolist()
        [-1.0, 0.5, 1.0]
    """
    return between(x, min, max)


@op(amp="black")
def softplus(x: Array, /, beta: float = 1, threshold: float = 20) -> Any:
    """Apply softplus elementwise: `out = log(1 + exp(beta * x)) / beta`, or `x` where `beta * x > threshold`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.softplus(paddle.to_tensor([-200.0, 100.0])).tolist()
        [0.0, 100.0]
    """
    return jnp.where(x * beta > threshold, x, jax.nn.softplus(x * beta) / beta)


@op
def softsign(x: Array, /) -> Any:
    """Apply softsign elementwise: `out = x / (1 + |x|)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.softsign(paddle.to_tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """
    return x / (1 + jnp.abs(x))


@op(amp="black")
def tanhshrink(x: Array, /) -> Any:
    """Apply tanhshrink elementwise: `out = x - tanh(x)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.tanhshrink(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return x - jnp.tanh(x)


@op
def log_sigmoid(x: Array, /) -> Any:
    """Compute the logarithm of the sigmoid elementwise: `out = -log(1 + exp(-x))`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.log_sigmoid(paddle.to_tensor([-100.0])).tolist()
        [-100.0]
    """
    return jax.nn.log_sigmoid(x)


@op
def prelu(x: Array, weight: Array, /, data_format: str = "NCHW") -> Any:
    """Apply parametric ReLU: `x` where `x > 0`, else `weight * x`.

    `weight` has one element for all channels, or one per channel.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.prelu(paddle.to_tensor([-1.0, 2.0]), paddle.to_tensor([0.5])).tolist()
        [-0.5, 2.0]
    """
    if weight.size > 1:
        shape = [1] * x.ndim
        shape[-1 if data_format[-1] == "C" else 1] = -1
        weight = weight.reshape(shape)
    return jnp.where(x > 0, x, x * weight.astype(x.dtype))


@op
def hardshrink(x: Array, /, threshold: float = 0.5) -> Any:
    """Apply hard shrinkage elementwise: `x` where `|x| > threshold`, else 0.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.hardshrink(paddle.to_tensor([-1.0, 0.25])).tolist()
        [-1.0, 0.0]
    """
    return jnp.where(jnp.abs(x) <= threshold, 0, x)


@op
def softshrink(x: Array, /, threshold: float = 0.5) -> Any:
    """Apply soft shrinkage elementwise: `out = sign(x) * max(|x| - threshold, 0)`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.softshrink(paddle.to_tensor([-1.0, 0.25])).tolist()
        [-0.5, 0.0]
    """
    return jnp.where(jnp.abs(x) <= threshold, 0, x - threshold * jnp.sign(x))


@op(inplace="thresholded_relu_")
def thresholded_relu(x: Array, /, threshold: float = 1.0, value: float = 0.0) -> Any:
    """Apply thresholded ReLU elementwise: `x` where `x > threshold`, else `value`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.thresholded_relu(paddle.to_tensor([0.5, 2.0])).tolist()
        [0.0, 2.0]
    """
    return jnp.where(x <= threshold, value, x)


@op(name="rrelu", random=True)
def _rrelu(key: Any, x: Any, /, lower: float, upper: float) -> Any:
    return jnp.where(x >= 0, x, x * jax.random.uniform(key, x.shape, x.dtype, lower, upper))


@call_cached("x")
def rrelu(x: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = True, name: str | None = None) -> Any:
    """Apply randomized leaky ReLU: in training, a slope drawn uniformly from [lower, upper] per element.

    Otherwise the slope is the mean of `lower` and `upper`.

    Returns:
        A tensor with the shape of `x`, and its dtype if that is floating-point.

    Raises:
        ValueError: if not 0 <= lower <= upper <= 1.

    Source: Xu et al., Empirical Evaluation of Rectified Activations in Convolutional Network, 2015.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.rrelu(paddle.to_tensor([-1.0, 2.0]), 0.0, 0.5, training=False).tolist()
        [-0.25, 2.0]
    """
    if not 0 <= lower <= upper <= 1:
        raise ValueError(f"rrelu: the slopes go from {lower} to {upper}; expected 0 <= lower <= upper <= 1")
    fn: Any = _rrelu if training else leaky_relu
    return fn(x, lower, upper) if training else fn(x, (lower + upper) / 2)


logsigmoid = log_sigmoid
relu_, elu_, leaky_relu_, hardtanh_, thresholded_relu_ = (
    INPLACE[n] for n in ("relu_", "elu_", "leaky_relu_", "hardtanh_", "thresholded_relu_")
)
