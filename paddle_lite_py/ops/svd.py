"""The singular value decomposition, in a form that each platform's compiler accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..core.config import by_platform


def compilable(fn: Callable[[Any], Any], x: Any) -> Any:
    """Return the result of a function that decomposes its argument.

    With 64-bit types switched on, XLA's compiler for TPUs fails on the decomposition in float32, not in float64.
    """

    def wide(x: Any) -> Any:
        return jax.tree.map(lambda part: part.astype(jnp.float32), fn(x.astype(jnp.float64)))

    return by_platform(fn, x, tpu=wide) if x.dtype == jnp.float32 else fn(x)


def full_svd(x: Any, full_matrices: bool = False) -> tuple[Any, ...]:
    """Return U, the singular values, and V^H."""
    u, s, vh = compilable(lambda x: jnp.linalg.svd(x, full_matrices=False), x)
    if not full_matrices or x.shape[-2] == x.shape[-1]:
        return u, s, vh
    # What completes the bases is no function of x, so that no gradient comes from it.
    rest = compilable(lambda x: jnp.linalg.svd(x, full_matrices=True), jax.lax.stop_gradient(x))
    k = s.shape[-1]
    return jnp.concatenate([u, rest[0][..., k:]], -1), s, jnp.concatenate([vh, rest[2][..., k:, :]], -2)


def singular_values(x: Any) -> Any:
    """Return the singular values; the gradient uses the other factors."""
    return compilable(lambda x: jnp.linalg.svd(x, compute_uv=False), x)
