"""Location-scale distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..eager.tensor import Tensor
from ..ops.creation import ones_like, zeros_like
from ..ops.random import _gaussian, _uniform, seeded
from .base import HALF_LOG_TWO_PI, Distribution, as_parameters, as_value
from .transform import ExpTransform
from .transformed_distribution import TransformedDistribution

EULER = 0.57721566490153286


def draw(kind: str, shape: Sequence[int], like: Tensor, seed: int = 0) -> Tensor:
    """Draw standard samples: "normal", or "uniform" in [0, 1)."""
    op: Any = _gaussian if kind == "normal" else _uniform
    return seeded(seed, op, (0.0, 1.0), (tuple(shape), like.dtype)) if seed else op(0.0, 1.0, tuple(shape), like.dtype)


class _LocationScale(Distribution):
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.loc, self.scale = as_parameters(loc, scale)
        self.name = name or type(self).__name__
        super().__init__(self.loc.shape)

    def _standard(self, value: Any) -> Tensor:
        return (as_value(value, self.loc) - self.loc) / self.scale


class Normal(_LocationScale):
    """Normal distribution: density `exp(-(x - loc)**2 / (2 * scale**2)) / (scale * sqrt(2 * pi))`.

    Arguments:
        loc: mean, a float, array or tensor.
        scale: standard deviation, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> d = paddle.distribution.Normal(0.0, 1.0)
        >>> f"{d.log_prob(paddle.to_tensor(0.0)).item():.4f}", d.sample([2, 3]).shape
        ('-0.9189', paddle.Size([2, 3]))
    """

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        return self.scale.square()

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        return self._drawn(shape)

    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Tensor:
        """Draw reparameterized samples, as rsample; a positive seed starts a random stream of its own."""
        return self._drawn(shape, seed)

    def _drawn(self, shape: Sequence[int], seed: int = 0) -> Tensor:
        return self.loc + self.scale * draw("normal", self._extended(shape), self.loc, seed)

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        return -0.5 * self._standard(value).square() - self.scale.log() - HALF_LOG_TWO_PI

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        return 0.5 + HALF_LOG_TWO_PI + self.scale.log()

    def cdf(self, value: Any) -> Tensor:
        """Compute the cumulative distribution function, P(x <= value)."""
        return 0.5 * (1 + (self._standard(value) / math.sqrt(2)).erf())

    def icdf(self, value: Any) -> Tensor:
        """Compute the quantile: the inverse of the cumulative distribution function."""
        return self.loc + self.scale * math.sqrt(2) * (2 * as_value(value, self.loc) - 1).erfinv()


class LogNormal(TransformedDistribution):
    """Log-normal distribution: the distribution of `exp(x)` for x normal with mean loc and standard deviation scale.

    Arguments:
        loc: mean of the normal distribution.
        scale: standard deviation of the normal distribution, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.LogNormal(0.0, 1.0).sample([3]).shape
        paddle.Size([3])
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        base = Normal(loc, scale)
        self.loc, self.scale = base.loc, base.scale
        super().__init__(base, [ExpTransform()])

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        return self.base.entropy() + self.loc


