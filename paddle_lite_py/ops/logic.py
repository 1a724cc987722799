"""Comparison, logic and bitwise functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..core.no_effect import Immaterial, no_effect
from ..core.symbolic import is_symbolic
from ..dispatch.define import composite, op
from .promote import is_scalar, natural, promote, promote_operands, scalar_kind
from .types import Array

__all__ = [
    *("allclose", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or"),
    *(
        "bitwise_right_shift",
        "bitwise_xor",
        "eq",
        "equal",
        "equal_all",
        "ge",
        "greater",
        "greater_equal",
        "greater_than",
    ),
    *(
        "gt",
        "is_empty",
        "isclose",
        "isfinite",
        "isin",
        "isinf",
        "isnan",
        "isneginf",
        "isposinf",
        "isreal",
        "le",
        "less",
    ),
    *("less_equal", "less_than", "logical_and", "logical_not", "logical_or", "logical_xor", "lt", "ne", "not_equal"),
    "signbit",
]

_DOC = """{what}.

Returns:
    {result}.

Examples:
    >>> import paddle_lite_py as paddle
    >>> paddle.{name}({arguments}).tolist()
    {value}
"""


def _documented(
    made: Any, what: str, arguments: str, value: str, result: str = "A boolean tensor of the broadcast shape"
) -> Any:
    arguments = ", ".join(f"paddle.to_tensor({a})" for a in arguments.split(";"))
    made.__doc__ = made.__wrapped__.__doc__ = _DOC.format(
        what=what, name=made.__name__, arguments=arguments, value=value, result=result
    )
    made.__module__ = __name__
    return made


def _compare(name: str, f: Callable[..., Any], what: str, value: str, methods: list[str], operator: str = "") -> Any:
    def fn(x: Any, y: Any, /) -> Any:
        return f(*promote_operands(x, y))

    fn.__name__ = fn.__qualname__ = name
    made = op(fn, methods=[name, *methods], operators=[operator] if operator else [], grad=False, broadcasts=True)
    return _documented(made, f"Compare two tensors elementwise: `out = {what}`", "[1, 2, 3];[2, 2, 2]", value)


equal = _compare("equal", jnp.equal, "x == y", "[False, True, False]", ["eq"])
not_equal = _compare("not_equal", jnp.not_equal, "x != y", "[True, False, True]", ["ne"])
less_than = _compare("less_than", jnp.less, "x < y", "[True, False, False]", ["less", "lt"], "__lt__")
less_equal = _compare("less_equal", jnp.less_equal, "x <= y", "[True, True, False]", ["le"], "__le__")
greater_than = _compare("greater_than", jnp.greater, "x > y", "[False, False, True]", ["greater", "gt"], "__gt__")
greater_equal = _compare("greater_equal", jnp.greater_equal, "x >= y", "[False, True, True]", ["ge"], "__ge__")
eq, ne, lt, le, gt, ge = equal, not_equal, less_than, less_equal, greater_than, greater_equal
less, greater = less_than, greater_than


def _comparable(y: Any) -> bool:
    return hasattr(y, "dtype") or isinstance(y, int | float | complex | list | tuple) or is_symbolic(y)


@composite(operators=["__eq__"])
def _eq(x: Any, y: Any) -> Any:
    return equal(x, y) if _comparable(y) else NotImplemented


@composite(operators=["__ne__"])
def _ne(x: Any, y: Any) -> Any:
    return not_equal(x, y) if _comparable(y) else NotImplemented


def _logical(name: str, f: Callable[..., Any], what: str, value: str) -> Any:
    def fn(x: Any, y: Any, /) -> Any:
        return f(natural(x).astype(bool), natural(y).astype(bool))

    fn.__name__ = fn.__qualname__ = name
    made = op(fn, methods=[name], grad=False)
    return _documented(
        made,
        f"Compute the elementwise {what} of two tensors; nonzero elements are true",
        "[True, True, False];[True, False, False]",
        value,
    )


logical_and = _logical("logical_and", jnp.logical_and, "logical AND", "[True, False, False]")
logical_or = _logical("logical_or", jnp.logical_or, "logical OR", "[True, True, False]")
logical_xor = _logical("logical_xor", jnp.logical_xor, "logical XOR", "[False, True, False]")


@op(methods=["logical_not"], grad=False)
def logical_not(x: Array, /) -> Any:
    """Compute the elementwise logical NOT.

    Returns:
        A boolean tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.logical_not(paddle.to_tensor([True, False])).tolist()
        [False, True]
    """
    return jnp.logical_not(x.astype(bool))


def _as_truth(x: Any, y: Any) -> tuple[Any, Any]:
    """A Python integer next to a tensor of booleans is one, too."""
    if is_scalar(x) != is_scalar(y) and (y if is_scalar(x) else x).dtype == bool:
        if (kind := scalar_kind(x if is_scalar(x) else y)) not in "bi":
            raise TypeError(f"a {'float' if kind == 'f' else 'complex'} number; expected an integer or a boolean")
        return jnp.asarray(x).astype(bool), jnp.asarray(y).astype(bool)
    return x, y


def _bitwise(name: str, f: Callable[..., Any], what: str, value: str, operator: str) -> Any:
    def fn(x: Any, y: Any, /) -> Any:
        return f(*promote(*_as_truth(x, y)))

    fn.__name__ = fn.__qualname__ = name
    operators = [f"__{operator}__", f"__r{operator}__"]
    made = op(fn, methods=[name], operators=operators, inplace=f"{name}_", grad=False, out_first=True)
    result = "The result, of the broadcast shape and the promoted dtype of `x` and `y`"
    return _documented(
        made, f"Compute the bitwise {what} of two integer or boolean tensors", "[5, 6];[3, 3]", value, result
    )


bitwise_and = _bitwise("bitwise_and", jnp.bitwise_and, "AND", "[1, 2]", "and")
bitwise_or = _bitwise("bitwise_or", jnp.bitwise_or, "OR", "[7, 7]", "or")
bitwise_xor = _bitwise("bitwise_xor", jnp.bitwise_xor, "XOR", "[6, 5]", "xor")


@op(
    methods=["bitwise_not", "bitwise_invert"],
    operators=["__invert__"],
    inplace="bitwise_not_",
    grad=False,
    out_first=True,
)
def bitwise_not(x: Array, /) -> Any:
    """Invert the bits of each integer; for booleans, the logical NOT.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.bitwise_not(paddle.to_tensor([0, 1])).tolist()
        [-1, -2]
    """
    return jnp.bitwise_not(x)


bitwise_invert = bitwise_not


@op(
    methods=["bitwise_left_shift"],
    inplace="bitwise_left_shift_",
    operators=["__lshift__", "__rlshift__"],
    grad=False,
    out_first=True,
)
@no_effect(is_arithmetic=Immaterial("the bits that come in from the right are 0 either way"))
def bitwise_left_shift(x: Array, y: Array, /, is_arithmetic: bool = True) -> Any:
    """Shift the bits of each integer to the left: `out = x << y`.

    Returns:
        The shifted integers, of the broadcast shape of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.bitwise_left_shift(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 1])).tolist()
        [4, 6]
    """
    return jnp.left_shift(*promote(x, y))


@op(
    methods=["bitwise_right_shift"],
    inplace="bitwise_right_shift_",
    operators=["__rshift__", "__rrshift__"],
    grad=False,
    out_first=True,
)
def bitwise_right_shift(x: Array, y: Array, /, is_arithmetic: bool = True) -> Any:
    """Shift the bits of each integer to the right: `out = x >> y`.

    Arguments:
        is_arithmetic: True: keep the sign bit; False: shift in zeros from the left. Default: True.

    Returns:
        The shifted integers, of the broadcast shape of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.bitwise_right_shift(paddle.to_tensor([4, -8]), paddle.to_tensor([1, 1])).tolist()
        [2, -4]
    """
    x, y = jnp.broadcast_arrays(*promote(x, y))
    return jnp.right_shift(x, y) if is_arithmetic else jax.lax.shift_right_logical(x, y)


def _classify(name: str, f: Callable[..., Any], what: str, value: str) -> Any:
    def fn(x: Any, /) -> Any:
        return f(x)

    fn.__name__ = fn.__qualname__ = name
    made = op(fn, methods=[name], grad=False)
    inputs, result = "[1.0, float('inf'), float('nan'), -2.0]", "A boolean tensor with the shape of `x`"
    return _documented(made, f"Test whether each element {what}", inputs, value, result)


isnan = _classify("isnan", jnp.isnan, "is NaN", "[False, False, True, False]")
isinf = _classify("isinf", jnp.isinf, "is infinite", "[False, True, False, False]")
isfinite = _classify("isfinite", jnp.isfinite, "is finite", "[True, False, False, True]")
isposinf = _classify("isposinf", jnp.isposinf, "is positive infinity", "[False, True, False, False]")
isneginf = _classify("isneginf", jnp.isneginf, "is negative infinity", "[False, False, False, False]")
isreal = _classify("isreal", jnp.isreal, "has no imaginary part", "[True, True, True, True]")
signbit = _classify("signbit", jnp.signbit, "has its sign bit set", "[False, False, False, True]")


@op(methods=["isclose"], grad=False)
def isclose(x: Array, y: Array, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Test elementwise whether `|x - y| <= atol + rtol * |y|`.

    Returns:
        A boolean tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.isclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.1])).tolist()
        [True, False]
    """
    x, y = promote(x, y)
    return jnp.isclose(x, y, rtol, atol, equal_nan)


