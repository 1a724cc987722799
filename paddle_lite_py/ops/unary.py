"""Elementwise functions of one tensor: rows of two tables: name, JAX function, what it is, an example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..dispatch.define import op
from .promote import floating, natural
from .subgradients import magnitude
from .types import Array
from .view_rules import NUMBERS, PAIRS, PART

_DOC = """{what}.

Arguments:
    x: tensor of any shape.

Returns:
    {kinds}.

Examples:
    >>> import paddle_lite_py as paddle
    >>> f"{{paddle.{name}(paddle.to_tensor({x})).item():.4f}}"
    '{value}'
"""
_FLOAT = "A floating-point (or complex) tensor with the shape of `x`; integers and booleans give float32"
_ANY = "A tensor with the shape and dtype of `x`"


def _define(name: str, fn: Callable[[Any], Any], what: str, x: Any, value: str, **options: Any) -> Callable[..., Any]:
    fn.__name__ = fn.__qualname__ = name
    kinds = options.pop("kinds")
    made = op(fn, methods=[name, *options.pop("also", ())], inplace=f"{name}_", **options)
    made.__doc__ = made.__wrapped__.__doc__ = _DOC.format(what=what, kinds=kinds, name=name, x=x, value=value)
    made.__module__ = __name__
    return made


def _floating(name: str, f: Callable[[Any], Any], what: str, x: Any, value: str, **options: Any) -> Callable[..., Any]:
    """Define an op with a floating-point (or complex) result for every input."""

    def fn(x: Any, /) -> Any:
        return f(floating(x))

    return _define(name, fn, what, x, value, kinds=_FLOAT, **options)


def _same_dtype_op(
    name: str, f: Callable[[Any], Any], what: str, x: Any, value: str, **options: Any
) -> Callable[..., Any]:
    """Define an op that keeps the dtype of its input."""

    def fn(x: Any, /) -> Any:
        return f(natural(x))

    return _define(name, fn, what, x, value, kinds=_ANY, **options)


def _rounding(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: f(x) if jnp.issubdtype(x.dtype, jnp.floating) else x


exp = _floating("exp", jnp.exp, "Compute the exponential of each element: `out = e ** x`", 1.0, "2.7183", amp="black")
expm1 = _floating(
    "expm1", jnp.expm1, "Compute `exp(x) - 1` elementwise, accurately near zero", 1.0, "1.7183", amp="black"
)
log = _floating("log", jnp.log, "Compute the natural logarithm of each element", 2.0, "0.6931", amp="black")
log2 = _floating("log2", jnp.log2, "Compute the base-2 logarithm of each element", 8.0, "3.0000", amp="black")
log10 = _floating("log10", jnp.log10, "Compute the base-10 logarithm of each element", 100.0, "2.0000", amp="black")
log1p = _floating("log1p", jnp.log1p, "Compute `log(1 + x)` elementwise, accurately near zero", 1.0, "0.6931")
sqrt = _floating("sqrt", jnp.sqrt, "Compute the square root of each element", 4.0, "2.0000")
rsqrt = _floating(
    "rsqrt",
    jax.lax.rsqrt,
    "Compute the reciprocal square root elementwise: `out = 1 / sqrt(x)`",
    4.0,
    "0.5000",
    amp="black",
)
reciprocal = _floating(
    "reciprocal", jnp.reciprocal, "Compute the reciprocal of each element: `out = 1 / x`", 4.0, "0.2500", amp="black"
)
sin = _floating("sin", jnp.sin, "Compute the sine of each element, in radians", 0.5, "0.4794")
cos = _floating("cos", jnp.cos, "Compute the cosine of each element, in radians", 0.5, "0.8776")
tan = _floating("tan", jnp.tan, "Compute the tangent of each element, in radians", 0.5, "0.5463", amp="black")
asin = _floating(
    "asin",
    jnp.arcsin,
    "Compute the inverse sine of each element, in [-pi/2, pi/2]",
    0.5,
    "0.5236",
    also=["arcsin"],
    amp="black",
)
acos = _floating(
    "acos",
    jnp.arccos,
    "Compute the inverse cosine of each element, in [0, pi]",
    0.5,
    "1.0472",
    also=["arccos"],
    amp="black",
)
atan = _floating(
    "atan", jnp.arctan, "Compute the inverse tangent of each element, in (-pi/2, pi/2)", 0.5, "0.4636", also=["arctan"]
)
sinh = _floating("sinh", jnp.sinh, "Compute the hyperbolic sine of each element", 0.5, "0.5211", amp="black")
cosh = _floating("cosh", jnp.cosh, "Compute the hyperbolic cosine of each element", 0.5, "1.1276", amp="black")
tanh = _floating("tanh", jnp.tanh, "Compute the hyperbolic tangent of each element", 0.5, "0.4621")
asinh = _floating(
    "asinh", jnp.arcsinh, "Compute the inverse hyperbolic sine of each element", 0.5, "0.4812", also=["arcsinh"]
)
acosh = _floating(
    "acosh", jnp.arccosh, "Compute the inverse hyperbolic cosine of each element", 2.0, "1.3170", also=["arccosh"]
)
atanh = _floating(
    "atanh",
    jnp.arctanh,
    "Compute the inverse hyperbolic tangent of each element",
    0.5,
    "0.5493",
    also=["arctanh"],
    amp="black",
)
erf = _floating("erf", jax.scipy.special.erf, "Compute the Gauss error function of each element", 0.5, "0.5205")
erfinv = _floating(
    "erfinv", jax.scipy.special.erfinv, "Compute the inverse error function of each element", 0.5, "0.4769", amp="black"
)
sigmoid = _floating(
    "sigmoid", jax.nn.sigmoid, "Compute the logistic sigmoid of each element: `out = 1 / (1 + exp(-x))`", 0.5, "0.6225"
)
lgamma = _floating(
    "lgamma",
    jax.lax.lgamma,
    "Compute the logarithm of the absolute gamma function elementwise",
    4.0,
    "1.7918",
    also=["gammaln"],
)
digamma = _floating(
    "digamma", jax.lax.digamma, "Compute the digamma function elementwise: the derivative of `lgamma()`", 1.0, "-0.5772"
)
i0 = _floating(
    "i0",
    jax.scipy.special.i0,
    "Compute the modified Bessel function of the first kind of order 0 elementwise",
    1.0,
    "1.2661",
)
i0e = _floating(
    "i0e", jax.scipy.special.i0e, "Compute the exponentially scaled `exp(-|x|) * i0(x)` elementwise", 1.0, "0.4658"
)
i1 = _floating(
    "i1",
    jax.scipy.special.i1,
    "Compute the modified Bessel function of the first kind of order 1 elementwise",
    1.0,
    "0.5652",
)
i1e = _floating(
    "i1e", jax.scipy.special.i1e, "Compute the exponentially scaled `exp(-|x|) * i1(x)` elementwise", 1.0, "0.2079"
)
sinc = _floating(
    "sinc", jnp.sinc, "Compute the normalized sinc elementwise: `out = sin(pi * x) / (pi * x)`, 1 at 0", 0.5, "0.6366"
)
deg2rad = _floating("deg2rad", jnp.deg2rad, "Convert degrees to radians", 90.0, "1.5708")
rad2deg = _floating("rad2deg", jnp.rad2deg, "Convert radians to degrees", 1.0, "57.2958")

abs = _same_dtype_op(
    "abs",
    magnitude,
    "Compute the absolute value of each element",
    -2.5,
    "2.5000",
    operators=["__abs__"],
    also=["absolute"],
)
neg = _same_dtype_op(
    "neg",
    lambda x: x if x.dtype == bool else -x,
    "Negate each element: `out = -x`",
    2.5,
    "-2.5000",
    operators=["__neg__"],
    also=["negative"],
)
square = _same_dtype_op("square", jnp.square, "Compute the square of each element", 3.0, "9.0000", amp="black")
sign = _same_dtype_op("sign", jnp.sign, "Compute the sign of each element: -1, 0 or 1", -2.5, "-1.0000")


def _direction(x: Any) -> Any:
    """Compute the sign; unlike jnp.sign, with a gradient for complex numbers."""
    return x / jnp.where(x == 0, 1, jnp.abs(x)) if jnp.iscomplexobj(x) else jnp.sign(x)


sgn = _same_dtype_op(
    "sgn", _direction, "Compute the sign of each element; `x / |x|` for complex numbers", -2.5, "-1.0000"
)
floor = _same_dtype_op("floor", _rounding(jnp.floor), "Round each element down to an integer", 1.7, "1.0000")
ceil = _same_dtype_op("ceil", _rounding(jnp.ceil), "Round each element up to an integer", 1.2, "2.0000")
trunc = _same_dtype_op("trunc", _rounding(jnp.trunc), "Round each element towards zero", -1.7, "-1.0000", also=["fix"])
frac = _same_dtype_op(
    "frac",
    lambda x: x - _rounding(jnp.trunc)(x),
    "Compute the fractional part of each element: `x - trunc(x)`",
    1.25,
    "0.2500",
)
positive = _same_dtype_op(
    "positive", lambda x: x, "Return the elements unchanged", 1.5, "1.5000", operators=["__pos__"]
)

absolute, arcsin, arccos, arctan, arcsinh, arccosh, arctanh = abs, asin, acos, atan, asinh, acosh, atanh
fix, gammaln, negative = trunc, lgamma, neg


@op(methods=["round"], inplace="round_")
def round(x: Array, /, decimals: int = 0) -> Any:
    """Round each element to `decimals` decimal places, halves to even.

    Arguments:
        x: tensor of any shape; integers are returned unchanged.
        decimals: number of decimal places; negative values round to tens, hundreds, ... Default: 0.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.round(paddle.to_tensor([0.5, 1.5, 2.25])).tolist()
        [0.0, 2.0, 2.0]
    """
    x = natural(x)
    return jnp.round(x, decimals) if decimals or jnp.issubdtype(x.dtype, jnp.inexact) else x


@op(methods=["logit"], inplace="logit_")
def logit(x: Array, /, eps: float | None = None) -> Any:
    """Compute the logit elementwise: `out = log(x / (1 - x))`.

    Arguments:
        x: tensor of probabilities.
        eps: clamp `x` to [eps, 1 - eps] first; None: no clamping, so that 0 and 1 give infinities.

    Returns:
        A floating-point tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.logit(paddle.to_tensor([0.5])).tolist()
        [0.0]
    """
    x = floating(x)
    return jax.scipy.special.logit(x if eps is None else jnp.clip(x, eps, 1 - eps))


@op(methods=["stanh"])
def stanh(x: Array, /, scale_a: float = 0.67, scale_b: float = 1.7159) -> Any:
    """Compute the scaled hyperbolic tangent elementwise: `out = scale_b * tanh(scale_a * x)`.

    Returns:
        A floating-point tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.stanh(paddle.to_tensor(1.0)).item():.4f}"
        '1.0038'
    """
    return scale_b * jnp.tanh(scale_a * floating(x))


@op(methods=["polygamma"], inplace="polygamma_")
def polygamma(x: Array, /, n: int) -> Any:
    """Compute the polygamma function of order `n`: the n-th derivative of `digamma()` at `x`.

    Returns:
        A floating-point tensor with the shape of `x`; infinite at 0 and negative integers, its poles, for n above 0.

    Raises:
        TypeError: n is no int.
        ValueError: n is negative.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.polygamma(paddle.to_tensor(1.0), 1).item():.4f}"
        '1.6449'
    """
    x = floating(x)
    if not isinstance(n, (int, np.integer)):
        raise TypeError(f"n is {n!r}; expected an int of at least 0")
    if n < 0:
        raise ValueError(f"n is {n}; expected an int of at least 0")
    if n == 0:
        return jax.lax.digamma(x)
    pole = jnp.inf if n % 2 else -jnp.inf
    return jnp.where((x <= 0) & (x == jnp.floor(x)), pole, jax.scipy.special.polygamma(n, x))


@op(methods=["multigammaln"], inplace="multigammaln_")
def multigammaln(x: Array, /, p: int) -> Any:
    """Compute the logarithm of the multivariate gamma function of dimension `p`.

    Returns:
        A floating-point tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.multigammaln(paddle.to_tensor(3.0), 2).item():.4f}"
        '1.5502'
    """
    return jax.scipy.special.multigammaln(floating(x), p)


@op(methods=["nan_to_num"], inplace="nan_to_num_")
def nan_to_num(x: Array, /, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """Replace NaN and infinities by finite numbers.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nan_to_num(paddle.to_tensor([float("nan"), 1.0])).tolist()
        [0.0, 1.0]
    """
    return jnp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@op(methods=["real"], views=PART)
def real(x: Array, /) -> Any:
    """Return the real part of each element.

    Returns:
        A real tensor with the shape of `x`; a view of a complex `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.real(paddle.to_tensor([1 + 2j])).tolist()
        [1.0]
    """
    return jnp.real(x)


@op(methods=["imag"], views=PART)
def imag(x: Array, /) -> Any:
    """Return the imaginary part of each element.

    Returns:
        A real tensor with the shape of `x`; a view of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.imag(paddle.to_tensor([1 + 2j])).tolist()
        [2.0]
    """
    return jnp.imag(x)


@op(methods=["conj"])
def conj(x: Array, /) -> Any:
    """Compute the complex conjugate of each element.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.conj(paddle.to_tensor([1 + 2j])).tolist()
        [(1-2j)]
    """
    return jnp.conj(x)


@op(methods=["angle"])
def angle(x: Array, /) -> Any:
    """Compute the phase angle of each element in radians.

    Returns:
        A real tensor with the shape of `x`, in [-pi, pi].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.angle(paddle.to_tensor(1j)).item():.4f}"
        '1.5708'
    """
    x = floating(x)
    if not jnp.iscomplexobj(x):
        return jax.lax.stop_gradient(jnp.angle(x))  # 0 or pi: the gradient is 0, whatever comes back
    zero = x == 0  # where the derivative is not defined: the gradient is 0
    return jnp.where(zero, jax.lax.stop_gradient(jnp.angle(x)), jnp.angle(jnp.where(zero, 1, x)))


@op(methods=["as_real", "view_as_real"], views=PAIRS)
def as_real(x: Array, /) -> Any:
    """View a complex tensor as a real one with a trailing dimension (real, imaginary).

    Returns:
        A real tensor of shape [*x.shape, 2].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.as_real(paddle.to_tensor([1 + 2j])).tolist()
        [[1.0, 2.0]]
    """
    return jnp.stack([x.real, x.imag], -1)


@op(methods=["as_complex", "view_as_complex"], views=NUMBERS)
def as_complex(x: Array, /) -> Any:
    """View a real tensor with a trailing dimension (real, imaginary) as a complex tensor.

    Returns:
        A complex tensor of shape `x.shape[:-1]`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
        [(1+2j)]
    """
    if x.shape[-1] != 2:
        raise ValueError(f"the last dimension is {x.shape[-1]}; expected 2, for (real, imaginary)")
    return jax.lax.complex(x[..., 0], x[..., 1])


view_as_real, view_as_complex = as_real, as_complex

__all__ = [
    *("abs", "absolute", "acos", "acosh", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh"),
    *("as_complex", "as_real", "asin", "asinh", "atan", "atanh", "ceil", "conj", "cos", "cosh", "deg2rad"),
    *("digamma", "erf", "erfinv", "exp", "expm1", "fix", "floor", "frac", "gammaln", "i0", "i0e", "i1", "i1e"),
    *("imag", "lgamma", "log", "log10", "log1p", "log2", "logit", "multigammaln", "nan_to_num", "neg"),
    *("negative", "polygamma", "positive", "rad2deg", "real", "reciprocal", "round", "rsqrt", "sgn", "sigmoid"),
    *("sign", "sin", "sinc", "sinh", "sqrt", "square", "stanh", "tan", "tanh", "trunc", "view_as_complex"),
    *("view_as_real",),
]
