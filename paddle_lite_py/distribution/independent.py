"""Distributions whose batch dimensions count as one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..eager.tensor import Tensor
from .base import Distribution
from .kl import kl_divergence, register_kl
from .transformed_distribution import sum_last


class Independent(Distribution):
    """Reinterpret the last batch dimensions of a distribution as event dimensions; log_prob() sums over them.

    Arguments:
        base: the distribution.
        reinterpreted_batch_rank: number of batch dimensions to reinterpret.

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
        """Mean of the distribution."""
        return self.base.mean

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        return self.base.variance

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples [*shape, *batch_shape, *event_shape]; the base decides whether its parameters get gradients."""
        return self.base.sample(shape)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        return self.base.rsample(shape)

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        return sum_last(self.base.log_prob(value), self.rank)

    def entropy(self) -> Tensor:
        """Compute the entropy in nats."""
        return sum_last(self.base.entropy(), self.rank)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Tensor:
    if p.rank != q.rank:
        raise NotImplementedError("kl_divergence of Independent distributions of different ranks")
    return sum_last(kl_divergence(p.base, q.base), p.rank)
