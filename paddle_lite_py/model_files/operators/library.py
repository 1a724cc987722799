"""Operators that are functions of the library: values, indices, statistics, factorizations."""

from __future__ import annotations

import math
from typing import Any

from ... import linalg as _linalg
from ...nn import functional as _functional
from ...nn.norm import spectral_norm as normalized
from ...ops.top_p import top_p_sampling as _top_p_sampling
from .table import P, number, numbers, operator, same, tensor
from .values import _listed

F: Any = _functional
L: Any = _linalg

same("equal_all gammaincc is_empty reduce_as poisson binomial standard_gamma".split(), P, rint="round")
same(["eigvals", "svdvals"], L)
_SAME_VALUE = "memcpy memcpy_d2h memcpy_d2h_multi_io memcpy_h2d npu_identity nop depend c_identity copy_to trans_layout"
for _name in _SAME_VALUE.split():
    operator(_name)(lambda x, *_: x)


# Of tensors and attributes in this order, by the function of that name.
_IN_ORDER: dict[str, tuple[Any, str]] = {
    "baddbmm": (P, "beta alpha"),
    "bitwise_left_shift": (P, "is_arithmetic"),
    "bitwise_right_shift": (P, "is_arithmetic"),
    "log_loss": (F, "epsilon"),
    "lu_unpack": (L, "unpack_ludata unpack_pivots"),
    "polygamma": (P, "n"),
    "renorm": (P, "p axis max_norm"),
}


def _in_order(name: str, room: Any, attributes: list[str]) -> None:
    @operator(name)
    def compute(*operands: Any, **attrs: Any) -> Any:
        given = [attrs[a] for a in attributes if a in attrs]
        return getattr(room, name)(*map(tensor, operands), *given)


for _name, (_room, _attributes) in _IN_ORDER.items():
    _in_order(_name, _room, _attributes.split())


@operator("allclose")
def allclose(x: Any, y: Any, rtol: Any, atol: Any, *, equal_nan: bool = False) -> Any:
    return P.allclose(tensor(x), tensor(y), float(number(rtol)), float(number(atol)), equal_nan)


@operator("isclose")
def isclose(x: Any, y: Any, rtol: Any, atol: Any, *, equal_nan: bool = False) -> Any:
    return P.isclose(tensor(x), tensor(y), float(number(rtol)), float(number(atol)), equal_nan)


@operator("broadcast_tensors")
def broadcast_tensors(values: Any) -> Any:
    return [P.broadcast_tensors(tensor(values))]


@operator("multi_dot")
def multi_dot(values: Any) -> Any:
    return L.multi_dot(tensor(values))


@operator("crop")
def crop(x: Any, shape: Any, offsets: Any) -> Any:
    return P.crop(tensor(x), _listed(shape), _listed(offsets))


@operator("empty", "zeros")
def empty(size: Any = None, *, shape: Any = (), dtype: str | None = None) -> Any:
    return P.zeros(list(shape) if size is None else _listed(size), dtype or "float32")


@operator("ones")
def ones(size: Any = None, *, shape: Any = (), dtype: str | None = None) -> Any:
    return P.ones(list(shape) if size is None else _listed(size), dtype or "float32")


@operator("ones_like")
def ones_like(x: Any, *, dtype: str | None = None) -> Any:
    return P.ones_like(tensor(x), dtype)


@operator("empty_like")
def empty_like(x: Any, *, dtype: str | None = None) -> Any:
    return P.zeros_like(tensor(x), dtype)


@operator("full_batch_size_like")
def full_batch_size_like(
    like: Any, *, shape: Any, value: float, dtype: str | None = None, input_dim_idx: int = 0, output_dim_idx: int = 0
) -> Any:
    sizes = list(shape)
    sizes[output_dim_idx] = tensor(like)._payload.shape[input_dim_idx]
    return P.full(sizes, value, dtype or "float32")


