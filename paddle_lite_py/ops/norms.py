"""Norms and distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..core.jax_compat.sizes import is_known
from ..core.no_effect import Immaterial, no_effect
from ..dispatch.call_cache import call_cached
from ..dispatch.codegen import into
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .promote import axes, floating, from_start, numpy_dtype, promote_floating, scalar_as_vector
from .subgradients import magnitude
from .svd import singular_values
from .types import Array, Axis, DTypeLike

__all__ = ["cdist", "dist", "matrix_norm", "norm", "pdist", "renorm", "vector_norm"]


def root(x: Any) -> Any:
    """Square root with gradient 0 (not infinite) at 0."""
    return jnp.where(x == 0, 0, jnp.sqrt(jnp.where(x == 0, 1, x)))


def _magnitude(x: Any, p: float, axis: Any, keepdim: bool) -> Any:
    """Return the p-norm of vectors along axes."""
    size = magnitude(x)
    if p == float("inf"):
        return jnp.max(size, axis=axis, keepdims=keepdim)
    if p == float("-inf"):
        return jnp.min(size, axis=axis, keepdims=keepdim)
    if p == 0:
        return jnp.sum((size != 0).astype(size.dtype), axis=axis, keepdims=keepdim)
    if p == 1:
        return jnp.sum(size, axis=axis, keepdims=keepdim)
    if p == 2:
        return root(jnp.sum(jnp.real(x * jnp.conj(x)), axis=axis, keepdims=keepdim))
    total = jnp.sum(size**p, axis=axis, keepdims=keepdim)
    return jnp.where(total == 0, 0, jnp.where(total == 0, 1, total) ** (1 / p))


@op(name="p_norm", amp="black")
@scalar_as_vector
def _vector(x: Any, /, p: float, axis: Any, keepdim: bool, dtype: Any = None) -> Any:
    x = floating(x if dtype is None else x.astype(numpy_dtype(dtype)))
    return _magnitude(x, p, axes(axis), keepdim)


@op(name="matrix_norm", amp="black")
def _matrix(x: Any, /, p: Any, axis: tuple[int, int], keepdim: bool) -> Any:
    return of_matrices(x, p, axis, keepdim)


def of_matrices(x: Any, p: Any, axis: tuple[int, int], keepdim: bool = False) -> Any:
    """Norms of the matrices that two axes of an array hold."""
    if p == "fro":
        return _magnitude(x, 2.0, axis, keepdim)
    x, (row, column) = floating(x), axis
    if p in (1, -1, float("inf"), float("-inf")):
        over, along = (row, column) if p in (1, -1) else (column, row)
        sums = jnp.sum(magnitude(x), axis=over, keepdims=True)
        out = (jnp.max if p > 0 else jnp.min)(sums, axis=along, keepdims=True)
    else:
        values = singular_values(jnp.moveaxis(x, axis, (-2, -1)))
        reduced = jnp.sum(values, -1) if p == "nuc" else jnp.max(values, -1) if p == 2 else jnp.min(values, -1)
        out = jnp.expand_dims(reduced, tuple([from_start(a, x.ndim) for a in axis]))
    return out if keepdim else jnp.squeeze(out, axis)


@composite(methods=["norm"], around=call_cached("x"))
def norm(
    x: Tensor,
    p: float | str | None = None,
    axis: Axis = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: DTypeLike = None,
    name: str | None = None,
) -> Any:
    """Compute a vector or matrix norm.

    Arguments:
        p: None or "fro": root of the sum of squares; "nuc": sum of the singular values; a number, inf or -inf: the
            p-norm. Default: None.
        axis: int: vector norm along it; two ints: matrix norm; None: of the flattened tensor.

    Returns:
        The norms, without the dimensions in `axis`, or with size 1 there if `keepdim`.

    Raises:
        ValueError: if `p` is not defined for these dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.norm(paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    axis = tuple(axis) if isinstance(axis, list | tuple) else axis
    if p == "nuc" and axis is None and x.ndim == 2:
        axis = (0, 1)
    if isinstance(axis, tuple) and len(axis) == 2 and p not in (None, "fro", 0):
        found = matrix_norm(x, p, axis, keepdim)
    elif isinstance(p, str) and p != "fro":
        raise ValueError(f"norm(): p is {p!r} with axis={axis}; 'nuc' needs two axes, of matrices")
    else:
        found = _vector(x, 2.0 if p in (None, "fro") else float(p), axis, keepdim, dtype)
    return found if out is None else into(out, found)


@composite(methods=["vector_norm"], around=call_cached("x"))
def vector_norm(
    x: Tensor,
    p: float = 2.0,
    axis: Axis = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike = None,
) -> Any:
    """Compute the p-norm of vectors: `sum(|x| ** p) ** (1 / p)`.

    Returns:
        The norms; 0-D if `axis` is None and `keepdim` is False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.vector_norm(paddle.to_tensor([3.0, 4.0]), 1).item()
        7.0
    """
    return _vector(x, float(p), axis, keepdim, dtype)


@composite(methods=["matrix_norm"], around=call_cached("x"))
def matrix_norm(
    x: Tensor,
    p: float | str = "fro",
    axis: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike = None,
) -> Any:
    """Compute a matrix norm.

    Arguments:
        p: "fro", "nuc", 1, -1, 2, -2, inf or -inf. Default: "fro".
        axis: two ints, the dimensions of rows and columns. Default: (-2, -1).

    Returns:
        The norms, without the two dimensions, or with size 1 there if `keepdim`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.matrix_norm(paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]]), "nuc").item()
        7.0
    """
    known = ("fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf"))
    if p not in known:
        raise ValueError(f"matrix_norm(): p is {p!r}; expected one of {known}")
    x = x if dtype is None else x.astype(dtype)
    return _vector(x, 2.0, tuple(axis), keepdim) if p == "fro" else _matrix(x, p, tuple(axis), keepdim)