class Uniform(Distribution):
    """Uniform distribution on [low, high).

    Arguments:
        low: lower bound, a float, array or tensor.
        high: upper bound (exclusive).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Uniform(0.0, 2.0).prob(paddle.to_tensor([1.0, 3.0])).tolist()
        [0.5, 0.0]
    """

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        self.low, self.high = as_parameters(low, high)
        self.name = name or type(self).__name__
        super().__init__(self.low.shape)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        return (self.high - self.low).square() / 12

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        return self._drawn(shape)

    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Tensor:
        """Draw reparameterized samples, as rsample; a positive seed starts a random stream of its own."""
        return self._drawn(shape, seed)

    def _drawn(self, shape: Sequence[int], seed: int = 0) -> Tensor:
        return self.low + (self.high - self.low) * draw("uniform", self._extended(shape), self.low, seed)

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density; -inf outside of [low, high), NaN where high is below low."""
        value = as_value(value, self.low)
        inside = (value >= self.low).logical_and(value < self.high)
        return inside.astype(value.dtype).log() - (self.high - self.low).log()

    def prob(self, value: Any) -> Tensor:
        """Compute the density; 0 outside of [low, high)."""
        value = as_value(value, self.low)
        inside = (value >= self.low).logical_and(value < self.high)
        return inside.astype(value.dtype) / (self.high - self.low)

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        return (self.high - self.low).log()


class Laplace(_LocationScale):
    """Laplace distribution: density `exp(-|x - loc| / scale) / (2 * scale)`.

    Arguments:
        loc: mean, a float or tensor.
        scale: scale, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Laplace(0.0, 1.0).variance.item()
        2.0
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        super().__init__(loc, scale)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Tensor:
        """Standard deviation of the distribution."""
        return math.sqrt(2) * self.scale

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        u = draw("uniform", self._extended(shape), self.loc) - 0.5
        return self.loc - self.scale * u.sign() * (-2 * u.abs()).log1p()

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        return -(2 * self.scale).log() - self._standard(value).abs()

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        return 1 + (2 * self.scale).log()

    def cdf(self, value: Any) -> Tensor:
        """Compute the cumulative distribution function, P(x <= value)."""
        z = self._standard(value)
        return 0.5 - 0.5 * z.sign() * (-z.abs()).expm1()

    def icdf(self, value: Any) -> Tensor:
        """Compute the quantile: the inverse of the cumulative distribution function."""
        u = as_value(value, self.loc) - 0.5
        return self.loc - self.scale * u.sign() * (-2 * u.abs()).log1p()


class Gumbel(TransformedDistribution):
    """Gumbel distribution, of maxima: density `exp(-z - exp(-z)) / scale` with `z = (x - loc) / scale`.

    Arguments:
        loc: location, a float or tensor.
        scale: scale, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Gumbel(0.0, 1.0).sample([3]).shape
        paddle.Size([3])
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = as_parameters(loc, scale)
        self.base_dist = Uniform(zeros_like(self.loc), ones_like(self.loc))
        super().__init__(self.base_dist, [])

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.loc + EULER * self.scale

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        return self.scale.square() * (math.pi**2 / 6)

    @property
    def stddev(self) -> Tensor:
        """Standard deviation of the distribution."""
        return self.scale * (math.pi / math.sqrt(6))

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples [*shape, *batch_shape, *event_shape]; no gradient flows to the parameters."""
        return Distribution.sample(self, shape)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        u = 1 - self.base_dist.rsample(shape)  # in (0, 1]
        return self.loc - self.scale * (-(u.log()) + 1e-38).log()

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        z = (as_value(value, self.loc) - self.loc) / self.scale
        return -(z + (-z).exp()) - self.scale.log()

    def cdf(self, value: Any) -> Tensor:
        """Compute the cumulative distribution function, P(x <= value)."""
        return (-((self.loc - as_value(value, self.loc)) / self.scale).exp()).exp()

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        return self.scale.log() + (1 + EULER)


class Cauchy(_LocationScale):
    """Cauchy distribution: density `1 / (pi * scale * (1 + ((x - loc) / scale)**2))`; mean and variance are undefined.

    Arguments:
        loc: location (median), a float or tensor.
        scale: half width at half maximum, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Cauchy(0.0, 1.0).cdf(paddle.to_tensor(0.0)).item()
        0.5
    """

    def rsample(self, shape: Sequence[int] = (), name: str | None = None) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        u = draw("uniform", self._extended(shape), self.loc)
        return self.loc + self.scale * (math.pi * (u - 0.5)).tan()

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        return -math.log(math.pi) - self.scale.log() - self._standard(value).square().log1p()

    def cdf(self, value: Any) -> Tensor:
        """Compute the cumulative distribution function, P(x <= value)."""
        return self._standard(value).atan() / math.pi + 0.5

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        return (4 * math.pi * self.scale).log()