@op(methods=["allclose"], grad=False)
def allclose(x: Array, y: Array, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Test whether all elements satisfy `|x - y| <= atol + rtol * |y|`.

    Returns:
        A 0-D boolean tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.allclose(paddle.to_tensor([1.0]), paddle.to_tensor([1.0])).item()
        True
    """
    x, y = promote(x, y)
    return jnp.all(jnp.isclose(x, y, rtol, atol, equal_nan))


@op(methods=["equal_all"], grad=False)
def equal_all(x: Array, y: Array, /) -> Any:
    """Test whether two tensors have the same shape and equal elements.

    Returns:
        A 0-D boolean tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.equal_all(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 2])).item()
        True
    """
    x, y = promote(x, y)
    return jnp.all(x == y) if x.shape == y.shape else jnp.asarray(False)


@op(methods=["isin"], grad=False)
def isin(x: Array, test_x: Array, /, assume_unique: bool = False, invert: bool = False) -> Any:
    """Test whether each element of `x` occurs in `test_x`.

    Returns:
        A boolean tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.isin(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 3])).tolist()
        [False, True]
    """
    x, test_x = promote(x, test_x)
    return jnp.isin(x, test_x, assume_unique=assume_unique, invert=invert)


@op(methods=["is_empty"], grad=False)
def is_empty(x: Array, /) -> Any:
    """Test whether a tensor has no elements.

    Returns:
        A 0-D boolean tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_empty(paddle.to_tensor([1.0])).item()
        False
    """
    return jnp.asarray(x.size == 0)
