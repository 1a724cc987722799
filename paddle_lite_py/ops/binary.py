"""Less common functions of two tensors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core.config import by_platform
from ..dispatch.define import op
from .promote import is_inexact, promote, promote_floating, promote_operands, single
from .types import Array

__all__ = [
    *("arctan2", "atan2", "complex", "copysign", "fmax", "fmin", "frexp", "gammainc", "gammaincc", "gcd"),
    *("heaviside", "hypot", "lcm", "ldexp", "logaddexp", "nextafter", "polar"),
]


@op(methods=["fmax"])
def fmax(x: Array, y: Array, /) -> Any:
    """Compute the elementwise maximum of two tensors, ignoring NaN where the other element is a number.

    Returns:
        The larger elements, of the broadcast shape of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.fmax(paddle.to_tensor([1.0, float("nan")]), paddle.to_tensor([3.0, 4.0])).tolist()
        [3.0, 4.0]
    """
    x, y = promote(x, y)
    return jnp.where((x >= y) | jnp.isnan(y), x, y)


@op(methods=["fmin"])
def fmin(x: Array, y: Array, /) -> Any:
    """Compute the elementwise minimum of two tensors, ignoring NaN where the other element is a number.

    Returns:
        The smaller elements, of the broadcast shape of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.fmin(paddle.to_tensor([1.0, float("nan")]), paddle.to_tensor([3.0, 4.0])).tolist()
        [1.0, 4.0]
    """
    x, y = promote(x, y)
    return jnp.where((x <= y) | jnp.isnan(y), x, y)


@op(methods=["atan2"], inplace="atan2_")
def atan2(x: Array, y: Array, /) -> Any:
    """Compute the elementwise arctangent of `x / y` with the quadrant from the signs, in [-pi, pi].

    Returns:
        Angles in radians, of the broadcast shape; integers give float64.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.atan2(paddle.to_tensor(1.0), paddle.to_tensor(1.0)).item():.4f}"
        '0.7854'
    """
    x, y = promote(x, y)
    return jnp.arctan2(x, y) if is_inexact(x) else jnp.arctan2(x.astype(jnp.float64), y.astype(jnp.float64))


@op(methods=["hypot"], inplace="hypot_")
def hypot(x: Array, y: Array, /) -> Any:
    """Compute `sqrt(x ** 2 + y ** 2)` elementwise without overflow.

    Returns:
        A floating-point tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.hypot(paddle.to_tensor(3.0), paddle.to_tensor(4.0)).item()
        5.0
    """
    return jnp.hypot(*promote_floating(*promote_operands(x, y)))


@op(methods=["logaddexp"])
def logaddexp(x: Array, y: Array, /) -> Any:
    """Compute `log(exp(x) + exp(y))` elementwise without overflow.

    Returns:
        A floating-point tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.logaddexp(paddle.to_tensor(0.0), paddle.to_tensor(0.0)).item():.4f}"
        '0.6931'
    """
    return jnp.logaddexp(*promote_floating(x, y))


@op(methods=["copysign"], inplace="copysign_")
def copysign(x: Array, y: Array, /) -> Any:
    """Return the magnitude of `x` with the sign of `y`, elementwise.

    Returns:
        A floating-point tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.copysign(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([-1.0, 3.0])).tolist()
        [-1.0, 2.0]
    """
    x, y = promote_floating(*promote_operands(x, y))
    if y.dtype != jnp.float64:
        return jnp.copysign(x, y)
    return by_platform(jnp.copysign, x, y, tpu=_copysign_by_float32)


def _copysign_by_float32(x: Any, y: Any) -> Any:
    """copysign() of float64: XLA's compiler for TPUs fails on its bits, and the sign is the same in float32."""
    return jnp.where(jnp.signbit(y.astype(jnp.float32)), -jnp.abs(x), jnp.abs(x))


@op(methods=["nextafter"], grad=False)
def nextafter(x: Array, y: Array, /) -> Any:
    """Return the next representable number after `x` towards `y`, elementwise.

    Returns:
        A floating-point tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nextafter(paddle.to_tensor(1.0), paddle.to_tensor(2.0)).item() > 1
        True
    """
    return jnp.nextafter(*promote_floating(x, y))


