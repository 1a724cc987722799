"""Tensor creation."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .dynamic import is_eager, known
from .placement import placed_like
from .promote import lone, numpy_dtype
from .types import DTypeLike, Shape, TensorLike

__all__ = [
    *("arange", "empty", "empty_like", "eye", "full", "full_like", "linspace", "logspace", "ones", "ones_like"),
    *("range", "zeros", "zeros_like"),
]


def shape_tuple(shape: Any) -> tuple[Any, ...]:
    """Convert a shape argument (int, sequence with 0-D tensors, or 1-D tensor) to a tuple."""
    if isinstance(shape, Tensor) and shape.ndim:
        found = shape._static_value("a shape")
        return tuple(found if isinstance(found, list) else [found])
    if isinstance(shape, np.ndarray) and shape.ndim:
        return tuple(shape.tolist())
    items = shape if isinstance(shape, list | tuple) else [shape]
    return tuple([i._static_value("a shape") if isinstance(i, Tensor) else i for i in items])


def float_dtype(dtype: Any) -> Any:
    """Convert a dtype argument whose default is the default floating dtype."""
    return dtypes.default_dtype() if dtype is None else dtypes.as_dtype(dtype)


@op(name="full")
def _full(fill_value: Any, /, shape: Any, dtype: Any) -> Any:
    return jnp.broadcast_to(lone(fill_value).astype(numpy_dtype(dtype)), shape)


def _of_text(value: Any) -> Any:
    """Convert the text of a number, such as "-inf"; return anything else unchanged.

    Raises:
        ValueError: if `fill_value` is a text that is not a number.
    """
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"fill_value is {value!r}; expected a number") from None


@composite(creates=True)
def full(shape: Shape, fill_value: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Create a tensor filled with one value.

    Arguments:
        shape: int, list of ints (0-D tensors allowed) or 1-D tensor, the shape.
        fill_value: number, its text (such as "-inf") or 0-D tensor.
        dtype: dtype of the result. Default: the default floating dtype; bool for a bool, and the complex dtype of that
            precision for a complex number.

    Returns:
        A tensor of the given shape and dtype.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.full([2], 1).tolist()
        [1.0, 1.0]
    """
    fill_value = _of_text(fill_value)
    kinds = {bool: dtypes.bool_, complex: dtypes.default_complex()}
    kind = dtypes.as_dtype(dtype) if dtype is not None else kinds.get(type(fill_value), dtypes.default_dtype())
    return _full(fill_value, shape_tuple(shape), kind)


@composite(variadic="shape", creates=True)
def zeros(shape: Shape, dtype: DTypeLike = None) -> Tensor:
    """Create a tensor filled with zeros.

    Returns:
        A tensor of the given shape; the dtype is the default floating dtype unless given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.zeros([1, 2]).tolist()
        [[0.0, 0.0]]
    """
    return _full(0, shape_tuple(shape), float_dtype(dtype))


@composite(variadic="shape", creates=True)
def ones(shape: Shape, dtype: DTypeLike = None) -> Tensor:
    """Create a tensor filled with ones.

    Returns:
        A tensor of the given shape; the dtype is the default floating dtype unless given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.ones([1, 2], "int32").tolist()
        [[1, 1]]
    """
    return _full(1, shape_tuple(shape), float_dtype(dtype))


@composite(variadic="shape", creates=True)
def empty(shape: Shape, dtype: DTypeLike = None) -> Tensor:
    """Create a tensor with unspecified values (zeros, since XLA has no uninitialized memory).

    Returns:
        A tensor of the given shape; the dtype is the default floating dtype unless given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.empty([1, 2]).shape
        paddle.Size([1, 2])
    """
    return _full(0, shape_tuple(shape), float_dtype(dtype))


@op(name="full_like", grad=False)
def _full_like(x: Any, fill_value: Any, /, dtype: Any = None) -> Any:
    return jnp.broadcast_to(lone(fill_value).astype(numpy_dtype(dtype) or x.dtype), x.shape)


