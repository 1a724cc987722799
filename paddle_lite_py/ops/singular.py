"""Checks of the results of decompositions in eager mode on the CPU: the reference's errors instead of NaN.

In programs and on accelerators, where a check would wait for the device, a singular matrix gives NaN or infinity.
"""

from __future__ import annotations

import cmath
import functools
import math
import struct
from collections.abc import Callable
from math import isfinite
from typing import Any

import jax
import numpy as np

from ..core.arrays import is_array
from ..core.memo import IdentityMemo, memo, once

Run = Callable[..., Any]  # runs an op


# Input arrays found finite, by identity: arrays are immutable.
# Key: the array, which is immutable: see host.tier.
_finite = IdentityMemo("arrays of finite numbers")


def _bad_input(array: Any) -> Any:
    """Return the same of an argument, which may come again."""
    if _finite.find(array):
        return None
    bad = _bad(array)
    if bad is None and is_array(array):
        _finite.put(array, True)
    return bad


def _bad(array: Any, axes: tuple[int, ...] = (-2, -1)) -> Any:
    """Return a mask of the matrices with non-finite elements; None if there are none, or they cannot be read."""
    if _is_finite(array):
        return None
    return ~np.isfinite(np.asarray(array)).all(axis=axes[-array.ndim :])


def _is_finite(array: Any) -> bool:
    """Return whether all elements are finite; True if they cannot be read in place."""
    if array.__class__ is np.ndarray:
        array = np.ascontiguousarray(array)  # its bytes are read
    try:
        numbers = _numbers_of(array.shape, array.dtype)(array)
    except _ELSEWHERE:
        return True
    return _are_finite(numbers)


def _are_finite(numbers: Any) -> bool:
    """Return whether all numbers of a tuple or a flat array are finite."""
    if numbers.__class__ is tuple:
        return isfinite(sum(numbers)) or all(map(isfinite, numbers))
    # A sum of squares is finite only if all elements are, and takes a tenth of the time of testing each.
    return cmath.isfinite(numbers.dot(numbers)) or bool(np.isfinite(numbers).all())


# Empty, on an accelerator, or a tracer.
_ELSEWHERE = (AttributeError, TypeError, ValueError, BufferError, RuntimeError)
FEW = 32


# Key: shape and dtype.
@memo(256, context=False)
def _numbers_of(shape: tuple[int, ...], dtype: np.dtype) -> Callable[[Any], Any]:
    """Return a function that reads elements: of few as numbers, which takes half the time, or as a flat array."""
    n = math.prod(shape)
    if 0 < n <= FEW and dtype.char in "fd":
        return struct.Struct(f"{n}{dtype.char}").unpack
    return functools.partial(np.frombuffer, dtype=dtype)


def on_cpu(array: Any) -> bool:
    """Return True for an array that NumPy can read in place, all of it in this process."""
    if array.__class__ is np.ndarray:
        return True
    return array.is_fully_addressable and (_only_cpu() or next(iter(array.devices())).platform == "cpu")


@once
def _only_cpu() -> bool:
    return jax.default_backend() == "cpu"


def _place(bad: Any) -> str:
    at = [int(i) for i in np.argwhere(bad)[0]]
    return f"x{at}" if at else "x"


def _unless_finite(complain: Callable[..., None]) -> Callable[[Run], Run]:
    """Decorate an op: call `complain(result, *arguments)` if the result is not finite."""

    def looking(run: Run) -> Run:
        last: Any = None, None  # kind of the previous result, and its reader

        def looked_at(*args: Any) -> Any:
            nonlocal last
            out = run(*args)
            try:  # as in _is_finite()
                (kind, read), held = last, out.__class__ is np.ndarray
                now = (out.shape, out.dtype) if held else out.aval
                if now is not kind and now != kind:
                    kind, read = last = now, _numbers_of(out.shape, out.dtype)
                numbers = read(np.ascontiguousarray(out) if held else out)
            except _ELSEWHERE:
                return out
            # Usually few numbers, all finite: tested without a call.
            if not (numbers.__class__ is tuple and isfinite(sum(numbers))) and not _are_finite(numbers):
                complain(out, *args)
            return out

        return looked_at

    return looking


def _singular(out: Any, axes: tuple[int, ...] = (-2, -1)) -> ValueError:
    return ValueError(f"{_place(_bad(out, axes))} is singular, or holds NaN: it has no inverse; see paddle.linalg.pinv")


@_unless_finite
def _check_inverse(out: Any, x: Any, y: Any = None) -> None:
    """Raise unless the result is not finite because `y` is not."""
    if y is None or _is_finite(y):
        raise _singular(out)


@_unless_finite
def _condition_found(out: Any, x: Any) -> None:
    """The same of a number for each matrix."""
    raise _singular(out, ())


@_unless_finite
def _check_factor(out: Any, x: Any) -> None:
    """Raise unless the result is not finite because `x` is not."""
    bad, given = _bad(out), _bad_input(x)
    if (bad if given is None else (bad := bad & ~given)).any():
        raise ValueError(f"{_place(bad)} is not positive definite; expected a symmetric matrix all of whose "
                         "eigenvalues are above 0")  # fmt: skip


def _given_numbers(run: Run) -> Run:
    """Decorate an op: raise if `x` contains NaN."""

    def looked_at(x: Any, *others: Any) -> Any:
        out = run(x, *others)
        bad = _bad_input(x)
        if bad is not None and bad.any() and np.isnan(np.asarray(x)).any():
            raise ValueError(f"{_place(bad)} holds NaN; expected numbers")
        return out

    return looked_at


Look = Callable[[Run], Run] | None
LOOKS: dict[str, Callable[[dict[str, Any]], Look]] = {
    **dict.fromkeys(("inverse", "cholesky_inverse", "solve"), lambda attrs: _check_inverse),
    "condition_number": lambda attrs: _given_numbers if attrs["p"] in (None, 2, -2) else _condition_found,
    "matrix_power": lambda attrs: _check_inverse if attrs["n"] < 0 else None,
    "cholesky": lambda attrs: _check_factor,
    **dict.fromkeys(
        ("svd", "svdvals", "pinv", "matrix_rank", "eig", "eigvals", "eigvalsh"), lambda attrs: _given_numbers
    ),
    "matrix_norm": lambda attrs: _given_numbers if attrs["p"] in ("nuc", 2, -2) else None,
}
