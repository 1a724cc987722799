"""FLAGS_check_nan_inf: a look at the results of compiled functions, which names the op that made a NaN or infinity.

Not by JAX's own check: that is a setting of each thread, which the trace of a loop ends, and sees no executables that
were compiled ahead.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from .dtypes import is_inexact
from .switches import nan_checks


class NonFiniteError(FloatingPointError, RuntimeError, ValueError):
    """An op has made a NaN or an infinity; PaddlePaddle raises a RuntimeError."""


class _NotLocatedError(Exception):
    """A function would have to act on the world once more."""


class _Locating(threading.local):
    """Whether this thread runs a function once more, op by op, to see which op has made what was found."""

    on = False


locating = _Locating()
# Classes of results that hold what a gradient may need: if it does, that is looked at.
for_gradients: set[type] = set()


def describe_non_finite(results: Any) -> tuple[str, str] | None:
    """Return "nan" or "inf", and how many there are in the first of nested results that has any; None if none has."""
    for leaf in jax.tree.leaves(results, is_leaf=lambda r: r.__class__ in for_gradients):
        if isinstance(leaf, jax.core.Tracer) or not is_inexact(getattr(leaf, "dtype", np.dtype(int))):
            continue
        for part in _own_parts(leaf):
            if not (finite := np.isfinite(part)).all():
                nan = int(np.isnan(part).sum())
                return "nan" if nan else "inf", f"{nan} NaN and {int((~finite).sum()) - nan} infinities"
    return None


def _own_parts(array: Any) -> list[np.ndarray]:
    """Return what this process has of an array."""
    if getattr(array, "is_fully_addressable", True):
        return [np.asarray(array)]
    return [np.asarray(shard.data) for shard in array.addressable_shards]


def require_finite(results: Any, name: str, where: Any = None) -> None:
    """Check the results of an op.

    Arguments:
        results: nested arrays; tracers among them are not looked at.
        name: of the op.
        where: the line of the user that called it.

    Raises:
        NonFiniteError: there is a NaN or an infinity.
    """
    found = describe_non_finite(results)
    if found is not None:
        line = "" if where is None else f" at {where}"
        raise NonFiniteError(f"invalid value ({found[0]}) in the result of {name}{line}: {found[1]}")


def look(results: Any, name: str, where: Any = None, acts: bool = False) -> None:
    """Check the results of an op in a function that runs once more for that; `acts`: it must not run again."""
    if locating.on:
        if acts:
            raise _NotLocatedError
        require_finite(results, name, where)


def watched(operands: list[Any], name: str, where: Any) -> list[Any]:
    """Return the operands of an op, whose gradients are checked in a function that runs once more for that."""
    if not locating.on:
        return operands
    told = (f"{name}_grad", where)
    return [_watched(told, a) if isinstance(a, jax.core.Tracer) and is_inexact(a.dtype) else a for a in operands]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _watched(told: tuple[str, Any], operand: Any) -> Any:
    return operand


def _look_at_gradient(told: tuple[str, Any], _: None, gradient: Any) -> tuple[Any]:
    require_finite(gradient, *told)
    return (gradient,)


_watched.defvjp(lambda told, operand: (operand, None), _look_at_gradient)


def run_checked(run: Callable[..., Any], fn: Callable[..., Any], donated: Sequence[int], args: Sequence[Any]) -> Any:
    """Return the results of a compiled function.

    Arguments:
        run: the compiled function. fn: what it was compiled from.
        donated: the arguments whose memory it takes over: it gets copies, for these are needed to find the op.

    Raises:
        NonFiniteError: there is a NaN or an infinity among the results.
    """
    out = run(*[a.copy() if i in donated and isinstance(a, jax.Array) else a for i, a in enumerate(args)])
    if describe_non_finite(out) is not None:
        _locate(inspect.unwrap(fn), args)
        require_finite(out, getattr(fn, "__name__", "a function"))
    return out


def _locate(fn: Callable[..., Any], args: Sequence[Any]) -> None:
    """Run a function op by op until one of them has made a NaN or an infinity."""
    before, locating.on = locating.on, True
    try:
        with jax.disable_jit():
            fn(*args)
    except NonFiniteError:
        raise
    except Exception:  # what runs compiled only, or acts on the world: the function is named, and no op
        return
    finally:
        locating.on = before


class CheckedJit:
    """A compiled function whose results are looked at while the flag is on.

    Arguments:
        run: the compiled function. fn: what it was compiled from. donated: the arguments whose memory it takes over.
    """

    def __init__(self, run: Callable[..., Any], fn: Callable[..., Any], donated: Sequence[int] = ()) -> None:
        self.run, self._fn, self._donated = run, fn, donated

    def __call__(self, *args: Any) -> Any:
        """Return the results."""
        return run_checked(self.run, self._fn, self._donated, args) if nan_checks.on else self.run(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)


def unchecked(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compiled function as it is to be called while the flag stays as it is."""
    return run.run if run.__class__ is CheckedJit and not nan_checks.on else run