@op(methods=["heaviside"])
def heaviside(x: Array, y: Array, /) -> Any:
    """Compute the Heaviside step function: 0 where `x < 0`, `y` where `x == 0`, 1 where `x > 0`.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.heaviside(paddle.to_tensor([-1.0, 0.0, 1.0]), paddle.to_tensor([0.5])).tolist()
        [0.0, 0.5, 1.0]
    """
    x, y = promote(x, y)
    return jnp.where(x == 0, y, (x > 0).astype(y.dtype))


@op(methods=["gcd"], inplace="gcd_", grad=False)
def gcd(x: Array, y: Array, /) -> Any:
    """Compute the greatest common divisor of two integer tensors elementwise.

    Returns:
        An integer tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.gcd(paddle.to_tensor([4, 9]), paddle.to_tensor([6, 6])).tolist()
        [2, 3]
    """
    return jnp.gcd(*promote(x, y))


@op(methods=["lcm"], inplace="lcm_", grad=False)
def lcm(x: Array, y: Array, /) -> Any:
    """Compute the least common multiple of two integer tensors elementwise.

    Returns:
        An integer tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.lcm(paddle.to_tensor([4, 9]), paddle.to_tensor([6, 6])).tolist()
        [12, 18]
    """
    return jnp.lcm(*promote(x, y))


@op(methods=["gammainc"], inplace="gammainc_")
def gammainc(x: Array, y: Array, /) -> Any:
    """Compute the regularized lower incomplete gamma function P(x, y) elementwise.

    Returns:
        A floating-point tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.gammainc(paddle.to_tensor(1.0), paddle.to_tensor(2.0)).item():.4f}"
        '0.8647'
    """
    return jax.scipy.special.gammainc(*promote_floating(x, y))


@op(methods=["gammaincc"], inplace="gammaincc_")
def gammaincc(x: Array, y: Array, /) -> Any:
    """Compute the regularized upper incomplete gamma function Q(x, y) = 1 - P(x, y) elementwise.

    Returns:
        A floating-point tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.gammaincc(paddle.to_tensor(1.0), paddle.to_tensor(2.0)).item():.4f}"
        '0.1353'
    """
    return jax.scipy.special.gammaincc(*promote_floating(x, y))


@op(methods=["ldexp"], inplace="ldexp_")
def ldexp(x: Array, y: Array, /) -> Any:
    """Compute `x * 2 ** y` elementwise.

    Returns:
        The products, of the broadcast shape: float32, or float64 if an operand is float64.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.ldexp(paddle.to_tensor([1.0]), paddle.to_tensor([3])).tolist()
        [8.0]
    """
    x, y = map(single, promote(x, y))
    return x * jnp.exp2(y)


@op(methods=["frexp"])
def frexp(x: Array, /) -> Any:
    """Decompose each element into mantissa and exponent: `x = mantissa * 2 ** exponent`.

    Returns:
        (mantissa, exponent), both with the shape and dtype of `x`; the magnitude of the mantissa is in [0.5, 1).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.tolist() for part in paddle.frexp(paddle.to_tensor([8.0]))]
        [[0.5], [4.0]]
    """
    _, exponent = jnp.frexp(x)
    return jnp.ldexp(x, -exponent), exponent.astype(x.dtype)


@op
def complex(real: Array, imag: Array, /) -> Any:
    """Create a complex tensor from its real and imaginary parts: `out = real + 1j * imag`.

    Returns:
        A complex tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
        [(1+2j)]
    """
    return jax.lax.complex(*jnp.broadcast_arrays(*promote_floating(real, imag)))


@op
def polar(abs: Array, angle: Array, /) -> Any:
    """Create a complex tensor from polar coordinates: `out = abs * exp(1j * angle)`.

    Returns:
        A complex tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.polar(paddle.to_tensor([2.0]), paddle.to_tensor([0.0])).tolist()
        [(2+0j)]
    """
    r, phi = jnp.broadcast_arrays(*promote_floating(abs, angle))
    return jax.lax.complex(r * jnp.cos(phi), r * jnp.sin(phi))


arctan2 = atan2