@op(methods=["dist"], amp="black")
def dist(x: Array, y: Array, /, p: float = 2) -> Any:
    """Compute the p-norm of `x - y`.

    Returns:
        A 0-D tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.dist(paddle.to_tensor([0.0, 0.0]), paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    x, y = promote_floating(x, y)
    return _magnitude(x - y, p, None, False)


@op
def cdist(x: Array, y: Array, /, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """Compute the p-norm distance between each row of `x` and each row of `y`.

    Arguments:
        compute_mode: for p = 2: "use_mm_for_euclid_dist" uses a matrix product; "donot_use_mm_for_euclid_dist" takes
            differences; the default uses a product for more than 25 rows (or an unknown number).

    Returns:
        A tensor [..., m, n] for `x` [..., m, d] and `y` [..., n, d].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cdist(paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])).tolist()
        [[5.0]]
    """
    x, y = promote_floating(x, y)
    rows = [n for n in (x.shape[-2], y.shape[-2]) if is_known(n)]
    many = compute_mode == "use_mm_for_euclid_dist_if_necessary" and (len(rows) < 2 or max(rows) > 25)
    if p == 2 and (many or compute_mode == "use_mm_for_euclid_dist"):
        xx, yy = jnp.sum(x * x, -1)[..., :, None], jnp.sum(y * y, -1)[..., None, :]
        return root(jnp.maximum(xx + yy - 2 * (x @ jnp.swapaxes(y, -1, -2)), 0))
    return _magnitude(x[..., :, None, :] - y[..., None, :, :], p, -1, False)


@op
@no_effect(compute_mode=Immaterial("the precise way is taken"))
def pdist(x: Array, /, p: float = 2.0, *, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """Compute the p-norm distances between all pairs of rows of a matrix.

    Returns:
        A 1-D tensor of length `n * (n - 1) / 2`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.pdist(paddle.to_tensor([[0.0, 0.0], [3.0, 4.0]])).tolist()
        [5.0]
    """
    i, j = jnp.triu_indices(x.shape[0], 1)
    return _magnitude(x[i] - x[j], p, -1, False)


@op(methods=["renorm"], inplace="renorm_", amp="black")
def renorm(x: Array, /, p: float, axis: int, max_norm: float) -> Any:
    """Scale down the slices along a dimension whose p-norm exceeds `max_norm`.

    Returns:
        A tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.renorm(paddle.to_tensor([[3.0, 4.0], [0.1, 0.0]]), 2.0, 0, 1.0)[1].tolist() == [
        ...     paddle.to_tensor(0.1).item(), 0.0]
        True
    """
    along = from_start(axis, x.ndim)
    others = tuple([i for i in range(x.ndim) if i != along])
    size = _magnitude(x, p, others, True)
    return x * jnp.where(size > max_norm, max_norm / jnp.where(size > 0, size, 1), 1).astype(x.dtype)
