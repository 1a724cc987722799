"""The StableHLO of a file as a function with gradients of every order: a file holds the first one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from paddle_lite_py.core.dtypes import is_inexact

Arrays = tuple[Any, ...]


def differentiable(exported: Any, run: Callable[..., Any]) -> Callable[..., Arrays]:
    """What `exported` computes, with its gradient; gradients of that one are those of `run`.

    Arguments:
        exported: a jax.export.Exported.
        run: a function of JAX that computes the same.
    """

    @jax.custom_vjp
    def call(*arrays: Any) -> Arrays:
        return tuple(exported.call(*arrays))

    @jax.custom_vjp
    def gradient(arrays: Arrays, cotangents: Arrays) -> Arrays:
        return _gradient(exported.call, arrays, cotangents)

    def back(arrays: Arrays, cotangents: Arrays) -> Arrays:
        found = iter(gradient(arrays, _inexact(cotangents)))
        return tuple(next(found) if is_inexact(a.dtype) else None for a in arrays)

    def back_again(saved: tuple[Arrays, Arrays], cotangents: Arrays) -> Any:
        return jax.vjp(lambda *given: _gradient(run, *given), *saved)[1](cotangents)

    call.defvjp(lambda *arrays: (call(*arrays), arrays), back)
    gradient.defvjp(lambda *given: (gradient(*given), given), back_again)
    return call


def _gradient(call: Callable[..., Any], arrays: Arrays, cotangents: Arrays) -> Arrays:
    """Gradients of the inexact arrays from cotangents of the inexact results."""
    outs, pull = jax.vjp(lambda *given: tuple(call(*given)), *arrays)
    given = iter(cotangents)
    full = [next(given) if is_inexact(o.dtype) else np.zeros(o.shape, jax.dtypes.float0) for o in outs]
    return tuple(g for g, a in zip(pull(tuple(full)), arrays, strict=True) if is_inexact(a.dtype))


def _inexact(arrays: Arrays) -> Arrays:
    return tuple(a for a in arrays if a.dtype != jax.dtypes.float0)
