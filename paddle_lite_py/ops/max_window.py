"""The largest element of each window, with the gradient going to the first of equal ones as in Paddle.

XLA's own gradient (select and scatter) is slow on CPUs. Here it is one comparison for each place in the window.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .windows import Windows, lowest


def max_of_windows(x: Any, w: Windows) -> Any:
    """The largest element of each window."""
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return _forward(x, w)
    return _with_gradient(x, w)


def _forward(x: Any, w: Windows) -> Any:
    size, step = w.full(w.kernel, 1, x.ndim), w.full(w.step, 1, x.ndim)
    # JAX knows the maximum by its neutral element, which is -inf for floats.
    least = lowest(x.dtype)
    start = np.array(-np.inf, x.dtype) if jnp.issubdtype(x.dtype, jnp.inexact) else least
    out = jax.lax.reduce_window(x, start, jax.lax.max, size, step, w.extended(x.ndim))
    return jnp.maximum(out, least) if w.ceil else out


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _with_gradient(x: Any, w: Windows) -> Any:
    return _forward(x, w)


@_with_gradient.defjvp
def _jvp(w: Windows, primals: Any, tangents: Any) -> Any:
    # Linear in the tangent, so that JAX derives the backward pass, and derivatives of any order.
    (x,), (t,) = primals, tangents
    y = _with_gradient(x, w)
    x, t = (_padded(a, w, fill) for a, fill in ((x, lowest(x.dtype)), (t, jnp.zeros((), x.dtype))))
    taken, out = jnp.zeros(y.shape, bool), jnp.zeros_like(y)
    for offset in itertools.product(*map(range, w.kernel)):
        here = (_places(x, w, offset) == y) & ~taken
        taken = taken | here
        out = jnp.where(here, _places(t, w, offset), out)
    return y, out


def _padded(x: Any, w: Windows, fill: Any) -> Any:
    return jax.lax.pad(x, fill, [(*p, 0) for p in w.extended(x.ndim)])


def _places(x: Any, w: Windows, offset: tuple[int, ...]) -> Any:
    """The element at `offset` of each window."""
    stop = [o + (c - 1) * s + 1 for o, c, s in zip(offset, w.count, w.step, strict=True)]
    limits = [*x.shape]
    limits[w.at : w.at + len(stop)] = stop
    return jax.lax.slice(x, w.full(offset, 0, x.ndim), limits, w.full(w.step, 1, x.ndim))
