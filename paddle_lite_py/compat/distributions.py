"""Distributions with torch's arguments and results, where those of paddle.distribution differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.argument_docs import document as _document
from ..core.interpreter import no_grad
from ..core.no_effect import Immaterial, no_effect
from ..distribution import base, discrete
from ..distribution.positive import gamma_draw
from ..nn import functional as F
from ..ops.gather import take_along_axis
from ..ops.joining import broadcast_tensors
from ..ops.random import poisson, rand
from ..ops.search import where

__all__ = [
    *("Categorical", "MixtureSameFamily", "NegativeBinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough"),
    *("RelaxedBernoulli", "RelaxedOneHotCategorical"),
]


class Categorical(base.Distribution):
    """Categorical distribution over 0 to n - 1, from probabilities or from logits, as torch has it.

    Arguments:
        probs: [*batch_shape, n], normalized by their sum.
        logits: unnormalized logarithms of them, in their place.

    Raises:
        ValueError: both or neither of them are given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> d = paddle.compat.distributions.Categorical(paddle.to_tensor([[1.0, 3.0], [1.0, 1.0]]))
        >>> d.probs.tolist(), d.log_prob(paddle.to_tensor([1, 0])).exp().tolist()
        ([[0.25, 0.75], [0.5, 0.5]], [0.75, 0.5])
    """

    probs: Any
    logits: Any

    @no_effect(validate_args=Immaterial("what cannot be is always refused"))
    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Categorical: expected probs or logits, and not both")
        (given,) = base.as_parameters(probs if logits is None else logits)
        if given.ndim < 1:
            raise ValueError(f"Categorical: the parameter has the shape {[*given.shape]}; expected [..., n]")
        if logits is None:
            self.probs = given / given.sum(-1, keepdim=True)
            self.logits = _inside(self.probs).log()
        else:
            self.logits = given - given.logsumexp(-1, keepdim=True)
            self.probs = F.softmax(given, -1)
        super().__init__(given.shape[:-1])

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self.logits.shape

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw categories, as an integer tensor [*sample_shape, *batch_shape]."""
        fn: Any = discrete.choose
        with no_grad():
            return fn(self.probs, (*sample_shape, *self.batch_shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the probabilities of categories, whose shape is broadcast with batch_shape."""
        at = value.astype("int64").unsqueeze(-1)
        at, logits = broadcast_tensors([at, self.logits])
        return take_along_axis(logits, at[..., :1], -1).squeeze(-1)

    def entropy(self) -> Any:
        """Compute the entropy in nats, [*batch_shape]."""
        return -(self.logits * self.probs).sum(-1)


class OneHotCategorical(Categorical):
    """Categorical distribution over vectors with a one in one place.

    Arguments:
        probs, logits: see Categorical.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> d = paddle.compat.distributions.OneHotCategorical(paddle.to_tensor([1.0, 3.0]))
        >>> d.sample([2]).sum(-1).tolist(), d.log_prob(paddle.to_tensor([0.0, 1.0])).exp().item()
        ([1.0, 1.0], 0.75)
    """

    @no_effect(validate_args=Immaterial("what cannot be is always refused"))
    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits)
        base.Distribution.__init__(self, self.logits.shape[:-1], self.logits.shape[-1:])

    @property
    def mean(self) -> Any:
        """Mean of the distribution, which are the probabilities."""
        return self.probs

    @property
    def variance(self) -> Any:
        """Variance of each place."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw vectors, [*sample_shape, *batch_shape, n]."""
        drawn = super().sample(sample_shape)
        return F.one_hot(drawn, self.logits.shape[-1]).astype(self.probs.dtype)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the probabilities of vectors."""
        return super().log_prob(value.argmax(-1))


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose rsample() has the gradient of the probabilities (Bengio et al., 2013).

    Arguments:
        probs, logits: see Categorical.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> p = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
        >>> paddle.compat.distributions.OneHotCategoricalStraightThrough(p).rsample()[0].backward()
        >>> p.grad.tolist()
        [0.25, -0.25]
    """

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw vectors, through which gradients flow to the probabilities."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class RelaxedOneHotCategorical(Categorical):
    """Continuous relaxation of OneHotCategorical, whose samples have gradients (Maddison et al., 2017).

    Arguments:
        temperature: the lower, the closer samples are to vectors with a one.
        probs, logits: see Categorical.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> d = paddle.compat.distributions.RelaxedOneHotCategorical(0.5, paddle.to_tensor([1.0, 3.0]))
        >>> round(d.rsample().sum().item(), 4)
        1.0
    """

    @no_effect(validate_args=Immaterial("what cannot be is always refused"))
    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(probs, logits)
        self.temperature = temperature
        base.Distribution.__init__(self, self.logits.shape[:-1], self.logits.shape[-1:])

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw vectors that add up to 1, [*sample_shape, *batch_shape, n]."""
        uniform = _inside(rand([*sample_shape, *self.logits.shape], self.logits.dtype))
        return F.softmax((self.logits - (-uniform.log()).log()) / self.temperature, -1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw vectors as rsample() does, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities at vectors."""
        n, x, t = self.logits.shape[-1], value.log(), base.as_value(self.temperature, self.logits)
        score = self.logits - x * t
        return (score - score.logsumexp(-1, keepdim=True) - x).sum(-1) + math.lgamma(n) + (n - 1) * t.log()


class RelaxedBernoulli(base.Distribution):
    """Continuous relaxation of the Bernoulli distribution, whose samples have gradients (Maddison et al., 2017).

    Arguments:
        temperature: the lower, the closer samples are to 0 and 1.
        probs: probability of 1.
        logits: its logarithmic odds, in its place.

    Raises:
        ValueError: both or neither of probs and logits are given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> d = paddle.compat.distributions.RelaxedBernoulli(1.0, paddle.to_tensor([0.5]))
        >>> round(d.log_prob(paddle.to_tensor([0.25])).exp().item(), 4)
        1.0
    """

    @no_effect(validate_args=Immaterial("what cannot be is always refused"))
    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("RelaxedBernoulli: expected probs or logits, and not both")
        (given,) = base.as_parameters(probs if logits is None else logits)
        self.temperature = temperature
        self.logits: Any = _inside(given).logit() if logits is None else given
        super().__init__(given.shape)

    @property
    def probs(self) -> Any:
        """The probability of 1."""
        return F.sigmoid(self.logits)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw numbers between 0 and 1, [*sample_shape, *batch_shape]."""
        uniform = _inside(rand([*sample_shape, *self.logits.shape], self.logits.dtype))
        return F.sigmoid((uniform.logit() + self.logits) / self.temperature)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw numbers as rsample() does, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities at numbers between 0 and 1."""
        x, t = value.logit(), base.as_value(self.temperature, self.logits)
        off = self.logits - x * t
        return t.log() + off - 2 * F.softplus(off) + F.softplus(-x) + F.softplus(x)


class NegativeBinomial(base.Distribution):
    """Number of successes before a number of failures.

    Arguments:
        total_count: number of failures, at least 0; it may be fractional.
        probs: probability of success, in [0, 1).
        logits: its logarithmic odds, in its place.

    Raises:
        ValueError: both or neither of probs and logits are given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> d = paddle.compat.distributions.NegativeBinomial(2.0, paddle.to_tensor([0.5]))
        >>> d.mean.tolist(), round(d.log_prob(paddle.to_tensor([1.0])).exp().item(), 4)
        ([2.0], 0.25)
    """

    @no_effect(validate_args=Immaterial("what cannot be is always refused"))
    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("NegativeBinomial: expected probs or logits, and not both")
        (given,) = base.as_parameters(probs if logits is None else logits)
        self.logits: Any = given.logit() if logits is None else given
        self.total_count, self.logits = broadcast_tensors([base.as_value(total_count, self.logits), self.logits])
        super().__init__(self.logits.shape)

    @property
    def probs(self) -> Any:
        """The probability of success."""
        return F.sigmoid(self.logits)

    @property
    def mean(self) -> Any:
        """Mean of the distribution."""
        return self.total_count * self.logits.exp()

    @property
    def variance(self) -> Any:
        """Variance of the distribution."""
        return self.mean / F.sigmoid(-self.logits)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw numbers, [*sample_shape, *batch_shape]."""
        with no_grad():
            rate = gamma_draw(self.total_count, [*sample_shape, *self.logits.shape]) * self.logits.exp()
            return poisson(rate)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the probabilities of numbers."""
        n = self.total_count
        log = n * F.log_sigmoid(-self.logits) + value * F.log_sigmoid(self.logits)
        chosen = (n + value).lgamma() - (1.0 + value).lgamma() - n.lgamma()
        return where(n + value == 0, log, log + chosen)


class MixtureSameFamily(base.Distribution):
    """Mixture of distributions of one family.

    Arguments:
        mixture_distribution: a Categorical over the components.
        component_distribution: a distribution whose last batch dimension are the components.

    Raises:
        TypeError: mixture_distribution is no Categorical.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> parts = paddle.distribution.Normal(paddle.to_tensor([0.0, 4.0]), paddle.ones([2]))
        >>> weights = paddle.compat.distributions.Categorical(paddle.ones([2]))
        >>> d = paddle.compat.distributions.MixtureSameFamily(weights, parts)
        >>> d.mean.item(), d.variance.item(), d.sample([3]).shape
        (2.0, 5.0, paddle.Size([3]))
    """

    @no_effect(validate_args=Immaterial("what cannot be is always refused"))
    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise TypeError(
                f"MixtureSameFamily: mixture_distribution is a {type(mixture_distribution).__name__}; expected a "
                "Categorical"
            )
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        parts = component_distribution
        super().__init__(parts.batch_shape[:-1], parts.event_shape)

    def _weights(self) -> Any:
        probs = self.mixture_distribution.probs
        return probs.reshape([*probs.shape, *[1] * len(self.event_shape)])

    @property
    def mean(self) -> Any:
        """Mean of the distribution."""
        return (self._weights() * self.component_distribution.mean).sum(-1 - len(self.event_shape))

    @property
    def variance(self) -> Any:
        """Variance of the distribution."""
        at, parts, weights = -1 - len(self.event_shape), self.component_distribution, self._weights()
        within = (weights * parts.variance).sum(at)
        return within + (weights * (parts.mean - self.mean.unsqueeze(at)) ** 2).sum(at)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples, [*sample_shape, *batch_shape, *event_shape]."""
        with no_grad():
            at, drawn = -1 - len(self.event_shape), self.component_distribution.sample(sample_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            chosen = chosen.reshape([*chosen.shape, 1, *[1] * len(self.event_shape)])
            chosen = chosen.expand([*chosen.shape[: chosen.ndim + at], 1, *self.event_shape])
            return take_along_axis(drawn, chosen, drawn.ndim + at).squeeze(at)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities of values."""
        part = self.component_distribution.log_prob(value.unsqueeze(-1 - len(self.event_shape)))
        return (part + F.log_softmax(self.mixture_distribution.logits, -1)).logsumexp(-1)


def _inside(uniform: Any) -> Any:
    """Return numbers between 0 and 1 without these."""
    tiny = 1.1920929e-07 if uniform.dtype != "float64" else 2.220446049250313e-16
    return uniform.clip(tiny, 1 - tiny)


_document(globals())