@composite(methods=["full_like"], creates=True, around=placed_like("x", is_cached=True))
def full_like(x: Tensor, fill_value: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Create a tensor filled with one value, in the shape of another tensor.

    Returns:
        A tensor with the shape of `x`, and its dtype unless `dtype` is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.full_like(paddle.to_tensor([1, 2]), 7).tolist()
        [7, 7]
    """
    return _full_like(x, _of_text(fill_value), dtype)


@composite(creates=True, around=placed_like("x", is_cached=True))
def zeros_like(x: Tensor, dtype: DTypeLike = None) -> Tensor:
    """Create a tensor of zeros in the shape of another tensor.

    Returns:
        A tensor with the shape of `x`, and its dtype unless `dtype` is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.zeros_like(paddle.to_tensor([1, 2])).tolist()
        [0, 0]
    """
    return _full_like(x, 0, dtype)


@composite(creates=True, around=placed_like("x", is_cached=True))
def ones_like(x: Tensor, dtype: DTypeLike = None) -> Tensor:
    """Create a tensor of ones in the shape of another tensor.

    Returns:
        A tensor with the shape of `x`, and its dtype unless `dtype` is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.ones_like(paddle.to_tensor([1, 2])).tolist()
        [1, 1]
    """
    return _full_like(x, 1, dtype)


@composite(creates=True, around=placed_like("x"))
def empty_like(x: Tensor, dtype: DTypeLike = None) -> Tensor:
    """Create a tensor with unspecified values in the shape of another tensor.

    Returns:
        A tensor with the shape of `x`, and its dtype unless `dtype` is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.empty_like(paddle.to_tensor([1, 2])).shape
        paddle.Size([2])
    """
    return _full_like(x, 0, dtype)


def _number(value: Any, what: str) -> Any:
    return value._static_value(what) if isinstance(value, Tensor) else value


@op(name="arange")
def _arange(start: Any, step: Any, /, length: Any, dtype: Any) -> Any:
    kind = numpy_dtype(dtype)
    wide = kind if jnp.issubdtype(kind, jnp.integer) else jnp.float64
    return (jnp.asarray(start).astype(wide) + jnp.arange(length) * jnp.asarray(step).astype(wide)).astype(kind)


@composite(creates=True)
def arange(
    start: TensorLike = 0, end: TensorLike | None = None, step: TensorLike = 1, dtype: DTypeLike = None
) -> Tensor:
    """Create evenly spaced values in the half-open interval [start, end).

    Arguments:
        start, end, step: numbers or 0-D tensors. A single argument is `end`, with `start` = 0.
        dtype: dtype of the result. Default: int64 if all arguments are integers, else the default floating dtype.

    Returns:
        A 1-D tensor of length `ceil((end - start) / step)`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.arange(1, 7, 2).tolist()
        [1, 3, 5]
    """
    if end is None:
        start, end = 0, start
    dtype = dtypes.as_dtype(dtype) if dtype is not None else _range_dtype(start, end, step)
    if not is_eager() and any(isinstance(v, Tensor) for v in (start, end, step)):
        return _arange(start, step, known(_range_count(start, end, step), "arange()", "numbers as its bounds"), dtype)
    first, last, by = [_number(v, "a bound of arange()") for v in (start, end, step)]
    if by == 0:
        raise ValueError("arange(): step is 0; expected another number")
    return _arange(first, by, _range_length(first, last, by), dtype)


@composite(creates=True)
def range(
    start: TensorLike = 0, end: TensorLike | None = None, step: TensorLike = 1, dtype: DTypeLike = None
) -> Tensor:
    """Create evenly spaced values in the closed interval [start, end].

    Returns:
        A 1-D tensor of length `floor((end - start) / step) + 1`, in the default floating dtype unless `dtype` is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.range(0, 1, 0.5).tolist()
        [0.0, 0.5, 1.0]
    """
    start, end = (0, start) if end is None else (start, end)
    first, last, by = [_number(v, "a bound of range()") for v in (start, end, step)]
    return _arange(first, by, math.floor((last - first) / by) + 1, float_dtype(dtype))


def _range_dtype(*bounds: Any) -> dtypes.DType:
    for b in bounds:
        if isinstance(b, Tensor) and b.dtype.is_floating:
            return b.dtype
    return dtypes.default_dtype() if any(isinstance(b, float | np.floating) for b in bounds) else dtypes.int64


@op(name="_range_count", grad=False)
def _range_count(start: Any, end: Any, step: Any, /) -> Any:
    wide = [jnp.asarray(v).reshape(()) for v in (start, end, step)]
    if any(jnp.issubdtype(v.dtype, jnp.inexact) for v in wide):
        wide = [v.astype(jnp.float64) for v in wide]
    start, end, step = wide
    return jnp.maximum(jnp.ceil((end - start) / step).astype(jnp.int64), 0)


def _range_length(start: Any, end: Any, step: Any) -> Any:
    if isinstance(start, int) and start == 0 and isinstance(step, int) and step == 1 and not isinstance(end, float):
        return end if not isinstance(end, int) else max(end, 0)
    return max(math.ceil((end - start) / step), 0)


@composite(creates=True)
def linspace(start: TensorLike, stop: TensorLike, num: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Create `num` evenly spaced values from `start` to `stop`, both included.

    Returns:
        A 1-D tensor of length `num`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linspace(0, 1, 3).tolist()
        [0.0, 0.5, 1.0]
    """
    return _linspace(start, stop, _number(num, "num of linspace()"), float_dtype(dtype))


@op(name="linspace")
def _linspace(start: Any, stop: Any, /, num: int, dtype: Any) -> Any:
    kind = numpy_dtype(dtype)
    wide = kind if jnp.issubdtype(kind, jnp.floating) else jnp.float64
    first, last = (jnp.asarray(v).reshape(()).astype(wide) for v in (start, stop))
    return evenly_spaced(first, last, num).astype(kind)


def evenly_spaced(first: Any, last: Any, num: int) -> Any:
    """Return `num` values from 0-d arrays `first` to `last`.

    They are counted from the nearer end, as the reference does: exact where the step is, so that points that are meant
    to lie on pixels do.
    """
    if isinstance(num, int) and num < 0:
        raise ValueError(f"num is {num}; expected 0 or more")
    kind, at = first.dtype, jnp.arange(num)
    step = (last - first) / jnp.maximum(num - 1, 1).astype(kind)
    found = jnp.where(at < num // 2, first + step * at.astype(kind), last - step * (num - 1 - at).astype(kind))
    return jnp.where(num == 1, first, found)


@composite(creates=True)
def logspace(
    start: TensorLike, stop: TensorLike, num: TensorLike, base: TensorLike = 10.0, dtype: DTypeLike = None
) -> Tensor:
    """Create `num` values `base ** e`, with exponents evenly spaced from `start` to `stop`.

    Returns:
        A 1-D tensor of length `num`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.logspace(0, 2, 3).tolist()
        [1.0, 10.0, 100.0]
    """
    return (base ** linspace(start, stop, num, "float64")).astype(float_dtype(dtype))


@op(name="eye")
def _eye(*, rows: int, columns: int, dtype: Any) -> Any:
    return jnp.eye(rows, columns, dtype=numpy_dtype(dtype))


@composite(creates=True)
def eye(num_rows: Any, num_columns: Any = None, dtype: DTypeLike = None) -> Tensor:
    """Create a 2-D tensor with ones on the main diagonal and zeros elsewhere.

    Returns:
        A tensor [num_rows, num_columns]; square if `num_columns` is None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    rows = _number(num_rows, "num_rows of eye()")
    columns = rows if num_columns is None else _number(num_columns, "num_columns of eye()")
    return _eye(rows=rows, columns=columns, dtype=float_dtype(dtype))
