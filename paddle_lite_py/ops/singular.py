"""In eager mode on the CPU, what a decomposition found is looked at: the errors of the reference instead of NaN.

In a program and on an accelerator, where looking would mean waiting, a matrix without inverse gives NaN or infinity.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

Look = Callable[[Any], None]  # at the results of a call


# Arrays that were given and found finite, by identity: arrays do not change.
_finite: dict[int, weakref.ref[Any]] = {}
MAX_FINITE = 64


def _bad_input(array: Any) -> Any:
    """The same of an argument, which may come again."""
    held = _finite.get(id(array))
    if held is not None and held() is array:
        return None
    bad = _bad(array)
    if bad is None and isinstance(array, jax.Array):
        if len(_finite) >= MAX_FINITE:
            _finite.clear()
        _finite[id(array)] = weakref.ref(array)
    return bad


def _bad(array: Any, axes: tuple[int, ...] = (-2, -1)) -> Any:
    """Where matrices hold what is not finite; None if they do not, or that cannot be looked at."""
    try:
        if not on_cpu(array):
            return None
        values = np.asarray(array)
    except (AttributeError, *_TRACED):  # no array, but what JAX traces with
        return None
    flat = values.reshape(-1)
    # A sum of squares is finite only if all are, and takes a tenth of the time of the look at each.
    if flat.dtype.char in "fd" and math.isfinite(flat.dot(flat)):
        return None
    return ~np.isfinite(values).all(axis=axes)


_TRACED = jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError


def on_cpu(array: Any) -> bool:
    """True for an array that NumPy can look at where it is."""
    return _only_cpu() or next(iter(array.devices())).platform == "cpu"


@functools.cache
def _only_cpu() -> bool:
    return jax.default_backend() == "cpu"


def _place(bad: Any) -> str:
    at = [int(i) for i in np.argwhere(bad)[0]]
    return f"x{at}" if at else "x"


def _inverted(x: Any, y: Any = None, axes: tuple[int, ...] = (-2, -1)) -> Look:
    """Raises where the result is not finite, unless that is because y is not."""

    def look(out: Any) -> None:
        bad = _bad(out, axes[-out.ndim :])
        if bad is not None and bad.any() and (y is None or np.isfinite(np.asarray(y)).all()):
            raise ValueError(f"{_place(bad)} is singular, or holds NaN: it has no inverse; see paddle.linalg.pinv")

    return look


def _conditioned(attrs: dict[str, Any]) -> Any:
    """Raises where a matrix has no inverse, or the norms need singular values and x holds NaN."""
    if attrs["p"] in (None, 2, -2):
        return _numbers
    return lambda x: _inverted(x, axes=())


def _factored(x: Any) -> Look:
    """Raises where the result is not finite though x is."""

    def look(out: Any) -> None:
        bad, given = _bad(out), _bad_input(x)
        if bad is not None and (bad if given is None else (bad := bad & ~given)).any():
            raise ValueError(f"{_place(bad)} is not positive definite; expected a symmetric matrix all of whose "
                             "eigenvalues are above 0")  # fmt: skip

    return look


def _numbers(x: Any, *_: Any) -> Look:
    """Raises where x holds NaN."""

    def look(out: Any) -> None:
        bad = _bad_input(x)
        if bad is not None and bad.any() and np.isnan(np.asarray(x)).any():
            raise ValueError(f"{_place(bad)} holds NaN; expected numbers")

    return look


def always(check: Any) -> Any:
    """The check whatever the attributes."""
    return lambda attrs: check


CHECKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    **dict.fromkeys(("inverse", "cholesky_inverse", "solve"), always(_inverted)),
    "condition_number": _conditioned,
    "matrix_power": lambda attrs: _inverted if attrs["n"] < 0 else None,
    "cholesky": always(_factored),
    **dict.fromkeys(("svd", "svdvals", "pinv", "matrix_rank", "eig", "eigvals", "eigvalsh"), always(_numbers)),
    "matrix_norm": lambda attrs: _numbers if attrs["p"] in ("nuc", 2, -2) else None,
}
