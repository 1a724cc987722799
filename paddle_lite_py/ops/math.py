"""Elementwise arithmetic, interpolation, clamping and scaling."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .promote import floating, is_inexact, lone, natural, promote, promote_all, promote_operands, quotient
from .types import Array, TensorLike

__all__ = [
    *("add", "add_n", "clamp", "clip", "div", "divide", "floor_divide", "floor_mod", "increment", "lerp", "maximum"),
    *("minimum", "mod", "mul", "multiplex", "multiply", "pow", "remainder", "scale", "sub", "subtract", "true_divide"),
]


def _add_scaled(x: Any, y: Any, name: Any = None, *, alpha: Any = 1) -> Any:
    return add(x, multiply(y, alpha))


def _subtract_scaled(x: Any, y: Any, name: Any = None, *, alpha: Any = 1) -> Any:
    return subtract(x, multiply(y, alpha))


def _divide_rounded(x: Any, y: Any, name: Any = None, *, rounding_mode: str | None = None) -> Any:
    return div(x, y, rounding_mode=rounding_mode)


@op(methods=["add"], operators=["__add__", "__radd__"], inplace="add_", wider=_add_scaled, broadcasts=True)
def add(x: Array, y: Array, /) -> Any:
    """Add two tensors elementwise with broadcasting: `out = x + y`.

    Returns:
        The sum, of the broadcast shape and the promoted dtype of `x` and `y`.

    Raises:
        ValueError: if the shapes cannot be broadcast.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.add(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
        [4, 6]
    """
    return jnp.add(*promote_operands(x, y))


@op(
    methods=["subtract", "sub"],
    operators=["__sub__", "__rsub__"],
    inplace="subtract_",
    wider=_subtract_scaled,
    broadcasts=True,
)
def subtract(x: Array, y: Array, /) -> Any:
    """Subtract two tensors elementwise with broadcasting: `out = x - y`.

    Returns:
        The difference, of the broadcast shape and the promoted dtype of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.subtract(paddle.to_tensor([3, 4]), paddle.to_tensor([1, 1])).tolist()
        [2, 3]
    """
    return jnp.subtract(*promote_operands(x, y))


@op(methods=["multiply", "mul"], operators=["__mul__", "__rmul__"], inplace="multiply_", broadcasts=True)
def multiply(x: Array, y: Array, /) -> Any:
    """Multiply two tensors elementwise with broadcasting: `out = x * y`.

    Returns:
        The product, of the broadcast shape and the promoted dtype of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.multiply(paddle.to_tensor([3, 4]), paddle.to_tensor([2, 2])).tolist()
        [6, 8]
    """
    return jnp.multiply(*promote_operands(x, y))


@op(
    methods=["divide"],
    operators=["__truediv__", "__div__", "__rtruediv__", "__rdiv__"],
    inplace="divide_",
    wider=_divide_rounded,
    broadcasts=True,
)
def divide(x: Array, y: Array, /) -> Any:
    """Divide two tensors elementwise with broadcasting: `out = x / y`.

    Returns:
        The quotient, of the broadcast shape. Integers give float32; booleans divided by booleans give booleans.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.divide(paddle.to_tensor([3.0, 4.0]), paddle.to_tensor([2.0, 2.0])).tolist()
        [1.5, 2.0]
    """
    x, y = promote_operands(x, y)
    return x & y if x.dtype == bool else quotient(floating(x), floating(y))


@composite(methods=["div", "true_divide"], inplace="div_", around=call_cached("x", "y?"))
def div(x: Tensor, y: TensorLike, name: str | None = None, *, rounding_mode: str | None = None) -> Any:
    """Divide two tensors elementwise, optionally rounding the quotient.

    Arguments:
        rounding_mode: None: true division; "floor": round down; "trunc": round towards zero. Default: None.

    Returns:
        The quotient, of the broadcast shape of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.div(paddle.to_tensor([-3, 4]), paddle.to_tensor([2, 2]), rounding_mode="trunc").tolist()
        [-1, 2]
    """
    if rounding_mode not in (None, "floor", "trunc"):
        raise ValueError(f"rounding_mode is {rounding_mode!r}; expected None, 'floor' or 'trunc'")
    return (
        divide(x, y)
        if rounding_mode is None
        else floor_divide(x, y)
        if rounding_mode == "floor"
        else trunc_divide(x, y)
    )


@op
def trunc_divide(x: Array, y: Array, /) -> Any:
    """Divide two tensors elementwise and round the quotient towards zero."""
    x, y = promote(x, y)
    return jnp.trunc(quotient(x, y)) if is_inexact(x) else jax.lax.div(*jnp.broadcast_arrays(x, y))


@op(methods=["floor_divide"], operators=["__floordiv__", "__rfloordiv__"], inplace="floor_divide_")
def floor_divide(x: Array, y: Array, /) -> Any:
    """Divide two tensors elementwise and round the quotient down: `out = floor(x / y)`.

    Returns:
        The quotient, of the broadcast shape and the promoted dtype of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.floor_divide(paddle.to_tensor([7, -7]), paddle.to_tensor([2, 2])).tolist()
        [3, -4]
    """
    x, y = promote(x, y)
    return jnp.floor(quotient(x, y)) if is_inexact(x) else jnp.floor_divide(x, y)


@op(methods=["remainder", "mod", "floor_mod"], operators=["__mod__", "__rmod__"], inplace="remainder_")
def remainder(x: Array, y: Array, /) -> Any:
    """Compute the elementwise remainder `x - floor(x / y) * y`, which has the sign of `y`.

    Returns:
        The remainder, of the broadcast shape and the promoted dtype of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.remainder(paddle.to_tensor([7, -7]), paddle.to_tensor([3, 3])).tolist()
        [1, 2]
    """
    return jnp.remainder(*promote_operands(x, y))


@composite(
    methods=["pow"],
    operators=["__pow__"],
    inplace="pow_",
    around=call_cached("x", "y?"),
)
def pow(x: Tensor, y: TensorLike) -> Any:
    """Raise each element of `x` to the power `y`: `out = x ** y`.

    Arguments:
        x: tensor, the base.
        y: number or tensor, the exponent; a tensor is broadcast against `x`.

    Returns:
        The powers, of the broadcast shape and the promoted dtype of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.pow(paddle.to_tensor([2.0, 3.0]), 2).tolist()
        [4.0, 9.0]
    """
    return power_scalar(x, y) if type(y) in (int, float) else power(x, y)


@op(operators=["__rpow__"], amp="black")
def power(x: Array, y: Array, /) -> Any:
    """Raise one tensor to the power of another elementwise."""
    return jnp.power(*promote_operands(x, y))


@op(amp="black")
def power_scalar(x: Array, /, y: float) -> Any:
    """Raise a tensor to the power of a Python number, so that `x ** 2` compiles to a product."""
    x, exponent = promote(x, y)
    if abs(y) <= 64 and (float(y).is_integer() if is_inexact(x) else isinstance(y, int) and y >= 0):
        return jax.lax.integer_pow(x, int(y))
    if not is_inexact(x):
        return jnp.power(x.astype(jnp.float64), y).astype(x.dtype)
    root = {0.5: jax.lax.sqrt, -0.5: jax.lax.rsqrt}.get(y)
    return jnp.power(x, exponent) if root is None else root(x)


@op(methods=["maximum"], inplace="maximum_")
def maximum(x: Array, y: Array, /) -> Any:
    """Compute the elementwise maximum of two tensors; NaN if either element is NaN.

    Returns:
        The larger elements, of the broadcast shape and the promoted dtype of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.maximum(paddle.to_tensor([1, 5]), paddle.to_tensor([3, 4])).tolist()
        [3, 5]
    """
    return jnp.maximum(*promote(x, y))


@op(methods=["minimum"], inplace="minimum_")
def minimum(x: Array, y: Array, /) -> Any:
    """Compute the elementwise minimum of two tensors; NaN if either element is NaN.

    Returns:
        The smaller elements, of the broadcast shape and the promoted dtype of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.minimum(paddle.to_tensor([1, 5]), paddle.to_tensor([3, 4])).tolist()
        [1, 4]
    """
    return jnp.minimum(*promote(x, y))


@op(methods=["lerp"], inplace="lerp_")
def lerp(x: Array, y: Array, weight: Array, /) -> Any:
    """Interpolate linearly between two tensors: `out = x + weight * (y - x)`.

    Returns:
        The interpolated values, of the shape that `x`, `y` and `weight` broadcast to.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.lerp(paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), 0.5).tolist()
        [2.0]
    """
    x, y = promote(x, y)
    return x + promote(weight, x)[0] * (y - x)


@composite(methods=["clip", "clamp"], inplace="clip_", around=call_cached("x", "min?", "max?"))
def clip(x: Tensor, min: TensorLike | None = None, max: TensorLike | None = None) -> Any:
    """Clamp each element to the range [min, max].

    Arguments:
        x: tensor of any shape.
        min: number or tensor, the lower bound; None: no lower bound.
        max: number or tensor, the upper bound; None: no upper bound.

    Returns:
        The clamped elements, with the shape of `x` (broadcast with tensor bounds).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.clip(paddle.to_tensor([-1.0, 0.5, 2.0]), 0.0, 1.0).tolist()
        [0.0, 0.5, 1.0]
    """
    if isinstance(min, int | float) and isinstance(max, int | float) and min > max:
        raise ValueError(f"clip(): min is {min}, which is above max, {max}")
    return bounded(x, min, max)


@op
def bounded(x: Array, low: Array | None = None, high: Array | None = None, /) -> Any:
    """Clamp `x` with `where`, so that the gradient passes at the bounds, as in Paddle."""
    kind = natural(x).dtype
    if not is_inexact(natural(x)) and any(b is not None and is_inexact(natural(b)) for b in (low, high)):
        kind = jnp.float32
    x = jnp.asarray(x).astype(kind)
    if low is not None:
        low = lone(low).astype(kind)
        x = jnp.where(x < low, low, x)
    if high is not None:
        high = lone(high).astype(kind)
        x = jnp.where(x > high, high, x)
    return x


@op(name="_scale")
def _scale(x: Any, scale: Any, bias: Any, /, bias_after_scale: bool = True) -> Any:
    a, b = lone(scale).astype(x.dtype), lone(bias).astype(x.dtype)
    return x * a + b if bias_after_scale else (x + b) * a


@composite(methods=["scale"], inplace="scale_", around=call_cached("x", "scale?"))
def scale(
    x: Tensor, scale: TensorLike = 1.0, bias: TensorLike = 0.0, bias_after_scale: bool = True, act: str | None = None
) -> Any:
    """Scale and shift a tensor: `out = scale * x + bias`, or `scale * (x + bias)`.

    Arguments:
        x: tensor of any shape.
        scale: number or 0-D tensor, the factor. Default: 1.0.
        bias: number, the offset. Default: 0.0.
        bias_after_scale: add `bias` after multiplying (True) or before (False). Default: True.
        act: activation to apply to the result: "relu", "tanh" or "sigmoid"; None: no activation.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), 2.0, bias=1.0).tolist()
        [3.0, 5.0]
    """
    if act not in (None, "relu", "tanh", "sigmoid"):
        raise ValueError(f"act is {act!r}; expected None, 'relu', 'tanh' or 'sigmoid'")
    out = _scale(x, scale, bias, bias_after_scale)
    return out if act is None else bounded(out, 0) if act == "relu" else getattr(out, act)()


@composite
def increment(x: Tensor, value: float = 1.0) -> Any:
    """Add a number to a one-element tensor in place.

    Arguments:
        x: tensor with one element.
        value: number to add. Default: 1.0.

    Returns:
        `x`, with its new value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.increment(paddle.to_tensor([1.0])).tolist()
        [2.0]
    """
    if x.size != 1:
        raise ValueError(f"increment() needs a tensor of one element, got shape {[*x.shape]}")
    return x._rebind(_scale(x, 1, value))


@op
def add_n(inputs: list[Any], /) -> Any:
    """Add several tensors of one shape elementwise.

    Returns:
        The sum, with the shape of the inputs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.add_n([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
        [4, 6]
    """
    inputs = inputs if isinstance(inputs, list) else [inputs]
    if not inputs:
        raise ValueError("inputs is an empty list; expected tensors")
    xs = promote_all(inputs)
    shapes = {x.shape for x in xs if x.ndim}  # a 0-D tensor may be added to one element of any shape
    if len(shapes) > 1 or len({x.size for x in xs}) > 1:
        raise ValueError("inputs differ in shape; expected one shape, as nothing is broadcast here")
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


@op(methods=["multiplex"])
def multiplex(inputs: list[Any], index: Array, /) -> Any:
    """Select each row from one of several tensors: `out[i] = inputs[index[i]][i]`.

    Returns:
        The selected rows, with the shape and dtype of one input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> a, b = paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[5, 6], [7, 8]])
        >>> paddle.multiplex([a, b], paddle.to_tensor([[1], [0]])).tolist()
        [[5, 6], [3, 4]]
    """
    xs = jnp.stack(promote_all(inputs))
    return xs[index.reshape(-1), jnp.arange(index.shape[0])]


clamp, mul, sub, true_divide = clip, multiply, subtract, divide
mod = floor_mod = remainder
