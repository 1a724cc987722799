"""Paddle's type promotion. A Python scalar arrives as it is or as a weakly typed array, and follows the tensor."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..core import dtypes
from ..core.config import by_platform, for_others


def is_scalar(x: Any) -> bool:
    """Return True for a Python number, traced or not."""
    return isinstance(x, bool | int | float | complex) or getattr(x, "weak_type", False)


def scalar_kind(x: Any) -> str:
    """Return the kind of a Python number, traced or not: 'b', 'i', 'f' or 'c'."""
    if isinstance(x, bool):
        return "b"
    if isinstance(x, int | float | complex):
        return "i" if isinstance(x, int) else "f" if isinstance(x, float) else "c"
    return jnp.result_type(x).kind


def scalar_dtype(x: Any, other: Any) -> Any:
    """Return the dtype of a scalar combined with a tensor: the tensor's, unless the scalar's kind is higher."""
    kind, other = scalar_kind(x), jnp.dtype(other)
    if dtypes.KINDS.index(kind) <= dtypes.rank(other):
        return other
    if kind == "c":
        return jnp.complex128 if other == jnp.float64 else jnp.complex64
    return jnp.int64 if kind == "i" else jnp.float32


def promote(x: Any, y: Any) -> tuple[Any, Any]:
    """Convert both operands to their common dtype."""
    if is_scalar(x) and is_scalar(y):
        x, y = natural(x), natural(y)
    if is_scalar(x):
        kind = scalar_dtype(x, y.dtype)
    elif is_scalar(y):
        kind = scalar_dtype(y, x.dtype)
    else:
        kind = x.dtype if x.dtype == y.dtype else common(x.dtype, y.dtype)
    return jnp.asarray(x).astype(kind), jnp.asarray(y).astype(kind)


def promote_operands(x: Any, y: Any) -> tuple[Any, Any]:
    """Convert both operands of an arithmetic operator to their common dtype.

    A 0-D tensor combined with a tensor that has dimensions is promoted like a number, unless its kind is higher.
    """
    if is_scalar(x) or is_scalar(y) or x.dtype == y.dtype or (x.ndim == 0) == (y.ndim == 0):
        return promote(x, y)
    large, small = (x, y) if x.ndim else (y, x)
    if dtypes.rank(small.dtype) > dtypes.rank(large.dtype):
        return promote(x, y)
    return x.astype(large.dtype), y.astype(large.dtype)


def promote_all(xs: list[Any]) -> list[Any]:
    """Convert several tensors to their common dtype."""
    xs = [natural(x) for x in xs]
    kind = xs[0].dtype
    for x in xs[1:]:
        kind = kind if x.dtype == kind else common(kind, x.dtype)
    return [x if x.dtype == kind else x.astype(kind) for x in xs]


def promote_floating(x: Any, y: Any) -> tuple[Any, Any]:
    """Convert both operands to their common dtype, integers and booleans to float32."""
    x, y = promote(x, y)
    return floating(x), floating(y)


def common(a: Any, b: Any) -> Any:
    """Return the common dtype of two tensors: the wider float; a float over an integer; NumPy's rule among integers."""
    fa, fb = jnp.issubdtype(a, jnp.inexact), jnp.issubdtype(b, jnp.inexact)
    if fa != fb:
        return a if fa else b
    return jnp.promote_types(a, b)


def natural(x: Any) -> Any:
    """Convert a Python number without a tensor operand: int64, the default float, bool or complex."""
    if not is_scalar(x):
        return x
    kinds = {"b": jnp.bool_, "i": jnp.int64, "f": dtypes.default_dtype().np, "c": dtypes.default_complex().np}
    return jnp.asarray(x, kinds[scalar_kind(x)])


def lone(x: Any) -> Any:
    """Return a number or a tensor; of one element without dimensions, so that what it meets keeps its shape."""
    x = jnp.asarray(x)
    return x.reshape(()) if x.size == 1 else x


