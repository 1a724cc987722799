"""In-place methods that fill a tensor, and every in-place method as a function: paddle.add_(x, y)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..op import INPLACE, METHODS, composite, op
from . import logic, math, unary  # noqa: F401  (whose in-place methods get other names here)
from .creation import _full_like
from .random import _bernoulli, _gaussian, _uniform


def _like(x: Any) -> tuple[tuple[Any, ...], Any]:
    return tuple(x._data.shape), x.dtype


@composite(inplace="fill_")
def _fill(x: Any, value: Any) -> Any:
    return _full_like(x, value)


@composite(inplace="zero_")
def _zero(x: Any) -> Any:
    return _full_like(x, 0)


@composite(inplace="uniform_")
def _fill_uniform(x: Any, min: Any = 0.0, max: Any = 1.0, seed: int = 0) -> Any:
    return _uniform(min, max, *_like(x))


@composite(inplace="normal_")
def _fill_normal(x: Any, mean: Any = 0.0, std: Any = 1.0) -> Any:
    return _gaussian(mean, std, *_like(x))


@composite(inplace="log_normal_")
def _fill_log_normal(x: Any, mean: Any = 1.0, std: Any = 2.0) -> Any:
    return _gaussian(mean, std, *_like(x)).exp()


@composite(inplace="exponential_")
def _fill_exponential(x: Any, lam: Any = 1.0) -> Any:
    # 1 - u lies in (0, 1], where the logarithm is finite.
    return (1 - _uniform(0.0, 1.0, *_like(x))).log() / -lam


@composite(inplace="geometric_")
def _fill_geometric(x: Any, probs: Any) -> Any:
    return (1 - _uniform(0.0, 1.0, *_like(x))).log() / float(jnp.log1p(-probs))


@composite(inplace="cauchy_")
def _fill_cauchy(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    return (_uniform(-jnp.pi / 2, jnp.pi / 2, *_like(x))).tan() * scale + loc


@composite(inplace="bernoulli_")
def _fill_bernoulli(x: Any, p: Any = 0.5) -> Any:
    return _bernoulli(p, *_like(x))


@op(name="fill_diagonal", inplace="fill_diagonal_")
def _fill_diagonal(x: Any, value: Any, /, offset: int = 0, wrap: bool = False) -> Any:
    row, column = (jax.lax.broadcasted_iota(jnp.int64, x.shape, a) for a in (0, 1))
    if x.ndim > 2:
        at = row == column
        for a in range(2, x.ndim):
            at = at & (row == jax.lax.broadcasted_iota(jnp.int64, x.shape, a))
    elif wrap:
        at = (row * x.shape[1] + column - offset) % (x.shape[1] + 1) == 0
    else:
        at = column - row == offset
    return jnp.where(at, jnp.asarray(value).astype(x.dtype), x)


# Other names of in-place methods that the ops define.
for _other, _name in {
    **{"mul_": "multiply_", "sub_": "subtract_", "mod_": "remainder_", "floor_mod_": "remainder_", "clamp_": "clip_"},
    **{"bitwise_invert_": "bitwise_not_", "gammaln_": "lgamma_"},
}.items():
    INPLACE[_other] = INPLACE[_name]
    METHODS.append((_other, INPLACE[_name]))


def __getattr__(name: str) -> Any:
    # Read when asked: families of ops that are imported later add their own.
    if name == "__all__":
        return sorted(INPLACE)
    try:
        return INPLACE[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
