"""Random initializers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...eager.random import host_draw
from .base import Initializer, Shape, calculate_gain


def fans(shape: Shape) -> tuple[int, int]:
    """Return fan_in and fan_out of a shape: of a matrix [in, out] or a kernel [out, in, ...]."""
    if len(shape) < 2:
        n = shape[0] if shape else 1
        return n, n
    if len(shape) == 2:
        return shape[0], shape[1]
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _stream(seed: int) -> Any:
    """Return where values are drawn from: the stream of paddle.seed(), or one of its own."""
    return np.random.default_rng(seed) if seed else host_draw()


class NormalInitializer(Initializer):
    """The class that Normal is derived from.

    Arguments:
        seed: of a stream of its own, from which each value is drawn anew; 0: that of paddle.seed().
    """

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        self.mean, self.std, self._seed = loc, scale, seed

    def _values(self, shape: Shape) -> Any:
        return _stream(self._seed).normal(self.mean, self.std, shape)


class Normal(NormalInitializer):
    """Initialize from a normal distribution.

    Arguments:
        mean: mean of the distribution. Default: 0.0.
        std: standard deviation of the distribution. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Linear(2, 2, weight_attr=paddle.nn.initializer.Normal(mean=1.0, std=0.0)).weight.tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        super().__init__(mean, std)


class TruncatedNormalInitializer(Initializer):
    """The class that TruncatedNormal is derived from."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0, a: float = -2.0, b: float = 2.0) -> None:
        if a >= b:
            raise ValueError(f"TruncatedNormal: a is {a} and b is {b}; a must be less")
        self.mean, self.std, self.a, self.b, self._seed = loc, scale, a, b, seed

    def _values(self, shape: Shape) -> Any:
        draw = _stream(self._seed)
        out = draw.normal(self.mean, self.std, shape)
        for _ in range(1000):
            outside = (out < self.a) | (out > self.b)
            if not outside.any():
                return out
            out[outside] = draw.normal(self.mean, self.std, int(outside.sum()))
        return np.clip(out, self.a, self.b)  # the interval is far out in a tail


class TruncatedNormal(TruncatedNormalInitializer):
    """Initialize from a normal distribution truncated to [a, b]; samples outside are drawn again.

    Arguments:
        mean: mean of the distribution before truncation. Default: 0.0.
        std: standard deviation of the distribution before truncation. Default: 1.0.
        a: lower bound. Default: -2.0.
        b: upper bound. Default: 2.0.

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
        super().__init__(mean, std, 0, a, b)


class UniformInitializer(Initializer):
    """The class that Uniform is derived from.

    Arguments:
        diag_num: how many elements are diag_val instead, one after every diag_step others.
    """

    def __init__(
        self, low: float = -1.0, high: float = 1.0, seed: int = 0, diag_num: int = 0, diag_step: int = 0,
        diag_val: float = 1.0,
    ) -> None:  # fmt: skip
        self.low, self.high, self._seed = low, high, seed
        self._diagonal = diag_num, diag_step, diag_val

    def _values(self, shape: Shape) -> Any:
        out = _stream(self._seed).uniform(self.low, self.high, shape)
        n, step, value = self._diagonal
        if n:
            out.reshape(-1)[: n * (step + 1) : step + 1] = value
        return out


