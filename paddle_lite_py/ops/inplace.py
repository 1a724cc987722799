"""In-place methods that fill a tensor, and every in-place method as a function: `paddle.add_(x, y)`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core.interpreter import state
from ..dispatch.define import INPLACE, add_methods, composite, op
from ..eager.pending import payload_of
from . import logic, math, unary  # noqa: F401  (whose in-place methods get other names here)
from .creation import _full_like, full
from .random import _bernoulli, _gaussian, _uniform, seeded
from .search import where


def _like(x: Any) -> tuple[tuple[Any, ...], Any]:
    return tuple(payload_of(x).shape), x.dtype


def filled(x: Any, made: Any) -> Any:
    """Return what a tensor is filled with: still part of its graph, where gradients of 0 flow to what it was."""
    return made if x.stop_gradient or not state.grad_enabled else where(full([], True), made, x)


@composite(inplace="fill_")
def _fill(x: Any, value: Any) -> Any:
    """Fill the tensor with a value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.zeros([2]).fill_(3.0).tolist()
        [3.0, 3.0]
    """
    return filled(x, _full_like(x, value))


@composite(inplace="zero_")
def _zero(x: Any) -> Any:
    """Fill the tensor with zeros.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.ones([2]).zero_().tolist()
        [0.0, 0.0]
    """
    return filled(x, _full_like(x, 0))


@composite(inplace="uniform_")
def _fill_uniform(x: Any, min: Any = 0.0, max: Any = 1.0, seed: int = 0) -> Any:
    """Fill the tensor with samples of the uniform distribution on [min, max).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> bool((paddle.zeros([4]).uniform_(2.0, 3.0) >= 2).all())
        True
    """
    return filled(x, seeded(seed, _uniform, (min, max), _like(x)) if seed else _uniform(min, max, *_like(x)))


@composite(inplace="normal_")
def _fill_normal(x: Any, mean: Any = 0.0, std: Any = 1.0) -> Any:
    """Fill the tensor with samples of a normal distribution.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.zeros([2]).normal_(5.0, 0.0).tolist()
        [5.0, 5.0]
    """
    return filled(x, _gaussian(mean, std, *_like(x)))


@composite(inplace="log_normal_")
def _fill_log_normal(x: Any, mean: Any = 1.0, std: Any = 2.0) -> Any:
    """Fill the tensor with samples of a log-normal distribution.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> bool((paddle.zeros([4]).log_normal_() > 0).all())
        True
    """
    return filled(x, _gaussian(mean, std, *_like(x)).exp())


@composite(inplace="exponential_")
def _fill_exponential(x: Any, lam: Any = 1.0) -> Any:
    """Fill the tensor with samples of an exponential distribution of rate `lam`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> bool((paddle.zeros([4]).exponential_(2.0) >= 0).all())
        True
    """
    # 1 - u is in (0, 1], where the logarithm is finite.
    return filled(x, (1 - _uniform(0.0, 1.0, *_like(x))).log() / -lam)


@composite(inplace="geometric_")
def _fill_geometric(x: Any, probs: Any) -> Any:
    """Fill the tensor with samples of a geometric distribution, before rounding.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> bool((paddle.zeros([4]).geometric_(0.5) >= 0).all())
        True
    """
    return filled(x, (1 - _uniform(0.0, 1.0, *_like(x))).log() / float(jnp.log1p(-probs)))


@composite(inplace="cauchy_")
def _fill_cauchy(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Fill the tensor with samples of a Cauchy distribution.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.zeros([4]).cauchy_(1.0, 2.0).shape
        paddle.Size([4])
    """
    return filled(x, (_uniform(-jnp.pi / 2, jnp.pi / 2, *_like(x))).tan() * scale + loc)


@composite(inplace="bernoulli_")
def _fill_bernoulli(x: Any, p: Any = 0.5) -> Any:
    """Fill the tensor with samples of a Bernoulli distribution: 1 with probability `p`, else 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.zeros([2]).bernoulli_(1.0).tolist()
        [1.0, 1.0]
    """
    return filled(x, _bernoulli(p, *_like(x)))


@op(name="fill_diagonal", inplace="fill_diagonal_")
def _fill_diagonal(x: Any, value: Any, /, offset: int = 0, wrap: bool = False) -> Any:
    """Fill a diagonal with a value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.zeros([2, 2]).fill_diagonal_(1.0).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
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
    add_methods({_other: INPLACE[_name]})


def document() -> None:
    """Give in-place forms the examples of the out-of-place functions."""
    for name, method in INPLACE.items():
        behind = name.removesuffix("_")
        doc = method.__dict__["__inplace_of__"].__doc__ or ""
        _, mark, examples = doc.partition("Examples:")
        called = examples.replace(f".{behind}(", f".{name}(")
        if mark and f".{name}(" in called:
            method.__doc__ = f"{(method.__doc__ or '').splitlines()[0]}\n\nExamples:{called}"
