"""Distributions made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.interpreter import no_grad
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .base import Distribution, as_parameters, as_value
from .kl import kl_divergence, register_kl
from .transform import ChainTransform, Transform, sum_last

__all__ = ["Independent", "LKJCholesky", "TransformedDistribution"]


class Independent(Distribution):
    """A distribution whose last batch dimensions count as one event.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> D = paddle.distribution
        >>> D.Independent(D.Normal(paddle.zeros([3]), paddle.ones([3])), 1).event_shape
        (3,)
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        rank = reinterpreted_batch_rank
        if not 0 < rank <= len(base.batch_shape):
            raise ValueError(
                f"Independent: reinterpreted_batch_rank is {rank}; base has {len(base.batch_shape)} batch dimensions"
            )
        self.base, self.rank = base, rank
        shape = (*base.batch_shape, *base.event_shape)
        at = len(base.batch_shape) - rank
        super().__init__(shape[:at], shape[at:])

    @property
    def mean(self) -> Tensor:
        """Mean."""
        return self.base.mean

    @property
    def variance(self) -> Tensor:
        """Variance."""
        return self.base.variance

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """A draw without a gradient."""
        return self.base.sample(shape)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """A draw that carries a gradient."""
        return self.base.rsample(shape)

    def log_prob(self, value: Any) -> Tensor:
        """Logarithm of the density."""
        return sum_last(self.base.log_prob(value), self.rank)

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        return sum_last(self.base.entropy(), self.rank)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Tensor:
    if p.rank != q.rank:
        raise NotImplementedError("kl_divergence of Independent distributions of different ranks")
    return sum_last(kl_divergence(p.base, q.base), p.rank)


class TransformedDistribution(Distribution):
    """The distribution of transforms of draws.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> D = paddle.distribution
        >>> d = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.ExpTransform()])
        >>> f"{d.log_prob(paddle.to_tensor(1.0)).item():.4f}"
        '-0.9189'
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        self.base, self.transforms = base, list(transforms)
        self._chain = ChainTransform(self.transforms)
        shape = self._chain.forward_shape((*base.batch_shape, *base.event_shape))
        wide = max(self._chain.event_dims[1], len(base.event_shape))
        super().__init__(shape[: len(shape) - wide], shape[len(shape) - wide :])

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """A draw without a gradient."""
        with no_grad():
            return self._chain.forward(self.base.sample(shape))

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """A draw that carries a gradient."""
        return self._chain.forward(self.base.rsample(shape))

    def log_prob(self, value: Any) -> Tensor:
        """Logarithm of the density.

        Raises:
            NotImplementedError: if a transform is no bijection.
        """
        if not self._chain.bijective:
            raise NotImplementedError("TransformedDistribution.log_prob: one of the transforms is no bijection")
        events = len(self.event_shape)
        y, change = value, 0.0
        for t in reversed(self.transforms):
            x = t.inverse(y)
            change = change - sum_last(t.forward_log_det_jacobian(x), events - t.event_dims[1])
            events += t.event_dims[0] - t.event_dims[1]
            y = x
        return change + sum_last(self.base.log_prob(y), events - len(self.base.event_shape))


class LKJCholesky(Distribution):
    """Lower triangular roots of correlation matrices of size dim; concentration 1 makes all equally likely.

    Source: Lewandowski, Kurowicka and Joe, Generating random correlation matrices, 2009.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.LKJCholesky(2, 1.5).sample().shape
        [2, 2]
    """

    def __init__(self, dim: int = 2, concentration: Any = 1.0, sample_method: str = "onion") -> None:
        if dim < 2:
            raise ValueError(f"LKJCholesky: dim is {dim}; expected at least 2")
        if sample_method not in ("onion", "cvine"):
            raise ValueError(f"LKJCholesky: sample_method is {sample_method!r}; expected 'onion' or 'cvine'")
        (self.concentration,) = as_parameters(concentration)
        self.dim, self.sample_method = dim, sample_method
        super().__init__(self.concentration.shape, (dim, dim))

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """A draw, by the onion method."""
        fn: Any = _onion
        with no_grad():
            return fn(self.concentration, tuple(self._extended(shape)))

    def log_prob(self, value: Any) -> Tensor:
        """Logarithm of the density."""
        diagonal = as_value(value, self.concentration).diagonal(axis1=-2, axis2=-1)[..., 1:]
        n, eta = self.dim, self.concentration.unsqueeze(-1)
        (order,) = as_parameters([float(i) for i in range(2, n + 1)])
        log_norm = self._log_norm()
        return ((2 * (eta - 1) + n - order) * diagonal.log()).sum(-1) - log_norm

    def _log_norm(self) -> Tensor:
        import math

        n = self.dim
        alpha = self.concentration + 0.5 * (n - 1)
        total = alpha.lgamma() * (n - 1)
        m = n - 1
        multi: Any = m * (m - 1) / 4 * math.log(math.pi)
        for i in range(1, m + 1):
            multi = multi + (alpha - 0.5 + 0.5 * (1 - i)).lgamma()
        return 0.5 * m * math.log(math.pi) + multi - total


@op(name="lkj_onion", random=True, grad=False)
def _onion(key: Any, concentration: Any, /, shape: Any) -> Any:
    n, lead = shape[-1], shape[:-2]
    beta_key, normal_key = jax.random.split(key)
    order = jnp.arange(n - 1, dtype=concentration.dtype)
    a, b = 0.5 + 0.5 * order, jnp.broadcast_to(concentration, lead)[..., None] + 0.5 * (n - 2) - 0.5 * order
    share = jax.random.beta(beta_key, jnp.broadcast_to(a, b.shape), b)
    noise = jnp.tril(jax.random.normal(normal_key, (*lead, n - 1, n), concentration.dtype))
    noise = jnp.where(jnp.arange(n) <= jnp.arange(n - 1)[:, None], noise, 0)
    rows = noise / jnp.linalg.norm(noise, axis=-1, keepdims=True) * jnp.sqrt(share)[..., None]
    full = jnp.concatenate([jnp.zeros((*lead, 1, n), concentration.dtype), rows], -2)
    rest = jnp.sqrt(jnp.clip(1 - jnp.sum(full**2, -1), 1e-30))
    return full + jnp.eye(n, dtype=concentration.dtype) * rest[..., None]
