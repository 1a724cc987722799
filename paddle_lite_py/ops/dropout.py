"""Dropout of elements, channels or features in training."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..dispatch.define import op
from ..dispatch.respelling import respelt
from . import threefry
from .base import identity
from .promote import from_start

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

# The value that selu() tends to for large negative x: -scale * alpha.
_SATURATED = -1.0507009873554805 * 1.6732632423543772


def _keep(key: Any, x: Any, p: float, axis: Any) -> Any:
    """Draw a keep mask, shared along the axes that are not listed."""
    shape = x.shape
    if axis is not None:
        own = {from_start(a, x.ndim) for a in ((axis,) if isinstance(axis, int) else axis)}
        shape = tuple([n if i in own else 1 for i, n in enumerate(shape)])
    return threefry.bernoulli(key, 1 - p, shape)


@op(name="dropout", random=True)
def _dropout(key: Any, x: Any, /, p: float, axis: Any, upscale: bool) -> Any:
    return jnp.where(_keep(key, x, p, axis), x / (1 - p) if upscale and p < 1 else x, 0).astype(x.dtype)


def _check(function: str, p: Any) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"{function}: p is {p!r}; expected a probability between 0 and 1")


@respelt
def dropout(
    x: Any,
    p: float = 0.5,
    axis: Any = None,
    training: bool = True,
    inplace: bool = False,
    mode: str = "upscale_in_train",
    name: Any = None,
) -> Any:
    """Set each element to zero with probability `p` in training, and rescale the rest.

    Arguments:
        axis: int or list of ints, the dimensions along which elements are dropped independently; the mask is shared
            along the others. None: all.
        inplace: write the result into `x`. Default: False.
        mode: "upscale_in_train": divide kept elements by `1 - p` in training; "downscale_in_infer": multiply by `1 - p`
            in inference. Default: "upscale_in_train".

    Returns:
        A tensor with the shape and dtype of `x`.

    Raises:
        ValueError: if `p` is not in [0, 1], or `mode` is invalid.

    Source: Srivastava et al., Dropout, 2014.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> set(paddle.nn.functional.dropout(paddle.ones([100])).tolist()) == {0.0, 2.0}
        True
    """
    _check("dropout", p)
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ValueError(f"dropout: mode is {mode!r}; expected 'upscale_in_train' or 'downscale_in_infer'")
    fn: Any = _dropout
    if training and p > 0:
        out = fn(x, p, axis, mode == "upscale_in_train")
    else:
        out = x if mode == "upscale_in_train" or training else x * (1 - p)
    if inplace:
        return x if out is x else x._rebind(out, False)
    return _itself(x) if out is x else out


def _itself(x: Any) -> Any:
    """The value of x on a handle of its own: what is done to it in place is not done to x, whose gradient it gives."""
    return x._twin() if x.stop_gradient or not x.is_leaf else identity(x)


def _channels(n: int, x: Any, p: float, training: bool, data_format: str) -> Any:
    if x.ndim != n + 2 and not (n == 1 and x.ndim == 2):
        raise ValueError(f"dropout{n}d: x has {x.ndim} dimensions; expected {n + 2}: batch, channels and {n} of space")
    if x.ndim == 2:
        return dropout(x, p, 0, training)
    return dropout(x, p, [0, 1 if data_format.startswith("NC") else x.ndim - 1], training)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Set whole channels of sequences [N, C, L] or [C, L] to zero with probability `p` in training.

    Returns:
        A tensor with the shape of `input`; kept channels are divided by `1 - p`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y = paddle.nn.functional.dropout1d(paddle.ones([2, 3, 4]))
        >>> bool((y == y[:, :, :1]).all())
        True
    """
    out = _channels(1, input, p, training, "NCL")
    return input._rebind(out, False) if inplace and out is not input else out


def dropout2d(x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: Any = None) -> Any:
    """Set whole channels of images [N, C, H, W] to zero with probability `p` in training.

    Returns:
        A tensor with the shape of `x`; kept channels are divided by `1 - p`.

    Source: Tompson et al., Efficient Object Localization Using Convolutional Networks, 2014.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y = paddle.nn.functional.dropout2d(paddle.ones([2, 3, 4, 4]))
        >>> bool((y == y[:, :, :1, :1]).all())
        True
    """
    return _channels(2, x, p, training, data_format)


def dropout3d(x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: Any = None) -> Any:
    """Set whole channels of volumes [N, C, D, H, W] to zero with probability `p` in training.

    Returns:
        A tensor with the shape of `x`; kept channels are divided by `1 - p`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y = paddle.nn.functional.dropout3d(paddle.ones([2, 3, 2, 2, 2]))
        >>> bool((y == y[:, :, :1, :1, :1]).all())
        True
    """
    return _channels(3, x, p, training, data_format)


@op(name="alpha_dropout", random=True)
def _alpha(key: Any, x: Any, /, p: float, axis: Any) -> Any:
    if p == 1:
        return x * 0
    a = ((1 - p) * (1 + p * _SATURATED**2)) ** -0.5
    return a * jnp.where(_keep(key, x, p, axis), x, _SATURATED) - a * _SATURATED * p


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: Any = None) -> Any:
    """Apply alpha dropout, which keeps mean 0 and variance 1: dropped elements get SELU's saturation value.

    Returns:
        A tensor with the shape of `x`.

    Source: Klambauer et al., Self-Normalizing Neural Networks, 2017.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> len(set(paddle.nn.functional.alpha_dropout(paddle.ones([100])).tolist()))
        2
    """
    _check("alpha_dropout", p)
    fn: Any = _alpha
    return fn(x, p, None) if training and p > 0 else x


def feature_alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: Any = None) -> Any:
    """Apply alpha dropout to whole channels.

    Returns:
        A tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y = paddle.nn.functional.feature_alpha_dropout(paddle.ones([2, 3, 4]))
        >>> bool((y == y[:, :, :1]).all())
        True
    """
    _check("feature_alpha_dropout", p)
    if x.ndim < 2:
        raise ValueError(f"feature_alpha_dropout: x has {x.ndim} dimensions; expected at least 2: batch and channels")
    fn: Any = _alpha
    return fn(x, p, (0, 1)) if training and p > 0 else x
