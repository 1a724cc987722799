"""Random initializers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...eager.random import host_draw
from .base import Initializer, Shape, calculate_gain


def fans(shape: Shape) -> tuple[int, int]:
    """Inputs and outputs of one unit: of a matrix [in, out], of a kernel [out, in, ...]."""
    if len(shape) < 2:
        n = shape[0] if shape else 1
        return n, n
    if len(shape) == 2:
        return shape[0], shape[1]
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


class Normal(Initializer):
    """The normal distribution.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Linear(2, 2, weight_attr=paddle.nn.initializer.Normal(mean=1.0, std=0.0)).weight.tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self.mean, self.std = mean, std

    def _values(self, shape: Shape) -> Any:
        return host_draw().normal(self.mean, self.std, shape)


class TruncatedNormal(Initializer):
    """The normal distribution between a and b; what falls outside is drawn again.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> normal = paddle.nn.initializer.TruncatedNormal(0.0, 1.0)
        >>> w = paddle.create_parameter([2, 2], "float32", default_initializer=normal)
        >>> bool((w.abs() <= 2).all())
        True
    """

    def __init__(
        self, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, name: str | None = None
    ) -> None:
        if a >= b:
            raise ValueError(f"TruncatedNormal: a is {a} and b is {b}; a must be less")
        self.mean, self.std, self.a, self.b = mean, std, a, b

    def _values(self, shape: Shape) -> Any:
        draw = host_draw()
        out = draw.normal(self.mean, self.std, shape)
        for _ in range(1000):
            outside = (out < self.a) | (out > self.b)
            if not outside.any():
                return out
            out[outside] = draw.normal(self.mean, self.std, int(outside.sum()))
        return np.clip(out, self.a, self.b)  # the interval is far out in a tail


class Uniform(Initializer):
    """Equally likely between low and high.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([2, 2], "float32", default_initializer=paddle.nn.initializer.Uniform(-1.0, 1.0))
        >>> bool((w.abs() <= 2).all())
        True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        self.low, self.high = low, high

    def _values(self, shape: Shape) -> Any:
        return host_draw().uniform(self.low, self.high, shape)


class _Xavier(Initializer):
    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0, name: str | None = None
    ) -> None:
        self.fan_in, self.fan_out, self.gain = fan_in, fan_out, gain

    def _std(self, shape: Shape) -> float:
        found = fans(shape)
        fan_in = found[0] if self.fan_in is None else self.fan_in
        fan_out = found[1] if self.fan_out is None else self.fan_out
        return self.gain * math.sqrt(2.0 / (fan_in + fan_out))


class XavierNormal(_Xavier):
    """Normal, of the variance 2 / (fan_in + fan_out) (Glorot and Bengio, 2010).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=paddle.nn.initializer.XavierNormal()).shape
        paddle.Size([2, 3])
    """

    def _values(self, shape: Shape) -> Any:
        return host_draw().normal(0.0, self._std(shape), shape)


class XavierUniform(_Xavier):
    """Uniform, of the variance 2 / (fan_in + fan_out) (Glorot and Bengio, 2010).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=paddle.nn.initializer.XavierUniform()).shape
        paddle.Size([2, 3])
    """

    def _values(self, shape: Shape) -> Any:
        limit = math.sqrt(3.0) * self._std(shape)
        return host_draw().uniform(-limit, limit, shape)


class _Kaiming(Initializer):
    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        if mode not in ("fan_in", "fan_out"):
            raise ValueError(f"{type(self).__name__}: mode is {mode!r}; expected 'fan_in' or 'fan_out'")
        self.fan_in, self.negative_slope, self.nonlinearity, self.mode = fan_in, negative_slope, nonlinearity, mode

    def _std(self, shape: Shape) -> float:
        fan = fans(shape)[self.mode == "fan_out"] if self.fan_in is None else self.fan_in
        return calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


class KaimingNormal(_Kaiming):
    """Normal, of the variance gain**2 / fan (He et al., 2015).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=paddle.nn.initializer.KaimingNormal()).shape
        paddle.Size([2, 3])
    """

    def _values(self, shape: Shape) -> Any:
        return host_draw().normal(0.0, self._std(shape), shape)


class KaimingUniform(_Kaiming):
    """Uniform, of the variance gain**2 / fan (He et al., 2015).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([2, 2], "float32", default_initializer=paddle.nn.initializer.KaimingUniform())
        >>> bool((w.abs() <= 2).all())
        True
    """

    def _values(self, shape: Shape) -> Any:
        limit = math.sqrt(3.0) * self._std(shape)
        return host_draw().uniform(-limit, limit, shape)


class Orthogonal(Initializer):
    """A random orthogonal matrix times `gain`; a kernel is one with its first dimension against the rest.

    Raises:
        ValueError: if the parameter has fewer than 2 dimensions.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.create_parameter([2, 2], "float32", default_initializer=paddle.nn.initializer.Orthogonal()).shape
        paddle.Size([2, 2])
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self.gain = gain

    def _values(self, shape: Shape) -> Any:
        if len(shape) < 2:
            raise ValueError(f"Orthogonal: at least 2 dimensions are expected, got {list(shape)}")
        rows, columns = shape[0], math.prod(shape[1:])
        q, r = np.linalg.qr(host_draw().normal(size=(max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diag(r))
        return self.gain * (q if rows >= columns else q.T).reshape(shape)
