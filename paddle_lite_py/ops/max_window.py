"""Window maximum, with the gradient going to the first of equal maxima as in Paddle."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .windows import Windows, lowest


def max_of_windows(x: Any, w: Windows) -> Any:
    """Compute the maximum of each window."""
    inexact = jnp.issubdtype(x.dtype, jnp.inexact)
    if inexact and not all(isinstance(n, int) for n in w.kernel) and w.kernel == w.space and not any(map(any, w.pad)):
        return _max_of_all(x, w)  # XLA has no windows of open sizes
    if inexact and w.kernel == w.step and not w.ceil and not any(map(any, w.pad)):
        return _tile_max(_tiles(x, w))
    size, step, least = w.full(w.kernel, 1, x.ndim), w.full(w.step, 1, x.ndim), lowest(x.dtype)
    # JAX recognizes a maximum by its neutral element, which is -inf for floats.
    start = np.array(-np.inf, x.dtype) if inexact else least
    out = jax.lax.reduce_window(x, start, jax.lax.max, size, step, w.extended(x.ndim))
    return jnp.maximum(out, least) if w.ceil else out


def _max_of_all(x: Any, w: Windows) -> Any:
    axes = range(w.at, w.at + len(w.space))
    last = jnp.moveaxis(x, axes, range(-len(axes), 0))
    return jnp.expand_dims(_tile_max(last.reshape(*last.shape[: -len(axes)], math.prod(w.space))), tuple(axes))


def _tiles(x: Any, w: Windows) -> Any:
    """x with each spatial axis in two, windows and elements, and the axes of elements last."""
    n, at = len(w.kernel), w.at
    whole = [c * k for c, k in zip(w.number, w.kernel, strict=True)]
    x = jax.lax.slice(x, [0] * x.ndim, [*x.shape[:at], *whole, *x.shape[at + n :]])
    pairs = [a for c, k in zip(w.number, w.kernel, strict=True) for a in (c, k)]
    x = x.reshape(*x.shape[:at], *pairs, *x.shape[at + n :])
    return jnp.moveaxis(x, range(at + 1, at + 2 * n, 2), range(-n, 0)).reshape(
        *_collapsed_shape(x.shape, at, n), math.prod(w.kernel)
    )


def _collapsed_shape(shape: Any, at: int, n: int) -> list[Any]:
    return [a for i, a in enumerate(shape) if i not in range(at + 1, at + 2 * n, 2)]


@jax.custom_jvp
def _tile_max(x: Any) -> Any:
    """Maximum along the last axis. Several times as fast as XLA's select and scatter on CPUs."""
    return jnp.max(x, axis=-1)


@_tile_max.defjvp
def _jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    y = _tile_max(x)
    at = jnp.arange(x.shape[-1], dtype=jnp.int32)
    first = jnp.min(jnp.where(x == y[..., None], at, np.iinfo(np.int32).max), axis=-1, keepdims=True)
    if not isinstance(x.shape[-1], int):
        return y, jnp.sum(jnp.where(first == at, t, 0), axis=-1)
    # Element by element: a sum over the axis has a broadcast as its gradient, and XLA fuses that into a slow GEMM.
    return y, sum(jnp.where(first[..., 0] == i, e, 0) for i, e in enumerate(jnp.unstack(t, axis=-1)))
