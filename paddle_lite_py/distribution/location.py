"""Continuous distributions of a location and a scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.interpreter import no_grad
from ..eager.tensor import Tensor
from ..ops.creation import full_like, zeros_like
from ..ops.random import _gaussian, _uniform, seeded
from ..ops.search import where
from .base import HALF_LOG_TWO_PI, Distribution, as_parameters, as_value

EULER = 0.57721566490153286


def draw(kind: str, shape: Sequence[int], like: Tensor, seed: int = 0) -> Tensor:
    """Standard draws: "normal", or "uniform" in [0, 1)."""
    op: Any = _gaussian if kind == "normal" else _uniform
    return seeded(seed, op, (0.0, 1.0), (tuple(shape), like.dtype)) if seed else op(0.0, 1.0, tuple(shape), like.dtype)


class _LocationScale(Distribution):
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.loc, self.scale = as_parameters(loc, scale)
        self.name = name
        super().__init__(self.loc.shape)

    def _standard(self, value: Any) -> Tensor:
        return (as_value(value, self.loc) - self.loc) / self.scale


class Normal(_LocationScale):
    """Normal distribution.

    Arguments:
        loc, scale: mean and standard deviation: numbers, arrays or tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> d = paddle.distribution.Normal(0.0, 1.0)
        >>> f"{d.log_prob(paddle.to_tensor(0.0)).item():.4f}", d.sample([2, 3]).shape
        ('-0.9189', paddle.Size([2, 3]))
    """

    @property
    def mean(self) -> Tensor:
        """Mean."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Variance."""
        return self.scale.square()

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """A draw that carries a gradient."""
        return self._drawn(shape)

    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Tensor:
        """A draw without a gradient; above 0, the seed of a stream of its own."""
        with no_grad():
            return self._drawn(shape, seed)

    def _drawn(self, shape: Sequence[int], seed: int = 0) -> Tensor:
        return self.loc + self.scale * draw("normal", self._extended(shape), self.loc, seed)

    def log_prob(self, value: Any) -> Tensor:
        """Logarithm of the density."""
        return -0.5 * self._standard(value).square() - self.scale.log() - HALF_LOG_TWO_PI

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        return 0.5 + HALF_LOG_TWO_PI + self.scale.log()

    def cdf(self, value: Any) -> Tensor:
        """Probability of at most value."""
        return 0.5 * (1 + (self._standard(value) / math.sqrt(2)).erf())

    def icdf(self, value: Any) -> Tensor:
        """The value with this probability below."""
        return self.loc + self.scale * math.sqrt(2) * (2 * as_value(value, self.loc) - 1).erfinv()


class LogNormal(Normal):
    """Distribution of exp(x) for a normal x.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.LogNormal(0.0, 1.0).sample([3]).shape
        paddle.Size([3])
    """

    @property
    def mean(self) -> Tensor:
        """Mean."""
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def variance(self) -> Tensor:
        """Variance."""
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()

    def _drawn(self, shape: Sequence[int], seed: int = 0) -> Tensor:
        return super()._drawn(shape, seed).exp()

    def log_prob(self, value: Any) -> Tensor:
        """Logarithm of the density."""
        log = as_value(value, self.loc).log()
        return super().log_prob(log) - log

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        return super().entropy() + self.loc


class Uniform(Distribution):
    """Numbers equally likely in [low, high).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Uniform(0.0, 2.0).prob(paddle.to_tensor([1.0, 3.0])).tolist()
        [0.5, 0.0]
    """

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        self.low, self.high = as_parameters(low, high)
        self.name = name
        super().__init__(self.low.shape)

    @property
    def mean(self) -> Tensor:
        """Mean."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Tensor:
        """Variance."""
        return (self.high - self.low).square() / 12

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """A draw that carries a gradient."""
        return self._drawn(shape)

    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Tensor:
        """A draw without a gradient; above 0, the seed of a stream of its own."""
        with no_grad():
            return self._drawn(shape, seed)

    def _drawn(self, shape: Sequence[int], seed: int = 0) -> Tensor:
        return self.low + (self.high - self.low) * draw("uniform", self._extended(shape), self.low, seed)

    def log_prob(self, value: Any) -> Tensor:
        """Logarithm of the density; -inf outside."""
        value = as_value(value, self.low)
        inside = (value >= self.low).logical_and(value < self.high)
        density = -(self.high - self.low).log() + zeros_like(value)
        return where(inside, density, full_like(density, -math.inf))

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        return (self.high - self.low).log()


class Laplace(_LocationScale):
    """Laplace distribution: density exp(-|x - loc| / scale) / (2 scale).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Laplace(0.0, 1.0).variance.item()
        2.0
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        super().__init__(loc, scale)

    @property
    def mean(self) -> Tensor:
        """Mean."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Variance."""
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Tensor:
        """Standard deviation."""
        return math.sqrt(2) * self.scale

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """A draw that carries a gradient."""
        u = draw("uniform", self._extended(shape), self.loc) - 0.5
        return self.loc - self.scale * u.sign() * (-2 * u.abs()).log1p()

    def log_prob(self, value: Any) -> Tensor:
        """Logarithm of the density."""
        return -(2 * self.scale).log() - self._standard(value).abs()

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        return 1 + (2 * self.scale).log()

    def cdf(self, value: Any) -> Tensor:
        """Probability of at most value."""
        z = self._standard(value)
        return 0.5 - 0.5 * z.sign() * (-z.abs()).expm1()

    def icdf(self, value: Any) -> Tensor:
        """The value with this probability below."""
        u = as_value(value, self.loc) - 0.5
        return self.loc - self.scale * u.sign() * (-2 * u.abs()).log1p()


class Gumbel(_LocationScale):
    """Gumbel distribution of maxima.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Gumbel(0.0, 1.0).sample([3]).shape
        paddle.Size([3])
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        super().__init__(loc, scale)

    @property
    def mean(self) -> Tensor:
        """Mean."""
        return self.loc + EULER * self.scale

    @property
    def variance(self) -> Tensor:
        """Variance."""
        return self.scale.square() * (math.pi**2 / 6)

    @property
    def stddev(self) -> Tensor:
        """Standard deviation."""
        return self.scale * (math.pi / math.sqrt(6))

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """A draw that carries a gradient."""
        u = 1 - draw("uniform", self._extended(shape), self.loc)  # in (0, 1]
        return self.loc - self.scale * (-(u.log()) + 1e-38).log()

    def log_prob(self, value: Any) -> Tensor:
        """Logarithm of the density."""
        z = self._standard(value)
        return -(z + (-z).exp()) - self.scale.log()

    def cdf(self, value: Any) -> Tensor:
        """Probability of at most value."""
        return (-(-self._standard(value)).exp()).exp()

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        return self.scale.log() + (1 + EULER)


class Cauchy(_LocationScale):
    """Cauchy distribution; it has neither mean nor variance.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Cauchy(0.0, 1.0).cdf(paddle.to_tensor(0.0)).item()
        0.5
    """

    def rsample(self, shape: Sequence[int] = (), name: str | None = None) -> Tensor:
        """A draw that carries a gradient."""
        u = draw("uniform", self._extended(shape), self.loc)
        return self.loc + self.scale * (math.pi * (u - 0.5)).tan()

    def log_prob(self, value: Any) -> Tensor:
        """Logarithm of the density."""
        return -math.log(math.pi) - self.scale.log() - self._standard(value).square().log1p()

    def cdf(self, value: Any) -> Tensor:
        """Probability of at most value."""
        return self._standard(value).atan() / math.pi + 0.5

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        return (4 * math.pi * self.scale).log()