class Uniform(UniformInitializer):
    """Initialize from the uniform distribution on [low, high).

    Arguments:
        low: lower bound. Default: -1.0.
        high: upper bound. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([2, 2], "float32", default_initializer=paddle.nn.initializer.Uniform(-1.0, 1.0))
        >>> bool((w.abs() <= 2).all())
        True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        super().__init__(low, high)


class _ScaledByFans(Initializer):
    _uniform: bool
    _seed: int

    def _std(self, shape: Shape) -> float:
        raise NotImplementedError

    def _values(self, shape: Shape) -> Any:
        draw, std = _stream(self._seed), self._std(shape)
        limit = math.sqrt(3.0) * std
        return draw.uniform(-limit, limit, shape) if self._uniform else draw.normal(0.0, std, shape)


class XavierInitializer(_ScaledByFans):
    """The class that XavierUniform and XavierNormal are derived from."""

    def __init__(
        self, uniform: bool = True, fan_in: float | None = None, fan_out: float | None = None, seed: int = 0,
        gain: float = 1.0,
    ) -> None:  # fmt: skip
        self.fan_in, self.fan_out, self.gain = fan_in, fan_out, gain
        self._uniform, self._seed = uniform, seed

    def _std(self, shape: Shape) -> float:
        found = fans(shape)
        fan_in = found[0] if self.fan_in is None else self.fan_in
        fan_out = found[1] if self.fan_out is None else self.fan_out
        return self.gain * math.sqrt(2.0 / (fan_in + fan_out))


class XavierNormal(XavierInitializer):
    """Initialize from a normal distribution with std `gain * sqrt(2 / (fan_in + fan_out))` (Glorot and Bengio, 2010).

    Arguments:
        fan_out: number of outputs of a unit; None: from the shape.
        gain: factor of the standard deviation. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=paddle.nn.initializer.XavierNormal()).shape
        paddle.Size([2, 3])
    """

    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0, name: str | None = None
    ) -> None:
        super().__init__(False, fan_in, fan_out, 0, gain)


class XavierUniform(XavierInitializer):
    """Initialize uniformly in [-limit, limit], `limit = gain * sqrt(6 / (fan_in + fan_out))` (Glorot and Bengio, 2010).

    Arguments:
        fan_out: number of outputs of a unit; None: from the shape.
        gain: factor of the limit. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=paddle.nn.initializer.XavierUniform()).shape
        paddle.Size([2, 3])
    """

    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0, name: str | None = None
    ) -> None:
        super().__init__(True, fan_in, fan_out, 0, gain)


class MSRAInitializer(_ScaledByFans):
    """The class that KaimingUniform and KaimingNormal are derived from."""

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        seed: int = 0,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        self._uniform, self._seed = uniform, seed
        if mode not in ("fan_in", "fan_out"):
            raise ValueError(f"{type(self).__name__}: mode is {mode!r}; expected 'fan_in' or 'fan_out'")
        self.fan_in, self.negative_slope, self.nonlinearity, self.mode = fan_in, negative_slope, nonlinearity, mode

    def _std(self, shape: Shape) -> float:
        fan = fans(shape)[self.mode == "fan_out"] if self.fan_in is None else self.fan_in
        return calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


class _Kaiming(MSRAInitializer):
    _is_uniform: bool

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        super().__init__(self._is_uniform, fan_in, 0, negative_slope, nonlinearity, mode)


class KaimingNormal(_Kaiming):
    """Initialize from a normal distribution with std `gain / sqrt(fan)` (He et al., 2015).

    Arguments:
        negative_slope: negative slope of the leaky_relu that follows. Default: 0.0.
        nonlinearity: name of the activation that follows, which decides the gain. Default: 'relu'.
        mode: "fan_in" preserves the variance of activations, "fan_out" that of gradients. Default: 'fan_in'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=paddle.nn.initializer.KaimingNormal()).shape
        paddle.Size([2, 3])
    """

    _is_uniform = False


class KaimingUniform(_Kaiming):
    """Initialize uniformly in [-limit, limit], `limit = gain * sqrt(3 / fan)` (He et al., 2015).

    Arguments:
        negative_slope: negative slope of the leaky_relu that follows. Default: 0.0.
        nonlinearity: name of the activation that follows, which decides the gain. Default: 'relu'.
        mode: "fan_in" preserves the variance of activations, "fan_out" that of gradients. Default: 'fan_in'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([2, 2], "float32", default_initializer=paddle.nn.initializer.KaimingUniform())
        >>> bool((w.abs() <= 2).all())
        True
    """

    _is_uniform = True


class Orthogonal(Initializer):
    """Initialize with a random orthogonal matrix; all dimensions but the first are flattened into the columns.

    Arguments:
        gain: factor of the matrix. Default: 1.0.

    Raises:
        ValueError: if the parameter has fewer than 2 dimensions.

    Examples:
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
