"""Softmax and related activations that normalize or gate elements."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core import dtypes
from ..dispatch.define import INPLACE, op
from .promote import from_start, of_scalar, scalar_as_vector
from .types import Array, DTypeLike

__all__ = ["glu", "gumbel_softmax", "log_softmax", "maxout", "softmax", "softmax_", "swiglu"]


def _along(x: Any, axis: Any) -> Any:
    if not x.ndim:
        of_scalar(axis)
    return axis if x.ndim else None


def _in(x: Any, dtype: Any) -> Any:
    return x if dtype is None else x.astype(dtypes.as_dtype(dtype).np)


@op(methods=["softmax"], inplace="softmax_", amp="black")
def softmax(x: Array, /, axis: int = -1, dtype: DTypeLike = None) -> Any:
    """Compute the softmax along a dimension: `out = exp(x) / sum(exp(x))`.

    Returns:
        A floating-point tensor with the shape of `x` whose elements sum to 1 along `axis`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.softmax(paddle.zeros([4])).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    return jax.nn.softmax(_in(x, dtype), axis=_along(x, axis))


@op(amp="black")
def log_softmax(x: Array, /, axis: int = -1, dtype: DTypeLike = None) -> Any:
    """Compute the logarithm of the softmax along a dimension: `out = x - log(sum(exp(x)))`.

    Returns:
        A floating-point tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.log_softmax(paddle.to_tensor([0.0, 100.0])).tolist()
        [-100.0, 0.0]
    """
    return jax.nn.log_softmax(_in(x, dtype), axis=_along(x, axis))


@op(name="gumbel_softmax", random=True)
@scalar_as_vector
def _gumbel(key: Any, x: Any, /, temperature: float, hard: bool, axis: int) -> Any:
    soft = jax.nn.softmax((x + jax.random.gumbel(key, x.shape, x.dtype)) / temperature, axis=axis)
    if not hard:
        return soft
    one = jax.nn.one_hot(jnp.argmax(soft, axis=axis), x.shape[axis], axis=axis, dtype=x.dtype)
    return soft + jax.lax.stop_gradient(one - soft)


def gumbel_softmax(x: Any, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: Any = None) -> Any:
    """Sample from the Gumbel-softmax distribution: a differentiable relaxation of categorical sampling.

    Arguments:
        temperature: positive number; the smaller it is, the closer the samples are to one-hot vectors. Default: 1.0.
        hard: return one-hot vectors, with the gradient of the relaxed samples. Default: False.

    Returns:
        The samples, with the shape of the logits `x`; they sum to 1 along `axis`.

    Source: Jang et al., Categorical Reparameterization with Gumbel-Softmax, 2016.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.gumbel_softmax(paddle.to_tensor([0.0, 1000.0]), hard=True).tolist()
        [0.0, 1.0]
    """
    if temperature <= 0:
        raise ValueError(f"gumbel_softmax: temperature is {temperature}; expected a positive number")
    fn: Any = _gumbel
    return fn(x, temperature, hard, axis)


def _halves(x: Any, axis: int) -> Any:
    if x.shape[axis] % 2:
        raise ValueError(f"axis {axis} of x has size {x.shape[axis]}; expected an even number")
    return jnp.split(x, 2, axis=axis)


@op
def glu(x: Array, /, axis: int = -1) -> Any:
    """Apply the gated linear unit: `out = a * sigmoid(b)`, where a and b are the halves of `x` along `axis`.

    Returns:
        A tensor with half the size of `x` along `axis`.

    Source: Dauphin et al., Language Modeling with Gated Convolutional Networks, 2016.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.glu(paddle.to_tensor([3.0, 0.0])).tolist()
        [1.5]
    """
    a, b = _halves(x, axis)
    return a * jax.nn.sigmoid(b)


@op
def swiglu(x: Array, y: Array | None = None, /) -> Any:
    """Apply the SwiGLU gate: `out = silu(x) * y`.

    Returns:
        A tensor with the shape of `x`; with half its last dimension if `y` is None, when the halves of `x` stand for x
        and y.

    Source: Shazeer, GLU Variants Improve Transformer, 2020.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.swiglu(paddle.to_tensor([100.0, 2.0])).tolist()
        [200.0]
    """
    a, b = _halves(x, -1) if y is None else (x, y)
    return jax.nn.silu(a) * b


@op
def maxout(x: Array, /, groups: int, axis: int = 1) -> Any:
    """Compute the maximum over each group of `groups` adjacent channels.

    Returns:
        A tensor with `1 / groups` of the channels of `x`.

    Source: Goodfellow et al., Maxout Networks, 2013.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.maxout(paddle.to_tensor([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
        [[3.0, 2.0]]
    """
    axis = from_start(axis, x.ndim)
    n = x.shape[axis]
    if n % groups:
        raise ValueError(f"x has {n} channels, which groups={groups} does not divide")
    return jnp.max(x.reshape(*x.shape[:axis], n // groups, groups, *x.shape[axis + 1 :]), axis=axis + 1)


softmax_ = INPLACE["softmax_"]