def floating(x: Any) -> Any:
    """Convert integers and booleans to float32, whatever the default dtype; floats are unchanged."""
    x = natural(x)
    return x if is_inexact(x) else x.astype(jnp.float32)


def to_integers(x: Any, kind: Any) -> Any:
    """Floats as integers, cut off, with what does not fit as the reference has it on CPUs, where XLA saturates.

    NaN and what is beyond 32 bits (64 for a 64-bit kind) is the least integer; fewer bits are the lowest of those.
    """
    wide = jnp.int64 if jnp.dtype(kind).itemsize == 8 or jnp.dtype(kind) == jnp.uint32 else jnp.int32
    least, x = float(jnp.iinfo(wide).min), single(x)
    return jnp.where(x < -least, x, least).astype(wide).astype(kind)


def quotient(x: Any, y: Any) -> Any:
    """x / y of floating or complex arrays, rounded once.

    XLA replaces a division by a constant, or by what it broadcasts, by a product with the reciprocal, which rounds
    twice: 41 / 41 is below 1, and 0 if rounded down. It does not see through a barrier (which is dropped on CPUs before
    kernels are fused, but keeps an array in memory on accelerators) or a choice. On GPUs it approximates any quotient
    in float32, but not in float64, of which memory hides the cost.
    """
    x, y = jnp.broadcast_arrays(x, y)
    forms: dict[str, Any] = dict.fromkeys(("onnx", "other"), jnp.divide)
    if not for_others():  # a program saved for several platforms has a single form
        forms["cpu"] = lambda x, y: x / jax.lax.optimization_barrier(y)
        if x.dtype == y.dtype == jnp.float32:
            forms["gpu"] = forms["cuda"] = _divided_in_float64
    return by_platform(_divided, x, y, **forms)


def _divided(x: Any, y: Any) -> Any:
    return x / jnp.where(x == x, y, jax.lax.stop_gradient(x))  # NaN / NaN is NaN as well


def _divided_in_float64(x: Any, y: Any) -> Any:
    return (x.astype(jnp.float64) / y.astype(jnp.float64)).astype(jnp.float32)


def single(x: Any) -> Any:
    """Convert to float32, except float64."""
    return x if x.dtype == jnp.float64 else x.astype(jnp.float32)


def is_inexact(x: Any) -> bool:
    """Return True for a floating-point or complex array."""
    return jnp.issubdtype(x.dtype, jnp.inexact)


def numpy_dtype(dtype: Any) -> Any:
    """Convert a `dtype` argument to a NumPy dtype; None stays None."""
    return None if dtype is None else dtypes.as_dtype(dtype).np


def from_start(axis: int, ndim: int, name: str = "axis") -> int:
    """Convert an axis that may be negative to a non-negative one.

    Raises:
        ValueError: if `axis` is out of range.
    """
    if not -ndim <= axis < ndim:
        raise ValueError(f"{name} is {axis}; expected {-ndim} to {ndim - 1}, since x has {ndim} dimensions")
    return axis % ndim


def of_scalar(axis: Any, name: str = "axis") -> None:
    """Check an axis of a 0-d array, which has those of a vector.

    Raises:
        ValueError: if `axis` is none of them.
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"{name} is {axis}; expected 0 or -1, since x has no dimensions")


def scalar_as_vector(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an array along an axis, for which a 0-d array has the axes 0 and -1: those of its one element."""
    name = next(n for n in inspect.signature(fn).parameters if n in ("axis", "dim"))

    @functools.wraps(fn)
    def along(*arrays: Any, **attrs: Any) -> Any:
        *first, x = arrays  # the key of a random op comes first
        if x.ndim or attrs[name] not in (0, -1, (0,), (-1,)):
            return fn(*arrays, **attrs)
        return jax.tree.map(lambda made: made.reshape(()), fn(*first, x.reshape(1), **attrs))

    return along


def axes(axis: Any) -> Any:
    """Convert a reduction's axis argument for JAX: None, an int or a tuple; an empty list means all, as None does."""
    return None if axis == () else axis
