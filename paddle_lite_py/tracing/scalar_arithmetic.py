"""Arithmetic of Python on numbers that a program computes: in float64 and exact integers, with Python's errors.

An integer has 64 bits here and any number of them in Python. A result that does not fit fails a check, as an error
does: the function itself is then called, which gives what Python gives.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..core.errors import user_frame
from ..core.interpreter import state
from ..core.traced_number import TracedNumber
from ..eager.tensor import Tensor, wrap
from ..registry.op import REGISTRY

KINDS = "bifc"  # bool, int, float, complex: of two, the later decides
DTYPES = {"b": "bool", "i": "int64", "f": "float64", "c": "complex128"}
TYPES: dict[str, type] = {"b": bool, "i": int, "f": float, "c": complex}
_LIMIT = 9.2e18  # below 2 ** 63 by more than float64 rounds
_SMALL = 1 << 31  # what no counter gets beyond 64 bits with
_DIVISIONS = frozenset({operator.truediv, operator.floordiv, operator.mod})
_SHIFTS = frozenset({operator.lshift, operator.rshift})
_SUMS = frozenset({operator.add, operator.sub})
_GROWING = _SUMS | {operator.mul, operator.pow, operator.lshift}
_ARITHMETIC = _DIVISIONS | _SHIFTS | _GROWING | {operator.neg, operator.pos, operator.abs, operator.invert}

Error = Callable[..., BaseException]


def kind_of(x: Any) -> str:
    """Return the kind of a number: that of its type, of a tensor that of its dtype."""
    if isinstance(x, Tensor):
        kind: str = x._payload.dtype.kind
        return {"u": "i", "V": "f"}.get(kind, kind)
    return next(k for k, t in TYPES.items() if isinstance(x, t))


def as_kind(x: Any, kind: str) -> Any:
    """Return a number of that kind: a tensor of no dimensions, or a number of Python."""
    if type(x) is TracedNumber:
        x = state.interpreter.run(REGISTRY["identity"].bind(()), (x,))
    if not isinstance(x, Tensor):
        return TYPES[kind](x)
    x = wrap(x._payload)
    return x if x.dtype.name == DTYPES[kind] else x.astype(DTYPES[kind])


def must(passed: Any, error: Error) -> None:
    """Check a condition when the program runs; one that is known to hold needs no check."""
    if passed is not True:
        builder: Any = state.interpreter
        builder.check(passed if isinstance(passed, Tensor) else None, error, user_frame())


def fits(x: Any) -> Any:
    """Whether a float64 is an integer of 64 bits once it is cut off."""
    return x.abs() < _LIMIT if isinstance(x, Tensor) else abs(x) < _LIMIT


def to_integer(x: Any) -> Any:
    """Return a float64 as an integer, as int() makes it one."""
    must(x == x, lambda: ValueError("cannot convert float NaN to integer"))
    must(fits(x), lambda: OverflowError("cannot convert float infinity to integer, or one beyond 64 bits"))
    return x.astype("int64")


def computed(f: Callable[..., Any], *operands: Any) -> Any:
    """Return an operator of numbers, of which one at least is traced: a tensor of no dimensions.

    None if a number of Python among them has more than 64 bits.
    """
    kind = _kind(f, operands)
    if kind == "i" and not all(isinstance(x, Tensor | TracedNumber) or fits(x) is True for x in operands):
        return None
    args = [as_kind(x, kind) for x in operands]
    if f in _DIVISIONS:
        must(args[1] != 0, lambda: ZeroDivisionError("division by zero"))
    if f is operator.pow and kind == "f" and not isinstance(args[1], Tensor) and args[1] < 0:
        must(args[0] != 0, lambda: ZeroDivisionError("0.0 cannot be raised to a negative power"))
    if f in _SHIFTS or f is operator.pow and kind == "i":
        must(args[1] >= 0, lambda: ValueError("negative shift count" if f in _SHIFTS else "negative exponent"))
    floors = f is operator.floordiv and kind == "f"
    out = _floor_divided(*args) if floors else f(*args)
    if f in _GROWING and kind == "i" and not _is_step(f, args):
        must(fits(_in_floats(f, args)), lambda: OverflowError("an integer is beyond 64 bits"))
    if floors or f is operator.pow and kind == "f":
        finite(out, args, lambda: OverflowError("the result of ** or // is no finite real number"))
    return out


def finite(out: Any, args: list[Any], error: Error) -> None:
    """Check that a function of numbers gives a finite one, NaN of NaN, or infinity of infinity."""
    passed = out.isfinite()
    for x in args:
        if isinstance(x, Tensor):
            passed = passed.logical_or(x.isnan()).logical_or(out.isinf().logical_and(x.isinf()))
    must(passed, error)


def _kind(f: Callable[..., Any], operands: tuple[Any, ...]) -> str:
    """Return the kind of number that an operator takes."""
    kind = max(map(kind_of, operands), key=KINDS.index)
    if kind == "b" and f in _ARITHMETIC:
        kind = "i"
    inexact = f is operator.truediv or f is operator.pow and type(operands[1]) is int and operands[1] < 0
    return "f" if inexact and kind == "i" else kind


def _is_step(f: Callable[..., Any], args: list[Any]) -> bool:
    """True for `i + 1` and its like."""
    return f in _SUMS and any(type(x) is int and abs(x) <= _SMALL for x in args)


def _in_floats(f: Callable[..., Any], args: list[Any]) -> Any:
    a, b = (as_kind(x, "f") for x in args)
    return a * 2.0**b if f is operator.lshift else f(a, b)


def _floor_divided(a: Any, b: Any) -> Any:
    """a // b of floats, with which a % b agrees."""
    return ((a - a % b) / b).round()


def rounded(x: Any, digits: int | None) -> Any:
    """Return a float64 as round() rounds it: half to even of what its decimal digits are."""
    if digits is None:
        return to_integer(x.round())
    scaled = x * 10.0**digits
    distance = (scaled - scaled.floor() - 0.5).abs()  # from a tie, which the product may have been rounded to or from
    sure = (distance > scaled.abs() * 1e-15).logical_and(scaled.abs() < _LIMIT / 4096)
    must(sure if 0 <= digits <= 22 else None, lambda: ValueError("rounding to these digits needs the number itself"))
    return scaled.round() / 10.0**digits
