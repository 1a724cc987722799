"""Continuous distributions on positive numbers, on (0, 1) and on the simplex."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.interpreter import no_grad
from ..dispatch.define import op
from ..eager.tensor import Tensor
from ..ops.joining import broadcast_tensors
from .base import Distribution, ExponentialFamily, as_parameters, as_value, check_positive
from .location import draw


@op(name="standard_gamma_draw", random=True)
def _gamma_draw(key: Any, concentration: Any, /, shape: Any) -> Any:
    return jax.random.gamma(key, jnp.broadcast_to(concentration, shape), shape, concentration.dtype)


def gamma_draw(concentration: Tensor, shape: Sequence[int]) -> Tensor:
    """Draw samples of the gamma distribution of rate 1, with gradients."""
    fn: Any = _gamma_draw
    return fn(concentration, tuple(shape))


def log_beta(a: Tensor, b: Tensor) -> Tensor:
    """Compute the logarithm of the beta function."""
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


class Exponential(ExponentialFamily):
    """Exponential distribution: density `rate * exp(-rate * x)` for x >= 0.

    Arguments:
        rate: inverse of the mean, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Exponential(paddle.to_tensor(2.0)).mean.item()
        0.5
    """

    def __init__(self, rate: Any) -> None:
        (self.rate,) = as_parameters(rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return 1 / self.rate

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        return 1 / self.rate.square()

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        return -(-draw("uniform", self._extended(shape), self.rate)).log1p() / self.rate

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        return self.rate.log() - self.rate * as_value(value, self.rate)

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        return 1 - self.rate.log()

    def cdf(self, value: Any) -> Tensor:
        """Compute the cumulative distribution function, P(x <= value)."""
        return -(-self.rate * as_value(value, self.rate)).expm1()

    def icdf(self, value: Any) -> Tensor:
        """Compute the quantile: the inverse of the cumulative distribution function."""
        return -(-as_value(value, self.rate)).log1p() / self.rate


class Gamma(ExponentialFamily):
    """Gamma distribution: density `rate**a * x**(a - 1) * exp(-rate * x) / Gamma(a)` with a = concentration.

    Arguments:
        concentration: shape parameter, positive.
        rate: inverse scale, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Gamma(paddle.to_tensor(3.0), paddle.to_tensor(2.0)).mean.item()
        1.5
    """

    def __init__(self, concentration: Any, rate: Any) -> None:
        self.concentration, self.rate = as_parameters(concentration, rate)
        super().__init__(self.concentration.shape)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.concentration / self.rate

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        return self.concentration / self.rate.square()

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        return gamma_draw(self.concentration, self._extended(shape)) / self.rate

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        a, x = self.concentration, as_value(value, self.rate)
        return a * self.rate.log() + (a - 1) * x.log() - self.rate * x - a.lgamma()

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()


class Chi2(Gamma):
    """Chi-squared distribution with df degrees of freedom: Gamma(df / 2, 1 / 2).

    Arguments:
        df: degrees of freedom, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Chi2(paddle.to_tensor(3.0)).mean.item()
        3.0
    """

    def __init__(self, df: Any) -> None:
        (self.df,) = as_parameters(df)
        check_positive("Chi2", df=self.df)
        super().__init__(self.df / 2, 0.5)


class Beta(ExponentialFamily):
    """Beta distribution on (0, 1): density proportional to `x**(alpha - 1) * (1 - x)**(beta - 1)`.

    Arguments:
        alpha: first shape parameter, positive.
        beta: second shape parameter, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Beta(1.0, 3.0).mean.item()
        0.25
    """

    def __init__(self, alpha: Any, beta: Any) -> None:
        self.alpha, self.beta = as_parameters(alpha, beta)
        super().__init__(self.alpha.shape)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        total = self.alpha + self.beta
        return self.alpha * self.beta / (total.square() * (total + 1))

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        size = self._extended(shape)
        x, y = gamma_draw(self.alpha, size), gamma_draw(self.beta, size)
        return x / (x + y)

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        x = as_value(value, self.alpha)
        return (self.alpha - 1) * x.log() + (self.beta - 1) * (-x).log1p() - log_beta(self.alpha, self.beta)

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        a, b = self.alpha, self.beta
        spread = (a - 1) * a.digamma() + (b - 1) * b.digamma() - (a + b - 2) * (a + b).digamma()
        return log_beta(a, b) - spread


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution over probability vectors: density proportional to `prod(x_i**(concentration_i - 1))`.

    Arguments:
        concentration: positive parameters [*batch_shape, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0])).mean.tolist()
        [0.25, 0.75]
    """

    def __init__(self, concentration: Any) -> None:
        (self.concentration,) = as_parameters(concentration)
        if self.concentration.ndim < 1:
            raise ValueError("Dirichlet: concentration is a number; expected at least one dimension")
        shape = self.concentration.shape
        super().__init__(shape[:-1], shape[-1:])

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        found = gamma_draw(self.concentration, self._extended(shape))
        return found / found.sum(-1, keepdim=True)

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        a, x = self.concentration, as_value(value, self.concentration)
        return ((a - 1) * x.log()).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        a = self.concentration
        total, k = a.sum(-1), a.shape[-1]
        log_norm = a.lgamma().sum(-1) - total.lgamma()
        return log_norm - (k - total) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)


