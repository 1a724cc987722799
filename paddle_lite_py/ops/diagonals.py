"""Diagonals and triangles of matrices, and differences along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .dynamic import fresh
from .promote import floating, numpy_dtype
from .types import Array, TensorLike
from .view_rules import strided

__all__ = [
    *("cumulative_trapezoid", "diag", "diag_embed", "diagflat", "diagonal", "diff", "trace", "trapezoid", "tril"),
    *("tril_indices", "triu", "triu_indices"),
]


def lower_triangle(shape: Sequence[int], diagonal: int = 0) -> Any:
    """Return the mask of the elements on or below a diagonal, for matrices of this shape.

    Computed in 32 bits, since accelerators emulate the 64-bit integers of NumPy's version.
    """
    if len(shape) < 2:
        raise ValueError(f"a matrix, or several, is expected; the shape is {[*shape]}")
    row, column = (jax.lax.broadcasted_iota(jnp.int32, shape[-2:], axis) for axis in (0, 1))
    return column <= row + jnp.int32(diagonal)


_DIAGONAL = strided(lambda array, step: array.diagonal(*step.bound.attrs))


@op(methods=["tril"], inplace="tril_")
def tril(x: Array, /, diagonal: int = 0) -> Any:
    """Return the lower triangle of matrices; other elements become zero.

    Arguments:
        diagonal: int, the highest diagonal kept: 0 is the main diagonal, positive ones lie above it. Default: 0.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.tril(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[1, 0], [3, 4]]
    """
    return jnp.where(lower_triangle(x.shape, diagonal), x, jnp.zeros_like(x))


@op(methods=["triu"], inplace="triu_")
def triu(x: Array, /, diagonal: int = 0) -> Any:
    """Return the upper triangle of matrices; other elements become zero.

    Arguments:
        diagonal: int, the lowest diagonal kept: 0 is the main diagonal, positive ones lie above it. Default: 0.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.triu(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[1, 2], [0, 4]]
    """
    return jnp.where(lower_triangle(x.shape, diagonal - 1), jnp.zeros_like(x), x)


def _triangle(indices: Any, row: int, offset: int, col: int | None, dtype: Any) -> Any:
    col = row if col is None else col
    if row < 0 or col < 0:
        raise ValueError(f"row is {row} and col {col}; expected at least 0")
    return fresh(np.stack(indices(row, offset, col)).astype(numpy_dtype(dtype)))


def tril_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Any:
    """Return the row and column indices of the lower triangle of a matrix.

    Returns:
        An integer tensor [2, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle(np.tril_indices, row, offset, col, dtype)


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Any:
    """Return the row and column indices of the upper triangle of a matrix.

    Returns:
        An integer tensor [2, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.triu_indices(2, 2).tolist()
        [[0, 0, 1], [0, 1, 1]]
    """
    return _triangle(np.triu_indices, row, offset, col, dtype)


@op(methods=["diag"])
def diag(x: Array, /, offset: int = 0, padding_value: float = 0) -> Any:
    """Create a diagonal matrix from a 1-D tensor, or extract a diagonal of a matrix.

    Arguments:
        offset: int, which diagonal: 0 is the main diagonal, positive ones lie above it. Default: 0.
        padding_value: value of the off-diagonal elements. Default: 0.

    Returns:
        A 2-D tensor for a 1-D input, a 1-D tensor for a 2-D input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.diag(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    if x.ndim > 2:
        raise ValueError(f"diag() needs 1 or 2 dimensions, got {x.ndim}")
    out = jnp.diag(jnp.atleast_1d(x), offset)
    if x.ndim == 2 or padding_value == 0:
        return out
    return jnp.where(jnp.eye(out.shape[0], k=offset, dtype=bool), out, jnp.asarray(padding_value, x.dtype))


@op(methods=["diagflat"])
def diagflat(x: Array, /, offset: int = 0) -> Any:
    """Create a diagonal matrix from the flattened elements of `x`.

    Returns:
        A 2-D tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.diagflat(paddle.to_tensor([[1], [2]])).tolist()
        [[1, 0], [0, 2]]
    """
    return jnp.diag(x.reshape(-1), offset)


@op(methods=["diagonal"], views=_DIAGONAL)
def diagonal(x: Array, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Extract the diagonals of the matrices in the plane of two dimensions.

    Returns:
        A view of `x` without the two dimensions, with the diagonal as the last one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.diagonal(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    return jnp.diagonal(x, offset, axis1, axis2)


@op(methods=["diag_embed"])
def diag_embed(input: Array, /, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Create matrices with the vectors of the last dimension on a diagonal.

    Returns:
        A tensor with one more dimension than `input`; the matrices span `dim1` and `dim2`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.diag_embed(paddle.to_tensor([[1, 2]])).tolist()
        [[[1, 0], [0, 2]]]
    """
    n = input.shape[-1] + abs(offset)
    out = jnp.eye(n, k=offset, dtype=bool)
    rows = jnp.pad(input, [(0, 0)] * (input.ndim - 1) + [(max(-offset, 0), max(offset, 0))])[..., :, None]
    return jnp.moveaxis(jnp.where(out, rows, 0).astype(input.dtype), (-2, -1), (dim1, dim2))


@op(methods=["trace"])
def trace(x: Array, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Sum the diagonal of the matrices in the plane of two dimensions.

    Returns:
        A tensor without the two dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.trace(paddle.to_tensor([[1, 2], [3, 4]])).item()
        5
    """
    return jnp.trace(x, offset, axis1, axis2)


@op(name="diff")
def _diff(x: Any, prepend: Any = None, append: Any = None, /, n: int = 1, axis: int = -1) -> Any:
    parts = [p.astype(x.dtype) for p in (prepend, x, append) if p is not None]
    return jnp.diff(jnp.concatenate(parts, axis) if len(parts) > 1 else x, n, axis)


@composite(methods=["diff"], around=call_cached("x", "prepend", "append"))
def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Compute the n-th forward difference along a dimension: `x[i + 1] - x[i]`.

    Arguments:
        prepend, append: tensors to concatenate to `x` before and after along `axis`; None: nothing.

    Returns:
        A tensor whose size along `axis` is smaller by `n`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.diff(paddle.to_tensor([1, 4, 9])).tolist()
        [3, 5]
    """
    return _diff(x, prepend, append, n, axis)


def _areas(y: Any, x: Any, dx: Any, axis: int) -> Any:
    """Compute the trapezoid areas between neighbors along an axis."""
    y = jnp.moveaxis(floating(y), axis, -1)
    if x is not None:
        dx = jnp.diff(x if x.ndim == 1 else jnp.moveaxis(x, axis, -1))
    return (y[..., 1:] + y[..., :-1]) / 2 * jnp.asarray(dx).astype(y.dtype)


@op(name="trapezoid")
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, /, axis: int = -1) -> Any:
    return jnp.sum(_areas(y, x, dx, axis), -1)


@op(name="cumulative_trapezoid")
def _cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, /, axis: int = -1) -> Any:
    return jnp.moveaxis(jnp.cumsum(_areas(y, x, dx, axis), -1), -1, axis)


@composite(methods=["trapezoid"], around=call_cached("y", "x"))
def trapezoid(y: TensorLike, x: Tensor | None = None, dx: TensorLike | None = None, axis: int = -1) -> Any:
    """Integrate `y` along a dimension by the trapezoidal rule.

    Arguments:
        x: tensor, the sample points; None: spacing `dx`.
        dx: number, the spacing. Default: 1.

    Returns:
        A tensor without the dimension `axis`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.trapezoid(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        4.0
    """
    return _trapezoid(y, x, 1.0 if dx is None else dx, axis)


@composite(methods=["cumulative_trapezoid"], around=call_cached("y", "x"))
def cumulative_trapezoid(y: TensorLike, x: Tensor | None = None, dx: TensorLike | None = None, axis: int = -1) -> Any:
    """Integrate `y` cumulatively along a dimension by the trapezoidal rule; arguments as for `trapezoid()`.

    Returns:
        A tensor whose size along `axis` is smaller by 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cumulative_trapezoid(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [1.5, 4.0]
    """
    return _cumulative_trapezoid(y, x, 1.0 if dx is None else dx, axis)