@operator("logspace")
def logspace(start: Any, stop: Any, count: Any, base: Any, *, dtype: str | None = None) -> Any:
    return P.logspace(number(start), number(stop), number(count), number(base), dtype or "float32")


@operator("tril_indices")
def tril_indices(*, rows: int, cols: int, offset: int = 0, dtype: str | None = None) -> Any:
    return P.tril_indices(rows, cols, offset, dtype or "int64")


@operator("triu_indices")
def triu_indices(*, row: int, col: int, offset: int = 0, dtype: str | None = None) -> Any:
    return P.triu_indices(row, col, offset, dtype or "int64")


@operator("fill")
def fill(x: Any, value: Any) -> Any:
    return P.full_like(tensor(x), number(value))


@operator("fill_diagonal")
def fill_diagonal(x: Any, *, value: float = 0.0, offset: int = 0, wrap: bool = False) -> Any:
    return P.assign(tensor(x)).fill_diagonal_(value, offset, wrap)


@operator("fill_diagonal_tensor")
def fill_diagonal_tensor(x: Any, y: Any, *, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonals may have a first axis of one."""
    x, y = tensor(x), tensor(y)
    return P.fill_diagonal_tensor(x, P.squeeze(y, 0) if y.ndim == x.ndim else y, offset, dim1, dim2)


@operator("reverse")
def reverse(x: Any, axis: Any) -> Any:
    return P.flip(tensor(x), numbers(axis))


@operator("view_shape")
def view_shape(x: Any, *, dims: Any) -> Any:
    return P.reshape(tensor(x), list(dims))


@operator("view_dtype")
def view_dtype(x: Any, *, dtype: str) -> Any:
    return P.view(tensor(x), dtype)


@operator("view_slice")
def view_slice(x: Any, *, begin_idx: int, end_idx: int) -> Any:
    return tensor(x)[begin_idx:end_idx]


@operator("trunc_divide")
def trunc_divide(x: Any, y: Any) -> Any:
    return P.trunc(tensor(x) / tensor(y))


@operator("l1_norm")
def l1_norm(x: Any) -> Any:
    return P.sum(P.abs(tensor(x)))


@operator("identity_loss")
def identity_loss(x: Any, *, reduction: int = 1) -> Any:
    return {0: P.sum, 1: P.mean}.get(reduction, P.assign)(tensor(x))


@operator("soft_relu")
def soft_relu(x: Any, *, threshold: float = 40.0) -> Any:
    return P.log(1 + P.exp(P.clip(tensor(x), -threshold, threshold)))


# -- statistics ----------------------------------------------------------------------------------------------------
@operator("std")
def std(x: Any, *, axis: Any = (), keepdim: bool = False, unbiased: bool = True) -> Any:
    return P.std(tensor(x), list(axis) or None, unbiased, keepdim)


@operator("var")
def var(x: Any, *, axis: Any = (), keepdim: bool = False, unbiased: bool = True) -> Any:
    return P.var(tensor(x), list(axis) or None, unbiased, keepdim)


@operator("nansum")
def nansum(x: Any, *, axis: Any = (), dtype: str | None = None, keepdim: bool = False) -> Any:
    return P.nansum(tensor(x), list(axis) or None, dtype, keepdim)


@operator("histogram")
def histogram(
    x: Any, weight: Any = None, *, bins: int = 100, min: float = 0.0, max: float = 0.0, density: bool = False
) -> Any:
    return P.histogram(tensor(x), bins, min, max, tensor(weight), density)


@operator("unique_consecutive")
def unique_consecutive(
    x: Any, *, return_inverse: bool = False, return_counts: bool = False, axis: Any = (), dtype: str | None = None
) -> Any:
    found = P.unique_consecutive(
        tensor(x), return_inverse, return_counts, list(axis)[0] if len(axis) else None, dtype or "int64"
    )
    rest = iter(found[1:] if isinstance(found, tuple | list) else ())
    first = found[0] if isinstance(found, tuple | list) else found
    return (first, *[next(rest) if wanted else None for wanted in (return_inverse, return_counts)])


def _extreme(name: str) -> None:
    @operator(f"{name}_with_index")
    def compute(x: Any, *, dim: int, keepdim: bool = False, flatten: bool = False) -> Any:
        x, axis = (P.flatten(tensor(x)), 0) if flatten else (tensor(x), dim)
        return getattr(P, name)(x, axis, keepdim), getattr(P, f"arg{name}")(x, axis, keepdim)


_extreme("max")
_extreme("min")


# -- factorizations ------------------------------------------------------------------------------------------------
@operator("svd")
def svd(x: Any, *, full_matrices: bool = False) -> Any:
    return tuple(L.svd(tensor(x), full_matrices))


@operator("qr")
def qr(x: Any, *, mode: str = "reduced") -> Any:
    found = L.qr(tensor(x), mode)
    return (None, found) if mode == "r" else tuple(found)


@operator("eig")
def eig(x: Any) -> Any:
    return tuple(L.eig(tensor(x)))


@operator("eigh")
def eigh(x: Any, *, UPLO: str = "L") -> Any:  # noqa: N803  (the attribute's name)
    return tuple(L.eigh(tensor(x), UPLO))


@operator("eigvalsh")
def eigvalsh(x: Any, *, uplo: str = "L") -> Any:
    return L.eigvalsh(tensor(x), uplo), None


@operator("lu")
def lu(x: Any, *, pivot: bool = True) -> Any:
    return tuple(L.lu(tensor(x), pivot, get_infos=True))


@operator("lu_solve")
def lu_solve(b: Any, factors: Any, pivots: Any, *, trans: str = "N") -> Any:
    return L.lu_solve(*map(tensor, (b, factors, pivots)), trans)


@operator("lstsq")
def lstsq(x: Any, y: Any, rcond: Any = None, *, driver: str = "gels") -> Any:
    return tuple(L.lstsq(tensor(x), tensor(y), None if rcond is None else number(rcond), driver))


@operator("slogdet")
def slogdet(x: Any) -> Any:
    found = L.slogdet(tensor(x))
    return found if not isinstance(found, tuple | list) else P.stack(list(found))


@operator("slogdet_v2")
def slogdet_v2(x: Any) -> Any:
    return tuple(P.unstack(slogdet(x)))


@operator("matrix_rank")
def matrix_rank(
    x: Any, given: Any = None, *, tol: float = 0.0, use_default_tol: bool = True, hermitian: bool = False
) -> Any:
    least = tensor(given) if given is not None else None if use_default_tol else tol
    return L.matrix_rank(tensor(x), least, hermitian)


@operator("matrix_rank_tol")
def matrix_rank_tol(x: Any, tol: Any, *, hermitian: bool = False) -> Any:
    return L.matrix_rank(tensor(x), tensor(tol), hermitian)


@operator("matrix_rank_atol_rtol")
def matrix_rank_atol_rtol(x: Any, atol: Any, rtol: Any = None, *, hermitian: bool = False) -> Any:
    return L.matrix_rank(tensor(x), None, hermitian, tensor(atol), tensor(rtol))


@operator("spectral_norm")
def spectral_norm(weight: Any, u: Any, v: Any, *, dim: int = 0, power_iters: int = 1, eps: float = 1e-12) -> Any:
    weight, u, v = map(tensor, (weight, u, v))
    return normalized(weight, u, v, dim, power_iters, eps)[0]


# -- views, ranges, parts ------------------------------------------------------------------------------------------
@operator("as_strided")
def as_strided(x: Any, *, dims: Any, stride: Any, offset: int = 0) -> Any:
    return P.as_strided(tensor(x), list(dims), list(stride), offset)


@operator("index_select_strided")
def index_select_strided(x: Any, *, index: int, axis: int = 0) -> Any:
    return P.squeeze(P.index_select(tensor(x), P.full([1], index, "int64"), axis), axis)


@operator("range_v2")
def range_v2(start: Any, end: Any, step: Any, *, dtype: str | None = None) -> Any:
    return P.arange(number(start), number(end), number(step), dtype or "float64")


@operator("shape_broadcast")
def shape_broadcast(x: Any, y: Any) -> Any:
    found = P.broadcast_shape(numbers(x), numbers(y))
    return P.to_tensor(list(found), dtype="int32")


@operator("embedding_with_scaled_gradient")
def embedding_with_scaled_gradient(x: Any, weight: Any, *, padding_idx: int = -1) -> Any:
    return F.embedding(tensor(x), tensor(weight), padding_idx if padding_idx >= 0 else None)


def _parts(inputs: Any, start: int, length: int) -> list[Any]:
    end = None if length < 0 else start + length
    return [tensor(x)[:, start:end] for x in inputs]


@operator("partial_concat")
def partial_concat(inputs: Any, *, start_index: int = 0, length: int = -1) -> Any:
    return P.concat(_parts(inputs, start_index, length), 1)


@operator("partial_sum")
def partial_sum(inputs: Any, *, start_index: int = 0, length: int = -1) -> Any:
    return P.add_n(_parts(inputs, start_index, length))


@operator("number_count")
def number_count(x: Any, *, upper_range: int) -> Any:
    found = P.flatten(tensor(x))
    each = P.unsqueeze(found, 1) == P.arange(upper_range, dtype=found.dtype)
    return P.sum(P.cast(each, "int64"), 0)


# -- random numbers ------------------------------------------------------------------------------------------------
@operator("dirichlet")
def dirichlet(alpha: Any) -> Any:
    drawn = P.standard_gamma(tensor(alpha))
    return drawn / P.sum(drawn, -1, keepdim=True)


@operator("exponential_")
def exponential(x: Any, *, lam: float) -> Any:
    x = tensor(x)
    return -P.log1p(-P.rand(P.shape(x), x.dtype)) / lam


@operator("gaussian_inplace")
def gaussian_inplace(x: Any, *, mean: float = 0.0, std: float = 1.0) -> Any:
    x = tensor(x)
    return P.cast(P.randn(P.shape(x)) * std + mean, x.dtype)


@operator("uniform_inplace")
def uniform_inplace(x: Any, *, min: float = -1.0, max: float = 1.0) -> Any:
    x = tensor(x)
    return P.uniform(P.shape(x), x.dtype, min, max)


@operator("truncated_gaussian_random")
def truncated_gaussian_random(
    *, shape: Any, mean: float, std: float, a: float = -2.0, b: float = 2.0, dtype: str | None = None
) -> Any:
    """By the inverse of the distribution, within a and b standard deviations."""
    low, high = (0.5 * (1 + math.erf(bound / math.sqrt(2))) for bound in (a, b))
    drawn = P.uniform(list(shape), "float32", low, high)
    return P.cast(P.erfinv(2 * drawn - 1) * math.sqrt(2) * std + mean, dtype or "float32")


@operator("uniform_random_batch_size_like")
def uniform_random_batch_size_like(
    like: Any, *, shape: Any, min: float = -1.0, max: float = 1.0, input_dim_idx: int = 0, output_dim_idx: int = 0,
    dtype: str | None = None,
) -> Any:  # fmt: skip
    sizes = list(shape)
    sizes[output_dim_idx] = tensor(like)._payload.shape[input_dim_idx]
    return P.uniform(sizes, dtype or "float32", min, max)


@operator("seed")
def seed(*, seed: int) -> Any:
    return P.full([1], seed, "int32")


@operator("top_p_sampling")
def top_p_sampling(
    x: Any, ps: Any, threshold: Any = None, topp_seed: Any = None, *, seed: int = -1, k: int = 0,
    mode: str = "truncated",
) -> Any:  # fmt: skip
    return tuple(_top_p_sampling(*map(tensor, (x, ps, threshold, topp_seed)), seed, k, mode, True))
