"""Gaussian elimination for solutions, inverses and determinants, in a form that compiles on each platform.

XLA's TPU compiler has no LU decomposition in float64; there, rows are eliminated one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..core.config import by_platform

TERMS = 18  # of the exponential series, whose rest is below the precision of float64 for norms up to 1
SQUARINGS = 32


def _run_by_platform(usual: Callable[..., Any], by_steps: Callable[..., Any], x: Any, *others: Any) -> Any:
    """Return the result of JAX's function, or of the stepwise one for float64 on TPUs."""
    return by_platform(usual, x, *others, tpu=by_steps) if x.dtype == jnp.float64 else usual(x, *others)


def lu(x: Any) -> tuple[Any, Any]:
    """Return L and U in one matrix, and the row exchanged with each row."""
    found = _run_by_platform(lambda x: tuple(jax.lax.linalg.lu(x)[:2]), _lu_by_steps, x)
    return found[0], found[1]


def solve(x: Any, y: Any) -> Any:
    """Solve x z = y for [..., n, n] and [..., n, k]."""
    return _run_by_platform(jnp.linalg.solve, _solve_by_steps, x, y)


def inverse(x: Any) -> Any:
    """Invert square matrices."""
    return _run_by_platform(jnp.linalg.inv, _inverse_by_steps, x)


def det(x: Any) -> Any:
    """Compute determinants."""
    return _run_by_platform(jnp.linalg.det, _det_by_steps, x)


def slogdet(x: Any) -> Any:
    """Compute the signs and log absolute values of determinants."""
    return _run_by_platform(lambda x: tuple(jnp.linalg.slogdet(x)), _slogdet_by_steps, x)


def exponential(x: Any) -> Any:
    """Compute matrix exponentials."""
    return _run_by_platform(jax.scipy.linalg.expm, _exponential_by_squaring, x)


# -- in steps ----------------------------------------------------------------------------------------------------------
def _lu_by_steps(x: Any) -> tuple[Any, Any]:
    """Decompose column by column with partial pivoting."""
    rows, columns = x.shape[-2:]
    if not min(rows, columns):
        return x, jnp.zeros((*x.shape[:-2], 0), jnp.int32)
    below, right = jnp.arange(rows), jnp.arange(columns)

    def step(k: Any, held: tuple[Any, Any]) -> tuple[Any, Any]:
        a, pivots = held
        best = jnp.argmax(jnp.where(below >= k, jnp.abs(a[:, k]), -1)).astype(jnp.int32)
        a = a.at[jnp.stack([k, best])].set(a[jnp.stack([best, k])])
        top = jnp.where(a[k, k] == 0, 1, a[k, k])
        factors = jnp.where(below > k, a[:, k] / top, 0)
        a = a - jnp.outer(factors, jnp.where(right > k, a[k], 0))
        return a.at[:, k].set(jnp.where(below > k, factors, a[:, k])), pivots.at[k].set(best)

    def factored(a: Any) -> tuple[Any, Any]:
        steps = min(rows, columns)
        found: tuple[Any, Any] = jax.lax.fori_loop(0, steps, step, (a, jnp.zeros(steps, jnp.int32)))
        return found

    for _ in x.shape[:-2]:
        factored = jax.vmap(factored)
    return factored(x)


def _solve_by_steps(x: Any, y: Any) -> Any:
    """Solve by substitution; the gradient reuses the factors."""
    batch = jnp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x, y = (jnp.broadcast_to(v, (*batch, *v.shape[-2:])) for v in (x, y))
    factors = _lu_by_steps(jax.lax.stop_gradient(x))

    def substituted(trans: int) -> Callable[[Any, Any], Any]:
        return lambda _, right: jax.scipy.linalg.lu_solve(factors, right, trans)

    return jax.lax.custom_linear_solve(lambda z: x @ z, y, substituted(0), substituted(1))


def _inverse_by_steps(x: Any) -> Any:
    return _solve_by_steps(x, jnp.broadcast_to(jnp.eye(x.shape[-1], dtype=x.dtype), x.shape))


def _diagonal_by_steps(x: Any) -> tuple[Any, Any]:
    """Return the diagonal of U, and the sign of the row exchanges."""
    packed, pivots = _lu_by_steps(x)
    odd = jnp.sum(pivots != jnp.arange(x.shape[-1]), -1) % 2
    return jnp.diagonal(packed, axis1=-2, axis2=-1), jnp.where(odd == 1, -1, 1).astype(x.dtype)


@jax.custom_jvp
def _det_by_steps(x: Any) -> Any:
    diagonal, sign = _diagonal_by_steps(x)
    return sign * jnp.prod(diagonal, -1)


@_det_by_steps.defjvp
def _det_tangent(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    value = _det_by_steps(*primals)
    return value, value * _trace(_solve_by_steps(*primals, *tangents))


@jax.custom_jvp
def _slogdet_by_steps(x: Any) -> tuple[Any, Any]:
    diagonal, sign = _diagonal_by_steps(x)
    size = jnp.abs(diagonal)
    return sign * jnp.prod(jnp.sign(diagonal), -1), jnp.sum(jnp.log(size), -1)


@_slogdet_by_steps.defjvp
def _slogdet_tangent(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    sign, logarithm = _slogdet_by_steps(*primals)
    return (sign, logarithm), (jnp.zeros_like(sign), _trace(_solve_by_steps(*primals, *tangents)))


def _trace(x: Any) -> Any:
    return jnp.trace(x, axis1=-2, axis2=-1)


def _exponential_by_squaring(x: Any) -> Any:
    """Sum the series for a fraction of `x`, then square repeatedly."""
    norm = jnp.max(jnp.sum(jnp.abs(x), -2, keepdims=True), -1, keepdims=True)
    squarings = jnp.clip(jnp.ceil(jnp.log2(jnp.maximum(norm, 1))), 0, SQUARINGS)
    small, one = x * jnp.exp2(-squarings), jnp.eye(x.shape[-1], dtype=x.dtype)
    out = jnp.broadcast_to(one, x.shape)
    for k in range(TERMS, 0, -1):
        out = one + small @ out / k

    def square(k: Any, out: Any) -> Any:
        return jnp.where(k < squarings, out @ out, out)

    return jax.lax.fori_loop(0, SQUARINGS, square, out)
