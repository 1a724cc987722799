"""In eager mode on the CPU, what a decomposition found is looked at: the errors of the reference instead of NaN.

In a program and on an accelerator, where looking would mean waiting, a matrix without inverse gives NaN or infinity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

Look = Callable[[Any], None]  # at the results of a call


def _bad(array: Any) -> Any:
    """Where matrices hold what is not finite; None if that cannot be looked at."""
    try:
        if next(iter(array.devices())).platform != "cpu":
            return None
    except (AttributeError, jax.errors.ConcretizationTypeError):  # no array, but what JAX traces with
        return None
    return ~np.isfinite(np.asarray(array)).all(axis=(-2, -1))


def _place(bad: Any) -> str:
    at = [int(i) for i in np.argwhere(bad)[0]]
    return f"x{at}" if at else "x"


def _inverted(x: Any, y: Any = None) -> Look:
    """Raises where the result is not finite, unless that is because y is not."""

    def look(out: Any) -> None:
        bad = _bad(out if out.ndim > 1 else out[None])
        if bad is not None and bad.any() and (y is None or np.isfinite(np.asarray(y)).all()):
            raise ValueError(f"{_place(bad)} is singular, or holds NaN: it has no inverse; see paddle.linalg.pinv")

    return look


def _factored(x: Any) -> Look:
    """Raises where the result is not finite though x is."""

    def look(out: Any) -> None:
        bad = _bad(out)
        if bad is not None and (bad := bad & ~_bad(x)).any():
            raise ValueError(f"{_place(bad)} is not positive definite; expected a symmetric matrix all of whose "
                             "eigenvalues are above 0")  # fmt: skip

    return look


def _numbers(x: Any, *_: Any) -> Look:
    """Raises where x holds NaN."""

    def look(out: Any) -> None:
        bad = _bad(x)
        if bad is not None and bad.any() and np.isnan(np.asarray(x)).any():
            raise ValueError(f"{_place(bad)} holds NaN; expected numbers")

    return look


def always(check: Any) -> Any:
    """The check whatever the attributes."""
    return lambda attrs: check


CHECKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    **dict.fromkeys(("inverse", "cholesky_inverse", "solve"), always(_inverted)),
    "matrix_power": lambda attrs: _inverted if attrs["n"] < 0 else None,
    "cholesky": always(_factored),
    **dict.fromkeys(("svd", "svdvals", "pinv", "matrix_rank", "eig", "eigvals", "eigvalsh"), always(_numbers)),
    "matrix_norm": lambda attrs: _numbers if attrs["p"] in ("nuc", 2, -2) else None,
}
