"""Steps that work element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtypes import numpy_name
from .rules import elementwise, has_fewer, plainly
from .steps import WRAPPED, HostStep, UnknownStepError

Function = Callable[..., Any]

plainly(
    {
        **{"add": np.add, "add_any": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative},
        **{"max": np.maximum, "min": np.minimum, "abs": np.absolute, "square": np.square, "nextafter": np.nextafter},
        **{"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal},
        **{"gt": np.greater, "ge": np.greater_equal, "floor": np.floor, "ceil": np.ceil, "is_finite": np.isfinite},
        **{"exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt},
        **{"sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan},
        **{"sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh},
        **{"atanh": np.arctanh, "atan2": np.arctan2, "cbrt": np.cbrt},
    }
)
plainly({"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert}, moves=True)


def _is_float(step: HostStep) -> bool:
    return step.given[0].dtype.kind == "f"


def _is_whole(step: HostStep) -> bool:
    return step.given[0].dtype.kind in "biu"


@elementwise("div")
def _div(step: HostStep) -> Function:
    return _integer_quotient if _is_whole(step) else np.divide


def _integer_quotient(x: Any, y: Any) -> Any:
    """Towards zero, and -1 where the divisor is 0."""
    safe = np.where(y == 0, np.ones_like(y), y)
    quotient, rest = x // safe, np.fmod(x, safe)
    quotient = quotient + ((rest != 0) & ((rest < 0) != (safe < 0))).astype(quotient.dtype) * (quotient < 0)
    return np.where(y == 0, ~np.zeros_like(y), quotient)


@elementwise("rem")
def _rem(step: HostStep) -> Function:
    return (
        np.fmod
        if _is_float(step)
        else lambda x, y: np.where(y == 0, x, np.fmod(x, np.where(y == 0, np.ones_like(y), y)))
    )


@elementwise("sign")
def _sign(step: HostStep) -> Function:
    if step.given[0].dtype.kind == "c":
        return lambda x: np.divide(x, np.absolute(x), out=np.zeros_like(x), where=x != 0)
    # XLA keeps the sign of a zero.
    return (lambda x: np.where(x == 0, x, np.sign(x))) if _is_float(step) else np.sign


@elementwise("exp2")
def _exp2(step: HostStep) -> Function:
    factor = step.given[0].dtype.type(math.log(2))
    return np.exp2 if _is_float(step) else lambda x: np.exp(x * factor)


@elementwise("round")
def _round(step: HostStep) -> Function:
    return np.rint if int(step.params["rounding_method"]) == 1 else _away_from_zero


def _away_from_zero(x: Any) -> Any:
    whole = np.trunc(x)
    return np.copysign(whole + (np.absolute(x - whole) >= 0.5) * np.sign(x), x).astype(x.dtype)


@elementwise("one_minus_square")
def _one_minus_square(step: HostStep) -> str:
    one = f"_one_{step.given[0].dtype.name}"
    return f"({one} + {{0}}) * ({one} - {{0}})"


@elementwise("log2")
def _log2(step: HostStep) -> Function:
    scale = step.given[0].dtype.type(1 / math.log(2))  # as JAX has it
    return lambda x: np.log(x) * scale


@elementwise("polynomial")
def _polynomial(step: HostStep) -> Function:
    def polynomial(x: Any, *factors: Any) -> Any:
        *lower, total = factors
        for factor in reversed(lower):
            total = total * x + factor
        return total

    return polynomial


@elementwise("rsqrt")
def _rsqrt(step: HostStep) -> str:
    return "_reciprocal(_sqrt({0}))"


@elementwise("logistic")
def _logistic(step: HostStep) -> str:
    return f"_reciprocal(_exp(-{{0}}) + _one_{step.given[0].dtype.name})"


@elementwise("integer_pow")
def _integer_pow(step: HostStep) -> Any:
    y = step.params["y"]
    if y < 0 and _is_whole(step):
        raise UnknownStepError("a negative power of integers")
    if y in (2, 3):
        return "{0} * {0}" if y == 2 else "{0} * ({0} * {0})"
    return (lambda x: np.reciprocal(_power(x, -y))) if y < 0 else lambda x: _power(x, y)


def _power(x: Any, y: int) -> Any:
    """By repeated squaring, as XLA does it."""
    out = None
    while y:
        if y & 1:
            out = x if out is None else out * x
        y >>= 1
        x = x * x if y else x
    return np.ones_like(x) if out is None else out


@elementwise("pow")
def _pow(step: HostStep) -> Function:
    x, y = step.given
    if _is_whole(step):
        raise UnknownStepError("a power of integers")
    return np.power if y.dtype == x.dtype else lambda a, b: np.power(a, b.astype(x.dtype))


@elementwise("clamp")
def _clamp(step: HostStep) -> str:
    return "_minimum(_maximum({1}, {0}), {2})"


# The text of a choice between two.
CHOICE = "_where({0}, {2}, {1})"


@elementwise("select_n")
def _select_n(step: HostStep) -> Any:
    if len(step.given) == 3 and step.given[0].dtype == bool:
        if not any(aval.shape for aval in step.given):
            return "({2} if {0} else {1})"
        made = step.made[0]
        # Of open sizes this is looked at again once they are known.
        few = has_fewer(made.shape, _MANY) or made.dtype.kind in "bc"
        return CHOICE if few else _select(made.dtype)
    if len(step.given) == 2:
        return "{1}"
    return lambda which, *cases: np.choose(which.astype(np.intp), cases, mode="clip")


@elementwise(WRAPPED)
def _wrapped(step: HostStep) -> Any:
    if not step.given[0].shape:
        return "({0} + {1} if {0} < 0 else {0})"
    return lambda index, size: (
        np.where(below, index + size, index) if np.count_nonzero(below := np.less(index, 0)) else index
    )


# From here on np.where(), which branches at each element, is slower than operations on bits.
_MANY = 2048


def _select(dtype: np.dtype) -> Function:
    bits = np.dtype(f"i{dtype.itemsize}")

    def select(which: Any, no: Any, yes: Any) -> Any:
        no = np.asarray(no).view(bits)
        return (no ^ ((np.asarray(yes).view(bits) ^ no) & -which.astype(bits))).view(dtype)

    return select


@elementwise("convert_element_type")
def _convert(step: HostStep) -> Any:
    held, wanted = step.given[0].dtype, step.made[0].dtype
    if held == wanted:
        return "{0}"
    if held.kind == "f" and wanted.kind in "iu":
        return _to_integer(wanted)
    if held.kind == "c" and wanted.kind != "c":
        raise UnknownStepError("real numbers of complex ones")
    return f"{{0}}.astype(_{numpy_name(wanted)})"


def _to_integer(wanted: np.dtype) -> Function:
    """Convert to integers; what does not fit becomes the nearest value that does, and NaN 0."""
    info = np.iinfo(wanted)

    def convert(x: Any) -> Any:
        if np.count_nonzero((x >= float(info.min)) & (x < float(info.max))) == np.size(x):
            return x.astype(wanted)
        kept = np.nan_to_num(np.trunc(x), nan=0.0, posinf=np.inf, neginf=-np.inf)
        high, low = kept >= float(info.max), kept <= float(info.min)
        made = np.where(high | low, np.zeros_like(kept), kept).astype(wanted)
        return np.where(high, info.max, np.where(low, info.min, made)).astype(wanted)

    return convert


@elementwise("shift_left", "shift_right_logical", "shift_right_arithmetic")
def _shift(step: HostStep) -> Function:
    dtype = step.given[0].dtype
    bits, unsigned, signed = dtype.itemsize * 8, np.dtype(f"u{dtype.itemsize}"), np.dtype(f"i{dtype.itemsize}")
    left = step.name == "shift_left"
    if _within(step.known, bits) and (left or (dtype == unsigned) == (step.name == "shift_right_logical")):
        return np.left_shift if left else np.right_shift

    def arithmetic(x: Any, by: Any) -> Any:
        by = np.minimum(by.astype(unsigned), bits - 1).astype(signed)
        return (x.astype(signed) >> by).astype(dtype)

    def shift(x: Any, by: Any) -> Any:
        by = by.astype(unsigned)
        over, by = by >= bits, np.minimum(by, bits - 1)
        moved = x.astype(unsigned) << by if left else x.astype(unsigned) >> by
        return np.where(over, np.zeros_like(moved), moved).astype(dtype)

    return arithmetic if step.name == "shift_right_arithmetic" else shift


def _within(known: tuple[Any, ...], bits: int) -> bool:
    """Whether the second argument is a constant by which NumPy shifts as XLA does."""
    return len(known) == 2 and known[1] is not None and bool(((known[1] >= 0) & (known[1] < bits)).all())


@elementwise("population_count")
def _population_count(step: HostStep) -> Function:
    dtype = step.given[0].dtype
    unsigned = np.dtype(f"u{dtype.itemsize}")  # of a negative number NumPy counts the bits of its size
    return lambda x: np.bitwise_count(x.astype(unsigned)).astype(dtype)


@elementwise("copy", "copy_p", "stop_gradient")
def _same(step: HostStep) -> str:
    return "{0}"


@elementwise("erf", "erfc", "erf_inv", "lgamma", "digamma")
def _special(step: HostStep) -> Function:
    from scipy import special  # loaded by who asks for it

    if step.name == "lgamma":
        return lambda x: np.where(x == -np.inf, np.inf, special.gammaln(x)).astype(x.dtype)
    return getattr(special, {"erf_inv": "erfinv", "digamma": "psi"}.get(step.name, step.name))
