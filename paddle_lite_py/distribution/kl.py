"""Kullback-Leibler divergence by the types of the two distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..eager.tensor import Tensor
from ..ops.creation import full_like
from ..ops.search import where
from ..ops.softmax import log_softmax
from .base import Distribution
from .discrete import Bernoulli, Binomial, Categorical, ContinuousBernoulli, Geometric, Poisson
from .divergence import Rule, divergence, register
from .location import Cauchy, Laplace, LogNormal, Normal, Uniform
from .positive import Beta, Dirichlet, Exponential, Gamma, MultivariateNormal, log_beta


def register_kl(cls_p: type, cls_q: type) -> Callable[[Rule], Rule]:
    """Decorate a function that computes KL(p || q) for two classes of distributions.

    Arguments:
        cls_p: class of p.
        cls_q: class of q.

    Returns:
        The decorator.

    Raises:
        TypeError: if one of them is not a class of distributions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Mine(paddle.distribution.Normal):
        ...     pass
        >>> @paddle.distribution.register_kl(Mine, Mine)
        ... def rule(p, q):
        ...     return paddle.zeros([])
        >>> paddle.distribution.kl_divergence(Mine(0.0, 1.0), Mine(1.0, 1.0)).item()
        0.0
    """
    for cls in (cls_p, cls_q):
        if not (isinstance(cls, type) and issubclass(cls, Distribution)):
            raise TypeError(f"register_kl: {cls!r} is no subclass of Distribution")

    def decorate(rule: Rule) -> Rule:
        register(cls_p, cls_q, rule)
        return rule

    return decorate


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Compute the Kullback-Leibler divergence `KL(p || q) = E_p[log p(x) - log q(x)]`.

    Arguments:
        p: a distribution.
        q: a distribution, of a type for which a rule is registered.

    Returns:
        A tensor of the batch shape.

    Raises:
        NotImplementedError: if no rule is registered for the types of p and q.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> D = paddle.distribution
        >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0)).item()
        0.5
    """
    return divergence(p, q)


@register_kl(LogNormal, LogNormal)
@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).square()
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Tensor:
    out = ((q.high - q.low) / (p.high - p.low)).log()
    inside = (q.low <= p.low).logical_and(p.high <= q.high)
    return where(inside, out, full_like(out, float("inf")))


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return p.log_prob(p.mean) - q.log_prob(p.mean)  # both are linear in the value


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Tensor:
    a, b = p.probs, q.probs
    return a * (a / b).log() + (1 - a) * ((1 - a) / (1 - b)).log()


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Tensor:
    a, b = (log_softmax(d.logits, -1) for d in (p, q))
    return (a.exp() * (a - b)).sum(-1, keepdim=True)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Tensor:
    a, b, c, d = p.alpha, p.beta, q.alpha, q.beta
    total = (a + b).digamma()
    return log_beta(c, d) - log_beta(a, b) + (a - c) * (a.digamma() - total) + (b - d) * (b.digamma() - total)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1, keepdim=True)
    norms = total.squeeze(-1).lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return norms + ((a - b) * (a.digamma() - total.digamma())).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    shape = b.lgamma() - a.lgamma() + (a - b) * a.digamma()
    return shape + b * (p.rate / q.rate).log() + a * (q.rate / p.rate - 1)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Tensor:
    ratio, far = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + ratio * (-far / p.scale).exp() + far / q.scale - 1


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Tensor:
    return (p.probs / q.probs).log() + (1 / p.probs - 1) * ((1 - p.probs) / (1 - q.probs)).log()


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Tensor:
    ratio = where(p.rate == 0, 1.0, p.rate / q.rate)  # no event is no surprise
    return p.rate * ratio.log() - (p.rate - q.rate)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Tensor:
    support = p._numbers()
    mine, others = p.log_prob(support), q.log_prob(support)
    chance = mine.exp()
    return where(chance > 0, chance * (mine - others), chance).sum(0)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Tensor:
    total = (p.scale + q.scale).square() + (p.loc - q.loc).square()
    return (total / (4 * p.scale * q.scale)).log()


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p: Any, q: Any) -> Tensor:
    inverse = q.covariance_matrix.inverse()
    gap = (q.loc - p.loc).unsqueeze(-1)
    trace = (inverse @ p.covariance_matrix).diagonal(axis1=-2, axis2=-1).sum(-1)
    distance = (gap.mT @ inverse @ gap).squeeze([-1, -2])
    return 0.5 * (trace + distance - p.event_shape[0]) + q._half_log_det() - p._half_log_det()
