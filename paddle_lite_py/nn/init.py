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
    """Each element one value.

    Examples:
        >>> constant_(paddle.zeros([2]), 3.0).tolist()
        [3.0, 3.0]
    """
    return _drawn(tensor, Constant(val))


def ones_(tensor: Tensor) -> Tensor:
    """Each element 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Each element 0."""
    return constant_(tensor, 0.0)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Uniform between two numbers."""
    return _drawn(tensor, Uniform(a, b))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Of a normal distribution."""
    return _drawn(tensor, Normal(mean, std))


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Tensor:
    """Of a normal distribution that is cut off at a and b."""
    return _drawn(tensor, TruncatedNormal(mean, std, a, b))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, fan_in: Any = None, fan_out: Any = None) -> Tensor:
    """Glorot's uniform distribution; see initializer.XavierUniform."""
    return _drawn(tensor, XavierUniform(fan_in, fan_out, gain=gain))


def xavier_normal_(tensor: Tensor, gain: float = 1.0, fan_in: Any = None, fan_out: Any = None) -> Tensor:
    """Glorot's normal distribution; see initializer.XavierNormal."""
    return _drawn(tensor, XavierNormal(fan_in, fan_out, gain=gain))


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """He's uniform distribution; see initializer.KaimingUniform."""
    return _drawn(tensor, KaimingUniform(negative_slope=a, nonlinearity=nonlinearity, mode=mode))


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """He's normal distribution; see initializer.KaimingNormal."""
    return _drawn(tensor, KaimingNormal(negative_slope=a, nonlinearity=nonlinearity, mode=mode))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A kernel that leaves channels as they are."""
    return _drawn(tensor, Dirac(groups))


def orthogonal_(tensor: Tensor, gain: float = 1) -> Tensor:
    """An orthogonal matrix."""
    return _drawn(tensor, Orthogonal(gain))


def eye_(tensor: Tensor) -> Tensor:
    """The unit matrix.

    Raises:
        ValueError: if the tensor is no matrix.

    Examples:
        >>> eye_(paddle.zeros([2, 2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    if tensor.ndim != 2:
        raise ValueError(f"nn.init.eye_: tensor has the shape {list(tensor.shape)}; expected two dimensions")
    tensor.set_value(np.eye(*tensor.shape))
    return tensor
