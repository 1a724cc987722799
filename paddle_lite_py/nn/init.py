"""Drawing the values of a parameter anew, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.interpreter import no_grad
from ..eager.tensor import Tensor
from .initializer import (
    Constant,
    Dirac,
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
)

__all__ = [
    *("constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_"),
    *("trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_"),
]


def _drawn(tensor: Tensor, initializer: Any) -> Tensor:
    with no_grad():
        initializer(tensor)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill a tensor in place with one value.

    Arguments:
        val: the value.

    Returns:
        The tensor.

    Examples:
        >>> constant_(paddle.zeros([2]), 3.0).tolist()
        [3.0, 3.0]
    """
    return _drawn(tensor, Constant(val))


def ones_(tensor: Tensor) -> Tensor:
    """Fill a tensor in place with ones.

    Returns:
        The tensor.
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill a tensor in place with zeros.

    Returns:
        The tensor.
    """
    return constant_(tensor, 0.0)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill a tensor in place with samples of the uniform distribution on [a, b].

    Arguments:
        a: lower bound. Default: 0.0.
        b: upper bound. Default: 1.0.

    Returns:
        The tensor.
    """
    return _drawn(tensor, Uniform(a, b))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill a tensor in place with samples of a normal distribution.

    Arguments:
        mean: mean of the distribution. Default: 0.0.
        std: standard deviation of the distribution. Default: 1.0.

    Returns:
        The tensor.
    """
    return _drawn(tensor, Normal(mean, std))


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Tensor:
    """Fill a tensor in place with samples of a normal distribution that is truncated to [a, b].

    Arguments:
        mean: mean of the distribution before truncation. Default: 0.0.
        std: standard deviation of the distribution before truncation. Default: 1.0.
        a: lower bound. Default: -2.0.
        b: upper bound. Default: 2.0.

    Returns:
        The tensor.
    """
    return _drawn(tensor, TruncatedNormal(mean, std, a, b))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, fan_in: Any = None, fan_out: Any = None) -> Tensor:
    """Fill a tensor in place by Glorot's uniform initialization; see initializer.XavierUniform.

    Arguments:
        gain: factor of the standard deviation. Default: 1.0.
        fan_in: number of inputs of a unit; None: from the shape.
        fan_out: number of outputs of a unit; None: from the shape.

    Returns:
        The tensor.
    """
    return _drawn(tensor, XavierUniform(fan_in, fan_out, gain=gain))


def xavier_normal_(tensor: Tensor, gain: float = 1.0, fan_in: Any = None, fan_out: Any = None) -> Tensor:
    """Fill a tensor in place by Glorot's normal initialization; see initializer.XavierNormal.

    Arguments:
        gain: factor of the standard deviation. Default: 1.0.
        fan_in: number of inputs of a unit; None: from the shape.
        fan_out: number of outputs of a unit; None: from the shape.

    Returns:
        The tensor.
    """
    return _drawn(tensor, XavierNormal(fan_in, fan_out, gain=gain))


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """Fill a tensor in place by He's uniform initialization; see initializer.KaimingUniform.

    Arguments:
        a: negative slope of the leaky_relu that follows. Default: 0.
        mode: "fan_in" preserves the variance of activations, "fan_out" that of gradients. Default: 'fan_in'.
        nonlinearity: name of the activation that follows. Default: 'leaky_relu'.

    Returns:
        The tensor.
    """
    return _drawn(tensor, KaimingUniform(negative_slope=a, nonlinearity=nonlinearity, mode=mode))


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """Fill a tensor in place by He's normal initialization; see initializer.KaimingNormal.

    Arguments:
        a: negative slope of the leaky_relu that follows. Default: 0.
        mode: "fan_in" preserves the variance of activations, "fan_out" that of gradients. Default: 'fan_in'.
        nonlinearity: name of the activation that follows. Default: 'leaky_relu'.

    Returns:
        The tensor.
    """
    return _drawn(tensor, KaimingNormal(negative_slope=a, nonlinearity=nonlinearity, mode=mode))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution kernel in place with the Dirac delta, so that the convolution is the identity.

    Arguments:
        tensor: the kernel [out_channels, in_channels, ...].
        groups: number of groups of the convolution. Default: 1.

    Returns:
        The tensor.
    """
    return _drawn(tensor, Dirac(groups))


def orthogonal_(tensor: Tensor, gain: float = 1) -> Tensor:
    """Fill a tensor in place with a random orthogonal matrix.

    Arguments:
        tensor: the tensor to fill, with at least 2 dimensions; all but the first are flattened.
        gain: factor of the matrix. Default: 1.

    Returns:
        The tensor.
    """
    return _drawn(tensor, Orthogonal(gain))


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix in place with the identity.

    Arguments:
        tensor: the matrix to fill.

    Returns:
        The tensor.

    Raises:
        ValueError: if the tensor is not 2-D.

    Examples:
        >>> eye_(paddle.zeros([2, 2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    if tensor.ndim != 2:
        raise ValueError(f"nn.init.eye_: tensor has the shape {list(tensor.shape)}; expected two dimensions")
    tensor.set_value(np.eye(*tensor.shape))
    return tensor
