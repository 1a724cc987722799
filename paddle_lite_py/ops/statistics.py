"""Statistics: variance, order statistics, covariance, histograms."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from . import ordering
from .creation import evenly_spaced
from .dynamic import concrete, fresh, is_eager, known
from .manipulation import as_tuple
from .on_host import HostResult, on_host
from .promote import axes, floating, from_start, is_inexact, scalar_as_vector, single
from .types import Array, Axis

__all__ = [
    *(
        "bincount",
        "corrcoef",
        "cov",
        "histogram",
        "histogram_bin_edges",
        "histogramdd",
        "kthvalue",
        "median",
        "mode",
        "nanmedian",
    ),
    *("nanquantile", "quantile", "std", "var"),
]


@op(methods=["var"])
@scalar_as_vector
def var(
    x: Array, /, axis: Axis = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: int = 1
) -> Any:
    """Compute the variance over the given dimensions: `sum((x - mean) ** 2) / (n - correction)`.

    Arguments:
        axis: int or list of ints, the dimensions to reduce; None reduces all.
        unbiased: True: divide by n - 1; False: by n. Default: True.
        correction: number subtracted from n, if `unbiased` is not given. Default: 1.

    Returns:
        The variances, in the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1.0, 2.0, 3.0])
        >>> paddle.var(x).item(), round(paddle.var(x, unbiased=False).item(), 4)
        (1.0, 0.6667)
    """
    less = correction if unbiased is None else int(unbiased)
    out = jnp.var(floating(x), axis=axes(axis), ddof=less, keepdims=keepdim)
    return out if is_inexact(x) else out.astype(x.dtype)


@op(methods=["std"])
@scalar_as_vector
def std(x: Array, /, axis: Axis = None, unbiased: bool = True, keepdim: bool = False) -> Any:
    """Compute the standard deviation over the given dimensions: the square root of `var()`.

    Returns:
        The standard deviations, in the dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.std(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    return jnp.sqrt(jnp.var(floating(x), axis=axes(axis), ddof=int(unbiased), keepdims=keepdim))


@composite(methods=["median"], around=call_cached("x"))
def median(x: Tensor, axis: Axis = None, keepdim: bool = False, mode: str = "avg") -> Any:
    """Compute the median over a dimension; NaN if there is a NaN.

    Arguments:
        mode: "avg": the mean of the two middle elements; "min": the lower one, with its index if `axis` is given.
            Default: "avg".

    Returns:
        The medians; (medians, indices) for mode "min" with an `axis`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.median(paddle.to_tensor([1.0, 2.0, 3.0, 4.0])).item()
        2.5
    """
    if mode not in ("avg", "min"):
        raise ValueError(f"median(): mode is {mode!r}; expected 'avg' or 'min'")
    if mode == "avg":
        return _middle(x, axis, keepdim)
    out, index = _lower_middle(x, axis, keepdim)
    return (out, index) if isinstance(axis, int) else out


@op(name="_median")
@scalar_as_vector
def _middle(x: Any, /, axis: Any, keepdim: bool) -> Any:
    if not x.size:
        return jnp.full(jnp.mean(x, axis=axes(axis), keepdims=keepdim).shape, jnp.nan, single(x).dtype)
    flat, shape = _flatten(single(x), axis, keepdim)
    ordered, n = ordering.sort(flat, -1), flat.shape[-1]
    middle = (ordered[..., (n - 1) // 2] + ordered[..., n // 2]) / 2
    return jnp.where(jnp.isnan(ordered[..., -1]), jnp.nan, middle).reshape(shape)


@op(name="_median_min")
@scalar_as_vector
def _lower_middle(x: Any, /, axis: Any, keepdim: bool) -> Any:
    # NaN sorts last; take the first NaN if there is one.
    def rank(flat: Any) -> Any:
        last = jnp.sum(~jnp.isnan(flat), -1, keepdims=True)
        return jnp.where(last < flat.shape[-1], last, (flat.shape[-1] - 1) // 2)

    return _pick(x, axis, keepdim, rank)


@op(name="_nanmedian_min")
@scalar_as_vector
def _lower_middle_of_numbers(x: Any, /, axis: Any, keepdim: bool) -> Any:
    # NaN sorts last, so the numbers come first.
    return _pick(x, axis, keepdim, lambda flat: jnp.maximum((jnp.sum(~jnp.isnan(flat), -1, keepdims=True) - 1) // 2, 0))


def _pick(x: Any, axis: Any, keepdim: bool, rank: Any) -> tuple[Any, Any]:
    """Return the element of a rank in sorted order, and its index; `rank(flat)` gives the rank."""
    flat, shape = _flatten(x, axis, keepdim)
    k, order = rank(flat), ordering.argsort(flat, -1)
    order = order[..., k : k + 1] if isinstance(k, int) else jnp.take_along_axis(order, k, -1)
    out = jnp.take_along_axis(flat, order, -1)
    return out.reshape(shape), order.astype(jnp.int64).reshape(shape)


def _flatten(x: Any, axis: Any, keepdim: bool) -> tuple[Any, list[Any]]:
    """Return `x` with these axes merged into a last one, and the shape after reducing it."""
    axis = tuple([from_start(a, x.ndim) for a in (range(x.ndim) if axis is None else as_tuple(axis))])
    rest = [i for i in range(x.ndim) if i not in axis]
    flat = jnp.transpose(x, (*rest, *axis)).reshape(*[x.shape[i] for i in rest], math.prod([x.shape[i] for i in axis]))
    return flat, [1 if i in axis else n for i, n in enumerate(x.shape)] if keepdim else [x.shape[i] for i in rest]


@op(methods=["kthvalue"])
@scalar_as_vector
def kthvalue(x: Array, /, k: int, axis: int | None = None, keepdim: bool = False) -> Any:
    """Return the k-th smallest element along a dimension (default: the last) and its index.

    Returns:
        (values, indices): tensors without the dimension `axis`, or with size 1 there if `keepdim`; the indices are
        int64.

    Raises:
        ValueError: if k is not between 1 and the size of the axis.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [out.item() for out in paddle.kthvalue(paddle.to_tensor([1.0, 3.0, 2.0]), 2)]
        [2.0, 2]
    """
    axis, row = -1 if axis is None else axis, x if x.ndim else x.reshape(1)
    if not 1 <= k <= row.shape[axis]:
        raise ValueError(f"k is {k}; expected 1 to {row.shape[axis]}, the size of axis {axis}")
    found = _pick(row, axis, keepdim, lambda flat: k - 1)
    return found if x.ndim else tuple([a.reshape(()) for a in found])


@op(methods=["mode"])
@scalar_as_vector
def mode(x: Array, /, axis: int = -1, keepdim: bool = False) -> Any:
    """Return the most frequent element along a dimension (the smallest of ties) and its last index.

    Returns:
        (values, indices): tensors without the dimension `axis`, or with size 1 there if `keepdim`; the indices are
        int64.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [out.item() for out in paddle.mode(paddle.to_tensor([1.0, 3.0, 3.0]))]
        [3.0, 2]
    """
    row = jnp.moveaxis(x, axis, -1)
    ordered = ordering.sort(row, -1)
    counts = jnp.sum(ordered[..., :, None] == ordered[..., None, :], -1)
    value = jnp.take_along_axis(ordered, jnp.argmax(counts, -1, keepdims=True), -1)
    n = row.shape[-1]
    index = n - 1 - jnp.argmax((row == value)[..., ::-1], -1, keepdims=True)
    outs = jnp.take_along_axis(row, index, -1), index.astype(jnp.int64)
    return tuple([jnp.moveaxis(o, -1, axis) if keepdim else o[..., 0] for o in outs])


@op(name="quantile")
def _quantile(
    x: Any, traced: Any = None, /, q: Any = None, axis: Any = None, keepdim: Any = False, how: Any = "linear"
) -> Any:
    x = floating(x)
    return jnp.quantile(
        x, jnp.asarray(q if traced is None else traced, x.dtype), axes(axis), keepdims=keepdim, method=how
    )


@op(name="nanquantile")
def _nanquantile(
    x: Any, traced: Any = None, /, q: Any = None, axis: Any = None, keepdim: Any = False, how: Any = "linear"
) -> Any:
    x = floating(x)
    q = jnp.asarray(q if traced is None else traced, x.dtype)
    return jnp.nanquantile(x, q, axes(axis), keepdims=keepdim, method=how)


def _shares(q: Any) -> tuple[Any, Any]:
    """Return q as a tensor whose values only a run of the program knows, or as numbers; the other one is None."""
    if isinstance(q, Tensor) and not is_eager():
        return q, None
    q = q.tolist() if isinstance(q, Tensor | np.ndarray) else q
    if not np.size(q) or not all(0 <= each <= 1 for each in np.ravel(q)):
        raise ValueError(f"q is {q}; expected numbers from 0 to 1")
    return None, q


@composite(methods=["quantile"])
def quantile(x: Tensor, q: Any, axis: Axis = None, keepdim: bool = False, interpolation: str = "linear") -> Any:
    """Compute quantiles over the given dimensions.

    Arguments:
        q: float in [0, 1], or list or tensor of them.
        interpolation: between two elements: "linear", "lower", "higher", "midpoint" or "nearest". Default: "linear".

    Returns:
        The quantiles; a list `q` adds a first dimension of its length.

    Raises:
        ValueError: if a number of `q` that is known is not in [0, 1], or there is none.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.quantile(paddle.to_tensor([0.0, 1.0, 2.0, 3.0, 4.0]), [0.25, 0.5, 0.75]).tolist()
        [1.0, 2.0, 3.0]
    """
    traced, known_q = _shares(q)
    return _quantile(x, traced, known_q, axis, keepdim, interpolation)


@composite(methods=["nanquantile"])
def nanquantile(x: Tensor, q: Any, axis: Axis = None, keepdim: bool = False, interpolation: str = "linear") -> Any:
    """Compute quantiles over the given dimensions, ignoring NaN; arguments as for `quantile()`.

    Returns:
        The quantiles; a list `q` adds a first dimension of its length.

    Raises:
        ValueError: if a number of `q` that is known is not in [0, 1], or there is none.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nanquantile(paddle.to_tensor([1.0, float("nan"), 3.0]), 0.5).item()
        2.0
    """
    traced, known_q = _shares(q)
    return _nanquantile(x, traced, known_q, axis, keepdim, interpolation)


@op(name="_nanmedian")
@scalar_as_vector
def _middle_of_numbers(x: Any, /, axis: Any, keepdim: bool) -> Any:
    if x.size == 0 and axis is None:
        return jnp.full((1,) * x.ndim if keepdim else (), jnp.nan, floating(x).dtype)
    return jnp.nanmedian(floating(x), axis=axes(axis), keepdims=keepdim)


@composite(methods=["nanmedian"], around=call_cached("x"))
def nanmedian(x: Tensor, axis: Axis = None, keepdim: bool = False, mode: str = "avg") -> Any:
    """Compute the median over the given dimensions, ignoring NaN; arguments as for `median()`.

    Returns:
        The medians; (medians, indices) for mode "min" with an `axis`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nanmedian(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
        2.0
    """
    if mode not in ("avg", "min"):
        raise ValueError(f"nanmedian(): mode is {mode!r}; expected 'avg' or 'min'")
    if mode == "avg":
        return _middle_of_numbers(x, axis, keepdim)
    out, index = _lower_middle_of_numbers(x, axis, keepdim)
    return (out, index) if isinstance(axis, int) else out


@op(name="cov")
def _cov(x: Any, fweights: Any = None, aweights: Any = None, /, rowvar: bool = True, ddof: bool = True) -> Any:
    return jnp.cov(x, rowvar=rowvar, ddof=int(ddof), fweights=fweights, aweights=aweights).astype(x.dtype)


@composite(methods=["cov"], around=call_cached("x", "fweights", "aweights"))
def cov(
    x: Tensor, rowvar: bool = True, ddof: bool = True, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Any:
    """Estimate the covariance matrix of variables.

    Arguments:
        rowvar: each row is a variable (True), or each column. Default: True.
        ddof: divide by n - 1 (True) or by n (False). Default: True.
        fweights, aweights: 1-D tensors, integer frequency and relative weight of each observation; None: 1.

    Returns:
        A matrix [variables, variables].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.cov(paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])).tolist()
        [[0.5, 1.0], [1.0, 2.0]]
    """
    return _cov(x, fweights, aweights, rowvar, ddof)


@op(methods=["corrcoef"])
def corrcoef(x: Array, /, rowvar: bool = True) -> Any:
    """Compute the Pearson correlation matrix of variables, one per row (or column).

    Returns:
        A matrix [variables, variables].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.corrcoef(paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])).round().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    return jnp.corrcoef(x, rowvar=rowvar).astype(x.dtype)


@composite(methods=["bincount"])
def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """Count the occurrences of each non-negative integer, or sum their `weights`.

    The length of the result depends on the data, so a static program needs it known.

    Returns:
        A 1-D tensor of length `max(x) + 1`, at least `minlength`.

    Raises:
        ValueError: if an element or `minlength` is negative, or `weights` has another shape than `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.bincount(paddle.to_tensor([1, 2, 1])).tolist()
        [0, 2, 1]
    """
    if minlength < 0:
        raise ValueError(f"bincount(): minlength is {minlength}; expected at least 0")
    if weights is not None and list(weights.shape) != list(x.shape):
        raise ValueError(f"bincount(): weights has the shape {[*weights.shape]}; expected that of x, {[*x.shape]}")
    if not is_eager() and isinstance(x, Tensor):
        most = (x.max() + 1).clip(min=minlength)
        minlength = known(most, "bincount()", "bincount(x, minlength=n), every number below n")
    else:
        values = concrete(x, "bincount()", "bincount(x, minlength=n), where every number is below n")
        if values.dtype.kind not in "iu" or values.size and values.min() < 0:
            raise ValueError(f"bincount(): x is {x.dtype.name}{[*x.shape]}; expected integers of at least 0")
        minlength = max(minlength, int(values.max()) + 1 if values.size else 0)
    return _bincount(x, weights, minlength)


@op(name="_bincount")
def _bincount(x: Any, weights: Any = None, /, length: int = 0) -> Any:
    ones = jnp.ones(x.shape, jnp.int64) if weights is None else weights
    return jnp.zeros(length, ones.dtype).at[x].add(ones)


@composite(methods=["histogram"], around=call_cached("input", "weight"))
def histogram(
    input: Tensor,
    bins: int = 100,
    min: float = 0.0,
    max: float = 0.0,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Compute the histogram of a tensor with equal bins.

    Arguments:
        min, max: range of the bins; both 0: the range of the data without NaN; equal otherwise: 0.5 to both sides.
            Default: 0.
        weight: tensor with the shape of `input`, summed in each bin; None: 1 per element.
        density: normalize so that the integral over the range is 1. Default: False.

    Returns:
        A 1-D tensor of length `bins`.

    Raises:
        ValueError: bins is below 1, max is below min, or the range of the data is not finite.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.histogram(paddle.to_tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist()
        [0, 2, 1, 0]
    """
    _check_bins(bins, min, max)
    return _histogram(input, weight, bins, min, max, density)


@op(name="_histogram", grad=False)
def _histogram(
    x: Any, weight: Any = None, /, bins: int = 100, low: float = 0, high: float = 0, density: bool = False
) -> Any:
    edges = _edges(x, bins, low, high)
    inside = ((x >= edges[0]) & (x <= edges[-1])).reshape(-1)
    weights = inside if weight is None else jnp.where(inside, weight.reshape(-1), 0)
    out, _ = jnp.histogram(floating(x).reshape(-1), edges, weights=weights.astype(jnp.float64), density=density)
    if density:
        return out.astype(jnp.float32)
    return out.astype(jnp.int64 if weight is None else weight.dtype)


def _check_bins(bins: int, low: float, high: float) -> None:
    if bins < 1 or not low <= high:
        raise ValueError(f"bins is {bins}, min {low} and max {high}; expected 1 bin or more, min <= max")


def _edges(x: Any, bins: int, low: Any, high: Any, kind: Any = None) -> Any:
    x = floating(x)
    kind = kind or x.dtype
    if low == 0 and high == 0 and x.size:
        low, high = jnp.nanmin(x), jnp.nanmax(x)
    same = low == high
    low, high = jnp.where(same, low - 0.5, low), jnp.where(same, high + 0.5, high)
    return evenly_spaced(low.astype(kind), high.astype(kind), bins + 1)


@op(methods=["histogram_bin_edges"], grad=False)
def histogram_bin_edges(input: Array, /, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Any:
    """Compute the bin edges that `histogram()` uses.

    Returns:
        A 1-D tensor of length `bins + 1`.

    Raises:
        ValueError: bins is below 1, max is below min, or the range of the data is not finite.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.histogram_bin_edges(paddle.to_tensor([0.0, 2.0]), bins=2).tolist()
        [0.0, 1.0, 2.0]
    """
    _check_bins(bins, min, max)
    return _edges(input, bins, min, max, jnp.float32)


def _counts_and_edges(given: dict[str, Any]) -> Any:
    x, bins = given["x"], given["bins"]
    counts = [bins] * x.shape[1] if isinstance(bins, int) else [n if isinstance(n, int) else len(n) - 1 for n in bins]
    return HostResult(tuple(counts), x.dtype.np), [HostResult((n + 1,), x.dtype.np) for n in counts]


@composite(methods=["histogramdd"])
@on_host(_counts_and_edges)
def histogramdd(
    x: Tensor, bins: Any = 10, ranges: Any = None, density: bool = False, weights: Tensor | None = None
) -> Any:
    """Compute the histogram of points in several dimensions.

    Arguments:
        x: tensor [N, D], one point per row.
        bins: int, or list of D ints, the number of bins in each dimension. Default: 10.
        ranges: list of 2 * D floats, the lower and upper bound of each dimension; None: the range of the data.

    Returns:
        (hist, edges): a tensor of D dimensions, and a list of D edge tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> counts, edges = paddle.histogramdd(paddle.to_tensor([[0.0, 0.0], [1.0, 1.0]]), bins=[2, 2])
        >>> counts.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    points = concrete(x, "histogramdd()", "histogram() of one dimension")
    if points.ndim != 2:
        raise ValueError(f"histogramdd(): x has the shape {[*points.shape]}; expected [points, dimensions]")
    bounds = None if ranges is None else list(zip(ranges[::2], ranges[1::2], strict=True))
    weight = None if weights is None else concrete(weights, "histogramdd()", "histogram() of one dimension")
    counts, edges = np.histogramdd(points, bins, bounds, density, weight)
    return fresh(counts.astype(points.dtype)), [fresh(e.astype(points.dtype)) for e in edges]
