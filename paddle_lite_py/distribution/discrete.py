"""Discrete distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.dtypes import get_default_dtype
from ..core.interpreter import no_grad
from ..dispatch.define import op
from ..eager.tensor import Tensor
from ..ops.creation import full_like
from ..ops.gather import take_along_axis
from ..ops.random import _uniform, poisson
from ..ops.search import where
from ..ops.softmax import log_softmax
from .base import Distribution, ExponentialFamily, as_parameters, as_value

_EPS = 1e-7  # probabilities are kept this far from 0 and 1, so that their logarithms are finite


def _inside(p: Tensor) -> Tensor:
    return p.clip(_EPS, 1 - _EPS)


class Bernoulli(ExponentialFamily):
    """Bernoulli distribution: `P(1) = probs`, `P(0) = 1 - probs`.

    Arguments:
        probs: probability of 1, a tensor in [0, 1], or numbers, taken in the default dtype; the ends move inside, by
            the machine epsilon.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.distribution.Bernoulli(0.25).log_prob(paddle.to_tensor(1.0)).exp().item():.4f}"
        '0.2500'
    """

    def __init__(self, probs: Any, name: str | None = None) -> None:
        (given,) = as_parameters(probs)
        self.name = name or type(self).__name__
        given = given if isinstance(probs, Tensor) else given.astype(get_default_dtype())
        least = float(jnp.finfo(given.dtype.np).eps)
        p: Any = given.clip(least, 1 - least)
        self.probs = p  # type: ignore[method-assign]  # the reference has both under this name
        self.logits = p.logit()
        super().__init__(p.shape)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.probs  # type: ignore[return-value]

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        p: Any = self.probs
        return p * (1 - p)

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples [*shape, *batch_shape, *event_shape]; no gradient flows to the parameters."""
        p: Any = self.probs
        draw: Any = _uniform
        with no_grad():
            return (draw(0.0, 1.0, tuple(self._extended(shape)), p.dtype) < p).astype(p.dtype)

    def rsample(self, shape: Sequence[int] = (), temperature: float = 1.0) -> Tensor:
        """Draw logits of the relaxed (continuous) distribution, through which gradients flow to the parameters.

        Apply `sigmoid` to them to get samples in (0, 1).

        Arguments:
            shape: shape of the set of samples. Default: ().
            temperature: the lower, the closer the samples are to 0 and 1. Default: 1.0.

        Returns:
            A tensor [*shape, *batch_shape] of logits.
        """
        p: Any = self.probs
        draw: Any = _uniform
        u = _inside(draw(0.0, 1.0, tuple(self._extended(shape)), p.dtype))
        return (p.log() - (-p).log1p() + u.log() - (-u).log1p()) / temperature  # p may require gradient by now

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the probability."""
        p: Any = self.probs
        x = as_value(value, p)
        return x * p.log() + (1 - x) * (-p).log1p()

    def cdf(self, value: Any) -> Tensor:
        """Compute the cumulative distribution function, P(x <= value)."""
        p: Any = self.probs
        x = as_value(value, p)
        return (x >= 1).astype(p.dtype) + ((x >= 0).logical_and(x < 1)).astype(p.dtype) * (1 - p)

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        p: Any = self.probs
        return -(p * p.log() + (1 - p) * (-p).log1p())


class Categorical(Distribution):
    """Categorical distribution over the integers 0 to n - 1.

    As in PaddlePaddle, sample(), probs() and log_prob() normalize `logits` by their sum, as unnormalized probabilities,
    while entropy() and kl_divergence() apply softmax.

    Arguments:
        logits: unnormalized probabilities [*batch_shape, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> d = paddle.distribution.Categorical(paddle.to_tensor([1.0, 3.0]))
        >>> d.probs(paddle.to_tensor([1])).tolist()
        [0.75]
    """

    def __init__(self, logits: Any, name: str | None = None) -> None:
        (self.logits,) = as_parameters(logits)
        self.name = name or type(self).__name__
        self._prob = self.logits / self.logits.sum(-1, keepdim=True)
        super().__init__(self.logits.shape[:-1])

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw category indices.

        Returns:
            An integer tensor [*shape, *batch_shape].
        """
        with no_grad():
            fn: Any = choose
            return fn(self._prob, tuple(self._extended(shape)))

    def probs(self, value: Any) -> Tensor:
        """Return the probabilities of the categories `value`."""
        prob, at = self._prob, value.astype("int64")
        if prob.ndim == 1:
            return prob[at.reshape([-1])].reshape(at.shape)
        lead = at.ndim == prob.ndim and at.shape[:-1] == prob.shape[:-1]
        return take_along_axis(prob, at if lead else at.unsqueeze(-1), -1)

    def prob(self, value: Any) -> Tensor:
        """Alias of probs()."""
        return self.probs(value)

    def log_prob(self, value: Any) -> Tensor:
        """Return the logarithms of the probabilities of the categories `value`."""
        return self.probs(value).log()

    def entropy(self) -> Tensor:
        """Compute the entropy of softmax(logits), in nats."""
        log: Any = log_softmax(self.logits, -1)
        return -(log.exp() * log).sum(-1)


@op(name="choose", random=True, grad=False)
def choose(key: Any, prob: Any, /, shape: Any) -> Any:
    """Draw indices of a shape by probabilities along the last dimension."""
    return jax.random.categorical(key, jnp.log(prob), axis=-1, shape=shape).astype(jnp.int64)


class Geometric(Distribution):
    """Geometric distribution: number of failures before the first success, `P(k) = (1 - probs)**k * probs`.

    Arguments:
        probs: probability of success, in (0, 1].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Geometric(paddle.to_tensor(0.5)).mean.item()
        1.0
    """

    def __init__(self, probs: Any) -> None:
        (self.probs,) = as_parameters(probs)  # type: ignore[assignment]
        super().__init__(self.probs.shape)  # type: ignore[attr-defined]

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        p: Any = self.probs
        return 1 / p - 1

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        p: Any = self.probs
        return (1 / p - 1) / p

    def pmf(self, k: Any) -> Tensor:
        """Compute the probability of k."""
        return self.log_pmf(k).exp()

    def log_pmf(self, k: Any) -> Tensor:
        """Compute the logarithm of the probability of k."""
        p: Any = self.probs
        return as_value(k, p) * (-p).log1p() + p.log()

    def log_prob(self, value: Any) -> Tensor:
        """Alias of log_pmf()."""
        return self.log_pmf(value)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples [*shape, *batch_shape]."""
        p: Any = self.probs
        draw: Any = _uniform
        u = _inside(draw(0.0, 1.0, tuple(self._extended(shape)), p.dtype))
        return (u.log() / (-p).log1p()).floor()

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        p: Any = self.probs
        return -((1 - p) * (-p).log1p() + p * p.log()) / p

    def cdf(self, k: Any) -> Tensor:
        """Compute the cumulative distribution function, P(x <= k)."""
        p: Any = self.probs
        return 1 - (1 - p) ** (as_value(k, p) + 1)


class Poisson(ExponentialFamily):
    """Poisson distribution: `P(k) = rate**k * exp(-rate) / k!`.

    Arguments:
        rate: mean number of events, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Poisson(paddle.to_tensor(2.0)).mean.item()
        2.0
    """

    def __init__(self, rate: Any) -> None:
        (self.rate,) = as_parameters(rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.rate

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        return self.rate

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples [*shape, *batch_shape, *event_shape]; no gradient flows to the parameters."""
        with no_grad():
            return poisson(self.rate.expand(self._extended(shape)))

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the probability."""
        x = as_value(value, self.rate)
        times = where(x.equal(0.0), x, x * self.rate.log())  # a rate of 0 gives no events
        return times - self.rate - (x + 1).lgamma()

    def entropy(self) -> Tensor:
        """Compute the entropy in nats: the sum over all values for small rates, Stirling's series for others."""
        # A program does not know the rates: its sum has one length for all of them.
        limit = full_like(self.rate, float(_MOST_SUMMED))
        summed = self.rate < limit
        x = as_value(np.arange(4 * _MOST_SUMMED, dtype=np.float32), self.rate)
        log = Poisson(where(summed, self.rate, limit)).log_prob(x.reshape([-1, *[1] * self.rate.ndim]))
        r: Any = where(summed, limit, self.rate)
        series = (r * (2 * math.pi * math.e)).log() / 2 - 1 / (12 * r) - 1 / (24 * r**2) - 19 / (360 * r**3)
        return where(summed, _surprise(log).sum(0), series)


# Below this rate the sum over all values is the entropy; at it, Stirling's series is exact to 1e-8.
_MOST_SUMMED = 64


def _surprise(log: Tensor) -> Tensor:
    """Return -p log(p) of logarithms of probabilities: 0 for what is impossible."""
    p: Any = log.exp()
    return where(p > 0, -p * log, p)


class Binomial(Distribution):
    """Binomial distribution: number of successes in total_count independent trials.

    `P(k) = C(n, k) * probs**k * (1 - probs)**(n - k)` with n = total_count.

    Arguments:
        total_count: number of trials, an integer or tensor.
        probs: probability of success, in [0, 1].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Binomial(paddle.to_tensor(4), paddle.to_tensor(0.5)).mean.item()
        2.0
    """

    def __init__(self, total_count: Any, probs: Any) -> None:
        if isinstance(total_count, float):
            raise ValueError(f"Binomial: total_count is {total_count}; expected an int, or a tensor")
        self.total_count, self.probs = as_parameters(total_count, probs)  # type: ignore[assignment]
        super().__init__(self.total_count.shape)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.total_count * self.probs

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        p: Any = self.probs
        return self.total_count * p * (1 - p)

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples [*shape, *batch_shape, *event_shape]; no gradient flows to the parameters."""
        fn: Any = _binomial_draw
        with no_grad():
            return fn(self.total_count, self.probs, tuple(self._extended(shape)))

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the probability."""
        n, p = self.total_count, _inside(self.probs)  # type: ignore[arg-type]
        x = as_value(value, n)
        ways = (n + 1).lgamma() - (x + 1).lgamma() - (n - x + 1).lgamma()
        return ways + x * p.log() + (n - x) * (-p).log1p()

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        return _surprise(self.log_prob(self._numbers())).sum(0)

    def _numbers(self) -> Tensor:
        """Return the numbers of successes there may be, along a first dimension."""
        x = as_value(np.arange(int(self.total_count.max()) + 1, dtype=np.float32), self.total_count)
        return x.reshape([-1, *[1] * self.total_count.ndim])


@op(name="binomial_draw", random=True, grad=False)
def _binomial_draw(key: Any, count: Any, prob: Any, /, shape: Any) -> Any:
    return jax.random.binomial(key, count, prob, shape).astype(count.dtype)


class Multinomial(Distribution):
    """Multinomial distribution: counts of each category in total_count draws.

    Arguments:
        total_count: number of draws.
        probs: probabilities [*batch_shape, n], which are normalized to sum 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Multinomial(4, paddle.to_tensor([0.25, 0.75])).mean.tolist()
        [1.0, 3.0]
    """

    def __init__(self, total_count: int, probs: Any) -> None:
        if not isinstance(total_count, int) or total_count < 1:
            raise ValueError(f"Multinomial: total_count is {total_count!r}; expected a positive int")
        (p,) = as_parameters(probs)
        if p.ndim < 1:
            raise ValueError("Multinomial: probs is a number; expected at least one dimension")
        self.total_count = total_count
        self.probs: Any = p / p.sum(-1, keepdim=True)
        super().__init__(p.shape[:-1], p.shape[-1:])

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.total_count * self.probs

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples [*shape, *batch_shape, *event_shape]; no gradient flows to the parameters."""
        fn: Any = _multinomial_draw
        with no_grad():
            return fn(self.probs, tuple(self._extended(shape)), self.total_count)

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the probability."""
        x = as_value(value, self.probs)
        return (x.sum(-1) + 1).lgamma() - (x + 1).lgamma().sum(-1) + (x * _inside(self.probs).log()).sum(-1)

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        n, p = float(self.total_count), _inside(self.probs)
        support = as_value(np.arange(1, self.total_count + 1, dtype=np.float32), p).reshape([-1, *[1] * p.ndim])
        log_ways = math.lgamma(n + 1) - (support + 1).lgamma() - (n - support + 1).lgamma()
        chance = (log_ways + support * p.log() + (n - support) * (-p).log1p()).exp()
        spread = (chance * (support + 1).lgamma()).sum([0, -1])
        return n * -(p * p.log()).sum(-1) - math.lgamma(n + 1) + spread


@op(name="multinomial_draw", random=True, grad=False)
def _multinomial_draw(key: Any, prob: Any, /, shape: Any, count: int) -> Any:
    chosen = jax.random.categorical(key, jnp.log(prob), axis=-1, shape=(count, *shape[:-1]))
    return jax.nn.one_hot(chosen, shape[-1], dtype=prob.dtype).sum(0)


class ContinuousBernoulli(Distribution):
    """Continuous Bernoulli distribution on [0, 1]: density proportional to `probs**x * (1 - probs)**(1 - x)`.

    Arguments:
        probs: parameter in (0, 1).
        lims: interval around 0.5 in which Taylor expansions are used, for numerical stability. Default: (0.499, 0.501).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.ContinuousBernoulli(paddle.to_tensor(0.5)).mean.item()
        0.5

    Source: Loaiza-Ganem and Cunningham, The Continuous Bernoulli, 2019.
    """

    def __init__(self, probs: Any, lims: tuple[float, float] = (0.499, 0.501)) -> None:
        (p,) = as_parameters(probs)
        self.probs: Any = _inside(p)
        self.lims = lims
        super().__init__(p.shape)

    def _safe(self) -> tuple[Tensor, Tensor]:
        """Where probs is far enough from a half, and probs with others moved there."""
        p = self.probs
        far = (p < self.lims[0]).logical_or(p > self.lims[1])
        return far, p * far.astype(p.dtype) + self.lims[0] * (1 - far.astype(p.dtype))

    def _log_norm(self) -> Tensor:
        far, p = self._safe()
        exact = (2 * (1 - 2 * p).atanh() / (1 - 2 * p)).abs().log()
        off = self.probs - 0.5
        near = math.log(2.0) + (4 / 3 + 104 / 45 * off.square()) * off.square()
        flag = far.astype(p.dtype)
        return exact * flag + near * (1 - flag)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        far, p = self._safe()
        off = self.probs - 0.5
        flag = far.astype(p.dtype)
        exact = p / (2 * p - 1) + 1 / (2 * (1 - 2 * p).atanh())
        return exact * flag + (0.5 + (1 / 3 + 16 / 45 * off.square()) * off) * (1 - flag)

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        far, p = self._safe()
        off = (self.probs - 0.5).square()
        flag = far.astype(p.dtype)
        exact = p * (p - 1) / (1 - 2 * p).square() + 1 / (2 * (1 - 2 * p).atanh()).square()
        return exact * flag + (1 / 12 - (1 / 15 - 128 / 945 * off) * off) * (1 - flag)

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        p = self.probs
        x = as_value(value, p)
        return x * p.log() + (1 - x) * (-p).log1p() + self._log_norm()

    def cdf(self, value: Any) -> Tensor:
        """Compute the cumulative distribution function, P(x <= value)."""
        far, p = self._safe()
        x = as_value(value, p).clip(0.0, 1.0)
        flag = far.astype(p.dtype)
        exact = (p**x * (1 - p) ** (1 - x) + p - 1) / (2 * p - 1)
        return exact * flag + x * (1 - flag)

    def icdf(self, value: Any) -> Tensor:
        """Compute the quantile: the inverse of the cumulative distribution function."""
        far, p = self._safe()
        u = as_value(value, p)
        flag = far.astype(p.dtype)
        exact = ((-p).log1p() * -1 + (1 - p + u * (2 * p - 1)).log()) / (p.log() - (-p).log1p())
        return exact * flag + u * (1 - flag)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        draw: Any = _uniform
        return self.icdf(draw(0.0, 1.0, tuple(self._extended(shape)), self.probs.dtype))

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        p = self.probs
        return -self._log_norm() - self.mean * (p.log() - (-p).log1p()) - (-p).log1p()
