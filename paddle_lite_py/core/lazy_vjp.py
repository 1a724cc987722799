"""Gradients of one's own that are computed only where a cotangent comes, and of which there may be gradients again."""

from __future__ import annotations

import contextlib
import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero


class _Order(threading.local):
    twice = False


_order = _Order()


def is_differentiated_twice() -> bool:
    """Whether the code being traced may be differentiated twice: JAX has no second derivative of a `while_loop`."""
    return _order.twice


@contextlib.contextmanager
def differentiated_twice() -> Iterator[None]:
    """For what is traced in the block, is_differentiated_twice() is true."""
    before, _order.twice = _order.twice, True
    try:
        yield
    finally:
        _order.twice = before


def defvjp(fn: Any, n_args: int, forward: Callable[..., Any], backward: Callable[[Any, Any], Any]) -> None:
    """Give a jax.custom_vjp of `n_args` arguments its gradient.

    JAX alone calls `backward` with zeros where nothing reads the results: that makes NaN of what is infinite, and
    calls hooks and PyLayers that eager code does not visit.
    """

    def called(*args: Any) -> Any:
        return forward(*jax.tree.map(operator.attrgetter("value"), args))

    def pulled(saved: Any, cotangents: Any) -> Any:
        if all(isinstance(c, SymbolicZero) for c in jax.tree.leaves(cotangents)):
            return (None,) * n_args
        return backward(saved, jax.tree.map(_dense, cotangents))

    fn.defvjp(called, pulled, symbolic_zeros=True)


def _dense(cotangent: Any) -> Any:
    if not isinstance(cotangent, SymbolicZero):
        return cotangent
    make: Any = np if cotangent.dtype == jax.dtypes.float0 else jnp
    return make.zeros(cotangent.shape, cotangent.dtype)
