"""The distribution of correlation matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.interpreter import no_grad
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .base import Distribution, as_parameters, as_value, check_positive


class LKJCholesky(Distribution):
    """LKJ distribution of the Cholesky factors of correlation matrices: `p(M) ~ det(M)**(concentration - 1)`.

    Arguments:
        dim: size of the matrices, at least 2. Default: 2.
        concentration: positive; 1 is the uniform distribution over correlation matrices, larger values favor the
            identity. Default: 1.0.
        sample_method: "onion" or "cvine". Default: 'onion'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.LKJCholesky(2, 1.5).sample().shape
        paddle.Size([2, 2])

    Source: Lewandowski, Kurowicka and Joe, Generating random correlation matrices, 2009.
    """

    def __init__(self, dim: int = 2, concentration: Any = 1.0, sample_method: str = "onion") -> None:
        if not isinstance(dim, int):
            raise TypeError(f"LKJCholesky: dim is {dim!r}; expected an int")
        if dim < 2:
            raise ValueError(f"LKJCholesky: dim is {dim}; expected at least 2")
        if sample_method not in ("onion", "cvine"):
            raise ValueError(f"LKJCholesky: sample_method is {sample_method!r}; expected 'onion' or 'cvine'")
        (self.concentration,) = as_parameters(concentration)
        check_positive("LKJCholesky", concentration=self.concentration)
        self.dim, self.sample_method = dim, sample_method
        super().__init__(self.concentration.shape, (dim, dim))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw lower triangular Cholesky factors.

        Returns:
            A tensor [*sample_shape, *batch_shape, dim, dim].
        """
        fn: Any = _onion
        with no_grad():
            return fn(self.concentration, tuple(self._extended(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density."""
        diagonal = as_value(value, self.concentration).diagonal(axis1=-2, axis2=-1)[..., 1:]
        n, eta = self.dim, self.concentration.unsqueeze(-1)
        (order,) = as_parameters([float(i) for i in range(2, n + 1)])
        log_norm = self._log_norm()
        return ((2 * (eta - 1) + n - order) * diagonal.log()).sum(-1) - log_norm

    def _log_norm(self) -> Tensor:
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
    share = jax.random.beta(beta_key, jnp.broadcast_to(a, b.shape), b, dtype=b.dtype)
    noise = jnp.tril(jax.random.normal(normal_key, (*lead, n - 1, n), concentration.dtype))
    noise = jnp.where(jnp.arange(n) <= jnp.arange(n - 1)[:, None], noise, 0)
    rows = noise / jnp.linalg.norm(noise, axis=-1, keepdims=True) * jnp.sqrt(share)[..., None]
    full = jnp.concatenate([jnp.zeros((*lead, 1, n), concentration.dtype), rows], -2)
    rest = jnp.sqrt(jnp.clip(1 - jnp.sum(full**2, -1), 1e-30))
    return full + jnp.eye(n, dtype=concentration.dtype) * rest[..., None]
