"""Reductions and cumulative sums."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .promote import axes, floating, from_start, is_inexact, numpy_dtype, scalar_as_vector
from .types import Array, Axis, DTypeLike

__all__ = [
    *("all", "amax", "amin", "any", "count_nonzero", "cummax", "cummin", "cumprod", "cumsum", "logcumsumexp"),
    *("logsumexp", "max", "mean", "min", "nanmean", "nansum", "prod", "reduce_as", "sum"),
]


def _sum_dtype(x: Any, dtype: Any) -> Any:
    """Return the dtype of a sum: as given; int64 for booleans and signed integers; else that of `x`."""
    return numpy_dtype(dtype) or (jnp.int64 if x.dtype.kind in "bi" else x.dtype)


@op(methods=["sum"], amp="black")
@scalar_as_vector
def sum(x: Array, /, axis: Axis = None, dtype: DTypeLike = None, keepdim: bool = False) -> Any:
    """Compute the sum of the elements over the given dimensions.

    Arguments:
        axis: int or list of ints, the dimensions to reduce; None reduces all.
        dtype: dtype of the result. Default: int64 for booleans and signed integers up to 32 bits, else that of `x`. A
            bool given here is taken as `keepdim`, and what follows it as dtype.
        keepdim: keep the reduced dimensions with size 1. Default: False.

    Returns:
        The sums; a 0-D tensor if all dimensions are reduced and `keepdim` is False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.sum(paddle.to_tensor([[1, 2], [3, 4]]), axis=0).tolist()
        [4, 6]
    """
    if isinstance(dtype, bool):
        dtype, keepdim = keepdim or None, dtype
    return jnp.sum(x, axis=axes(axis), dtype=_sum_dtype(x, dtype), keepdims=keepdim)


@op(methods=["nansum"])
@scalar_as_vector
def nansum(x: Array, /, axis: Axis = None, dtype: DTypeLike = None, keepdim: bool = False) -> Any:
    """Compute the sum of the elements over the given dimensions, counting NaN as zero.

    Returns:
        The sums; the dtype is chosen as by `sum()`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nansum(paddle.to_tensor([1.0, float("nan")])).item()
        1.0
    """
    return jnp.nansum(x, axis=axes(axis), dtype=_sum_dtype(x, dtype), keepdims=keepdim)


@op(methods=["mean"], amp="black")
@scalar_as_vector
def mean(x: Array, /, axis: Axis = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Any:
    """Compute the arithmetic mean over the given dimensions.

    As in Paddle, integer tensors have an integer mean, rounded towards zero.

    Arguments:
        axis: int or list of ints, the dimensions to reduce; None reduces all.
        keepdim: keep the reduced dimensions with size 1. Default: False.
        dtype: dtype to convert `x` to before averaging. Default: that of `x`.

    Returns:
        The means, in the dtype of `x` (or `dtype`).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.mean(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1).tolist()
        [1.5, 3.5]
    """
    x = x if dtype is None else x.astype(numpy_dtype(dtype))
    if is_inexact(x):
        return jnp.mean(x, axis=axes(axis), keepdims=keepdim)
    return jnp.trunc(jnp.mean(x.astype(jnp.float64), axis=axes(axis), keepdims=keepdim)).astype(x.dtype)


@op(methods=["nanmean"])
@scalar_as_vector
def nanmean(x: Array, /, axis: Axis = None, keepdim: bool = False) -> Any:
    """Compute the mean over the given dimensions, ignoring NaN.

    Returns:
        The means; NaN where all elements are NaN.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
        2.0
    """
    return jnp.nanmean(x, axis=axes(axis), keepdims=keepdim)


@op(methods=["max"])
@scalar_as_vector
def max(x: Array, /, axis: Axis = None, keepdim: bool = False) -> Any:
    """Compute the maximum over the given dimensions; equal maxima share the gradient.

    Returns:
        The maxima, in the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.max(paddle.to_tensor([[1, 5], [3, 4]]), axis=1).tolist()
        [5, 4]
    """
    return jnp.max(x, axis=axes(axis), keepdims=keepdim)


@op(methods=["min"])
@scalar_as_vector
def min(x: Array, /, axis: Axis = None, keepdim: bool = False) -> Any:
    """Compute the minimum over the given dimensions; equal minima share the gradient.

    Returns:
        The minima, in the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.min(paddle.to_tensor([[1, 5], [3, 4]]), axis=1).tolist()
        [1, 3]
    """
    return jnp.min(x, axis=axes(axis), keepdims=keepdim)


@op(methods=["amax"])
@scalar_as_vector
def amax(x: Array, /, axis: Axis = None, keepdim: bool = False) -> Any:
    """Compute the maximum over the given dimensions; equal maxima share the gradient.

    Returns:
        The maxima, in the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amax(paddle.to_tensor([[1, 5], [3, 4]])).item()
        5
    """
    return jnp.max(x, axis=axes(axis), keepdims=keepdim)


@op(methods=["amin"])
@scalar_as_vector
def amin(x: Array, /, axis: Axis = None, keepdim: bool = False) -> Any:
    """Compute the minimum over the given dimensions; equal minima share the gradient.

    Returns:
        The minima, in the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amin(paddle.to_tensor([[1, 5], [3, 4]])).item()
        1
    """
    return jnp.min(x, axis=axes(axis), keepdims=keepdim)


@op(methods=["prod"], amp="black", out_first=True)
@scalar_as_vector
def prod(x: Array, /, axis: Axis = None, keepdim: bool = False, dtype: DTypeLike = None) -> Any:
    """Compute the product of the elements over the given dimensions.

    Returns:
        The products, in the dtype of `x` (int64 for booleans) unless `dtype` is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.prod(paddle.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
        [2, 12]
    """
    kind = numpy_dtype(dtype) or (jnp.int64 if x.dtype == bool else x.dtype)
    return jnp.prod(x, axis=axes(axis), dtype=kind, keepdims=keepdim)


@op(methods=["all"], grad=False)
@scalar_as_vector
def all(x: Array, /, axis: Axis = None, keepdim: bool = False) -> Any:
    """Test whether all elements over the given dimensions are true (logical AND).

    Returns:
        A boolean tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.all(paddle.to_tensor([[True, False], [True, True]]), axis=1).tolist()
        [False, True]
    """
    return jnp.all(x.astype(bool), axis=axes(axis), keepdims=keepdim)


@op(methods=["any"], grad=False)
@scalar_as_vector
def any(x: Array, /, axis: Axis = None, keepdim: bool = False) -> Any:
    """Test whether any element over the given dimensions is true (logical OR).

    Returns:
        A boolean tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.any(paddle.to_tensor([[True, False], [False, False]]), axis=1).tolist()
        [True, False]
    """
    return jnp.any(x.astype(bool), axis=axes(axis), keepdims=keepdim)


@op(methods=["count_nonzero"], grad=False)
@scalar_as_vector
def count_nonzero(x: Array, /, axis: Axis = None, keepdim: bool = False) -> Any:
    """Count the nonzero elements over the given dimensions.

    Returns:
        The counts, int64.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.count_nonzero(paddle.to_tensor([0, 1, 2])).item()
        2
    """
    return jnp.count_nonzero(x, axis=axes(axis), keepdims=keepdim)


@op(methods=["logsumexp"])
@scalar_as_vector
def logsumexp(x: Array, /, axis: Axis = None, keepdim: bool = False) -> Any:
    """Compute `log(sum(exp(x)))` over the given dimensions without overflow.

    Returns:
        A floating-point tensor without the reduced dimensions, or with size 1 there if `keepdim`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.logsumexp(paddle.to_tensor([0.0, 0.0])).item():.4f}"
        '0.6931'
    """
    return jax.nn.logsumexp(floating(x), axis=axes(axis), keepdims=keepdim)


def _along(x: Any, axis: int | None) -> tuple[Any, int]:
    """Return `x` and its axis, counted from 0; for None, the flattened tensor and 0."""
    return (x.reshape(-1), 0) if axis is None else (x, from_start(axis, x.ndim) if x.ndim else 0)


@op(methods=["cumsum"], inplace="cumsum_", amp="black")
@scalar_as_vector
def cumsum(x: Array, /, axis: int | None = None, dtype: DTypeLike = None) -> Any:
    """Compute the cumulative sum along a dimension.

    Returns:
        The running sums, with the shape of `x`; 1-D if `axis` is None. The dtype is chosen as by `sum()`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cumsum(paddle.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
        [[1, 3], [3, 7]]
    """
    kind = _sum_dtype(x, dtype)
    x, axis = _along(x, axis)
    return jnp.cumsum(x, axis=axis, dtype=kind)


@op(methods=["cumprod"], inplace="cumprod_", amp="black")
@scalar_as_vector
def cumprod(x: Array, /, dim: int | None = None, dtype: DTypeLike = None) -> Any:
    """Compute the cumulative product along a dimension.

    Returns:
        The running products, with the shape of `x`; 1-D if `dim` is None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cumprod(paddle.to_tensor([1, 2, 3]), dim=0).tolist()
        [1, 2, 6]
    """
    x, axis = _along(x, dim)
    return jnp.cumprod(x, axis=axis, dtype=numpy_dtype(dtype) or x.dtype)


@op(methods=["logcumsumexp"])
@scalar_as_vector
def logcumsumexp(x: Array, /, axis: int | None = None, dtype: DTypeLike = None) -> Any:
    """Compute `log(cumsum(exp(x)))` along a dimension without overflow.

    Returns:
        A floating-point tensor with the shape of `x`; 1-D if `axis` is None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f"{paddle.logcumsumexp(paddle.to_tensor([0.0, 0.0]))[1].item():.4f}"
        '0.6931'
    """
    x = floating(x if dtype is None else x.astype(numpy_dtype(dtype)))
    x, axis = _along(x, axis)
    return jax.lax.cumlogsumexp(x, axis)


def _latest(best: Any, x: Any, axis: int, dtype: Any) -> Any:
    """Return the last index at which each running extreme occurred."""
    here = jax.lax.broadcasted_iota(numpy_dtype(dtype), x.shape, axis)
    return jax.lax.cummax(jnp.where(x == best, here, 0), axis)


@op(methods=["cummax"])
@scalar_as_vector
def cummax(x: Array, /, axis: int | None = None, dtype: DTypeLike = "int64") -> Any:
    """Compute the cumulative maximum along a dimension, with the index of each maximum.

    Returns:
        (values, indices): the running maxima and the last positions where they occur, in the shape of `x` (1-D if
        `axis` is None); the indices have the dtype `dtype`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [out.tolist() for out in paddle.cummax(paddle.to_tensor([1, 3, 2]))]
        [[1, 3, 3], [0, 1, 1]]
    """
    x, axis = _along(x, axis)
    best = jax.lax.cummax(x, axis)
    return best, _latest(best, x, axis, dtype)


@op(methods=["cummin"])
@scalar_as_vector
def cummin(x: Array, /, axis: int | None = None, dtype: DTypeLike = "int64") -> Any:
    """Compute the cumulative minimum along a dimension, with the index of each minimum.

    Returns:
        (values, indices): the running minima and the last positions where they occur, in the shape of `x` (1-D if
        `axis` is None); the indices have the dtype `dtype`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [out.tolist() for out in paddle.cummin(paddle.to_tensor([3, 1, 2]))]
        [[3, 1, 1], [0, 1, 1]]
    """
    x, axis = _along(x, axis)
    best = jax.lax.cummin(x, axis)
    return best, _latest(best, x, axis, dtype)


@op(methods=["reduce_as"])
def reduce_as(x: Array, target: Array, /) -> Any:
    """Sum `x` down to the shape of `target`: the adjoint of broadcasting.

    Returns:
        The sums, with the shape of `target` and the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.reduce_as(paddle.ones([2, 3]), paddle.zeros([3])).tolist()
        [2.0, 2.0, 2.0]
    """
    lead = x.ndim - target.ndim
    x = jnp.sum(x, axis=tuple(range(lead)))
    kept = tuple([i for i, (n, m) in enumerate(zip(x.shape, target.shape, strict=True)) if n != m])
    return jnp.sum(x, axis=kept, keepdims=True)