class StudentT(Distribution):
    """Student's t distribution with df degrees of freedom, shifted by loc and scaled by scale.

    Arguments:
        df: degrees of freedom, positive.
        loc: location.
        scale: scale, positive.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.StudentT(3.0, 1.0, 1.0).mean.item()
        1.0
    """

    def __init__(self, df: Any, loc: Any, scale: Any, name: str | None = None) -> None:
        self.df, self.loc, self.scale = as_parameters(df, loc, scale)
        check_positive("StudentT", df=self.df, scale=self.scale)
        super().__init__(self.df.shape)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution; NaN unless df > 1."""
        return self.loc + 0 * (self.df - 1).log()

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution; NaN unless df > 2."""
        return self.scale.square() * (self.df / (self.df - 2)) + 0 * (self.df - 2).log()

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        return self._drawn(shape, gamma_draw(self.df / 2, self._extended(shape)))

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples [*shape, *batch_shape, *event_shape]; no gradient flows through the chi-squared draw."""
        with no_grad():
            half = gamma_draw(self.df / 2, self._extended(shape))
        return self._drawn(shape, half)

    def _drawn(self, shape: Sequence[int], half: Tensor) -> Tensor:
        """Samples from the draw of half a chi-squared variable."""
        normal = draw("normal", self._extended(shape), self.loc)
        return self.loc + self.scale * normal * (self.df / (2 * half)).sqrt()

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        z = (as_value(value, self.loc) - self.loc) / self.scale
        half = (self.df + 1) / 2
        norm = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + (self.df / 2).lgamma() - half.lgamma()
        return -half * (z.square() / self.df).log1p() - norm

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        half, rest = (self.df + 1) / 2, self.df / 2
        log_b = rest.lgamma() + 0.5 * math.log(math.pi) - half.lgamma()
        return self.scale.log() + half * (half.digamma() - rest.digamma()) + 0.5 * self.df.log() + log_b


class MultivariateNormal(Distribution):
    """Multivariate normal distribution.

    Arguments:
        loc: mean [*batch_shape, n].
        covariance_matrix: covariance [*batch_shape, n, n]; give exactly one of the three matrices.
        precision_matrix: inverse of the covariance.
        scale_tril: lower triangular Cholesky factor of the covariance.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.MultivariateNormal(paddle.zeros([2]), paddle.eye(2)).sample([3]).shape
        paddle.Size([3, 2])
    """

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None
    ) -> None:
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if len(given) != 1:
            raise ValueError("MultivariateNormal: give one of covariance_matrix, precision_matrix and scale_tril")
        (matrix,) = as_parameters(given[0])
        if precision_matrix is not None:
            matrix = matrix.inverse()
        tril = matrix if scale_tril is not None else matrix.cholesky()
        (mean,) = as_parameters(loc)
        rows, _ = broadcast_tensors([mean, tril[..., 0]])
        self.loc, self.scale_tril = rows, tril
        super().__init__(rows.shape[:-1], rows.shape[-1:])

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        return self.loc

    @property
    def covariance_matrix(self) -> Tensor:
        """Covariance matrix [*batch_shape, n, n]."""
        return self.scale_tril @ self.scale_tril.mT

    @property
    def variance(self) -> Tensor:
        """Variances of the components [*batch_shape, n]."""
        return self.scale_tril.square().sum(-1) + 0 * self.loc

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        noise = draw("normal", self._extended(shape), self.loc)
        return self.loc + (self.scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Tensor:
        return self.scale_tril.diagonal(axis1=-2, axis2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        from ..ops.decomposition import triangular_solve

        rest = (as_value(value, self.loc) - self.loc).unsqueeze(-1)
        lead, n = rest.shape[:-2], self.event_shape[0]
        root = self.scale_tril.expand([*lead, n, n])
        z: Any = triangular_solve(root, rest, upper=False)
        norm = 0.5 * n * math.log(2 * math.pi)
        return -0.5 * z.square().sum([-2, -1]) - norm - self._half_log_det()

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        n = self.event_shape[0]
        return 0.5 * n * (1 + math.log(2 * math.pi)) + self._half_log_det()
