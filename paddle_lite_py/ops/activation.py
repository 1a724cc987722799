"""Activations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .. import dtypes
from ..op import op

__all__ = [
    *("celu", "elu", "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "log_sigmoid", "log_softmax", "mish"),
    *("prelu", "relu", "relu6", "selu", "silu", "softmax", "softplus", "softsign", "swish", "tanhshrink"),
]


@op(inplace="relu_")
def relu(x: Any, /) -> Any:
    """max(x, 0)."""
    return jnp.maximum(x, 0)


@op
def relu6(x: Any, /) -> Any:
    """min(max(x, 0), 6)."""
    return jnp.clip(x, 0, 6)


@op
def leaky_relu(x: Any, /, negative_slope: float = 0.01) -> Any:
    """x where positive, negative_slope * x elsewhere."""
    return jnp.where(x > 0, x, x * negative_slope)


@op(inplace="elu_")
def elu(x: Any, /, alpha: float = 1.0) -> Any:
    """x where positive, alpha * (exp(x) - 1) elsewhere."""
    return jax.nn.elu(x, alpha)


@op
def celu(x: Any, /, alpha: float = 1.0) -> Any:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    return jax.nn.celu(x, alpha)


@op
def selu(x: Any, /, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772) -> Any:
    """scale * x where positive, scale * alpha * (exp(x) - 1) elsewhere."""
    return scale * jnp.where(x > 0, x, alpha * jnp.expm1(jnp.minimum(x, 0)))


@op
def gelu(x: Any, /, approximate: bool = False) -> Any:
    """x times the normal distribution function of x."""
    return jax.nn.gelu(x, approximate=approximate)


@op
def silu(x: Any, /) -> Any:
    """x * sigmoid(x)."""
    return jax.nn.silu(x)


@op
def swish(x: Any, /) -> Any:
    """x * sigmoid(x)."""
    return jax.nn.silu(x)


@op
def mish(x: Any, /) -> Any:
    """x * tanh(softplus(x))."""
    return x * jnp.tanh(jax.nn.softplus(x))


@op
def hardswish(x: Any, /) -> Any:
    """x * min(max(x + 3, 0), 6) / 6."""
    return x * jnp.clip(x + 3, 0, 6) / 6


@op
def hardsigmoid(x: Any, /, slope: float = 0.1666667, offset: float = 0.5) -> Any:
    """min(max(slope * x + offset, 0), 1)."""
    return jnp.clip(x * slope + offset, 0, 1)


@op
def hardtanh(x: Any, /, min: float = -1.0, max: float = 1.0) -> Any:
    """x limited to [min, max]."""
    return jnp.clip(x, min, max)


@op
def softplus(x: Any, /, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x exceeds threshold."""
    return jnp.where(x * beta > threshold, x, jax.nn.softplus(x * beta) / beta)


@op
def softsign(x: Any, /) -> Any:
    """x / (1 + |x|)."""
    return x / (1 + jnp.abs(x))


@op
def tanhshrink(x: Any, /) -> Any:
    """x - tanh(x)."""
    return x - jnp.tanh(x)


@op
def log_sigmoid(x: Any, /) -> Any:
    """Logarithm of sigmoid(x)."""
    return jax.nn.log_sigmoid(x)


@op
def prelu(x: Any, weight: Any, /, data_format: str = "NCHW") -> Any:
    """x where positive, weight * x elsewhere; one weight in all, or one a channel."""
    if weight.size > 1:
        shape = [1] * x.ndim
        shape[-1 if data_format[-1] == "C" else 1] = -1
        weight = weight.reshape(shape)
    return jnp.where(x > 0, x, x * weight)


def _in(x: Any, dtype: Any) -> Any:
    return x if dtype is None else x.astype(dtypes.as_dtype(dtype).np)


@op(methods=["softmax"], amp="black")
def softmax(x: Any, /, axis: int = -1, dtype: Any = None) -> Any:
    """exp(x) over its sum along an axis."""
    return jax.nn.softmax(_in(x, dtype), axis=axis)


@op(amp="black")
def log_softmax(x: Any, /, axis: int = -1, dtype: Any = None) -> Any:
    """Logarithm of softmax."""
    return jax.nn.log_softmax(_in(x, dtype), axis=axis)
