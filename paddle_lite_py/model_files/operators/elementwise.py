"""Operators on each element, reductions and comparisons."""

from __future__ import annotations

from typing import Any

from ... import linalg
from ...nn import functional as _functional
from .table import P, known, number, numbers, operator, same, tensor

F: Any = _functional

same(
    ["abs", "angle", "as_real", "atan2", "bernoulli", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
     "bmm", "ceil", "conj", "cos", "cosh", "divide", "dot", "erf", "erfinv", "exp", "expm1", "floor", "fmax",
     "fmin", "imag", "isfinite", "isinf", "isnan", "kron", "lerp",
     "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "logical_xor",
     "maximum", "minimum", "real", "reciprocal", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "tan",
     "tanh", "trunc", "where", "mv", "acos", "asin", "atan", "acosh", "asinh", "atanh", "lgamma", "digamma",
     "gather_nd", "index_sample", "masked_select", "scatter_nd_add", "complex", "heaviside", "nextafter", "copysign",
     "i0", "i0e", "i1", "i1e", "logit", "diag_embed", "gammaln", "as_complex", "multiplex"],
    P, elementwise_pow="pow",
)  # fmt: skip
same(["det", "solve"], linalg, inverse="inv")
same(
    ["relu", "relu6", "silu", "sigmoid", "softsign", "swiglu"],
    F, swish="silu", logsigmoid="log_sigmoid", tanh_shrink="tanhshrink",
)  # fmt: skip


@operator("matmul")
def matmul(x: Any, y: Any, *, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    return P.matmul(tensor(x), tensor(y), transpose_x, transpose_y)


@operator("pow")
def pow_(x: Any, *, y: float) -> Any:
    return P.pow(tensor(x), y)


@operator("clip")
def clip(x: Any, min: Any = None, max: Any = None) -> Any:
    x, bounds = tensor(x), [number(min), number(max)]
    if x.dtype.name.startswith(("int", "uint")):  # bounds are numbers of the dtype of x there
        bounds = [int(b) if isinstance(b, float) else b for b in bounds]
    return P.clip(x, *bounds)


@operator("round")
def round_(x: Any, *, decimals: int = 0) -> Any:
    return P.round(tensor(x), decimals) if decimals else P.round(tensor(x))


@operator("stanh")
def stanh(x: Any, *, scale_a: float = 0.67, scale_b: float = 1.7159) -> Any:
    return P.stanh(tensor(x), scale_a, scale_b)


@operator("gelu")
def gelu(x: Any, *, approximate: bool = False) -> Any:
    return F.gelu(tensor(x), approximate)


@operator("leaky_relu")
def leaky_relu(x: Any, *, negative_slope: float = 0.02) -> Any:
    return F.leaky_relu(tensor(x), negative_slope)


@operator("hardswish", "hard_swish")
def hardswish(x: Any, *, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0) -> Any:
    x = tensor(x)
    if (threshold, scale, offset) == (6.0, 6.0, 3.0):
        return F.hardswish(x)
    return x * P.clip(x + offset, 0.0, threshold) / scale


@operator("hardsigmoid", "hard_sigmoid")
def hardsigmoid(x: Any, *, slope: float = 0.2, offset: float = 0.5) -> Any:
    return F.hardsigmoid(tensor(x), slope, offset)


@operator("softmax")
def softmax(x: Any, *, axis: int = -1) -> Any:
    return F.softmax(tensor(x), axis)


@operator("log_softmax")
def log_softmax(x: Any, *, axis: int = -1) -> Any:
    return F.log_softmax(tensor(x), axis)


@operator("gumbel_softmax")
def gumbel_softmax(x: Any, *, temperature: float = 1.0, hard: bool = False, axis: int = -1) -> Any:
    return F.gumbel_softmax(tensor(x), temperature, hard, axis)


@operator("mish")
def mish(x: Any) -> Any:
    return F.mish(tensor(x))


@operator("elu")
def elu(x: Any, *, alpha: float = 1.0) -> Any:
    return F.elu(tensor(x), alpha)


@operator("celu")
def celu(x: Any, *, alpha: float = 1.0) -> Any:
    return F.celu(tensor(x), alpha)


@operator("selu")
def selu(x: Any, *, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772) -> Any:
    return F.selu(tensor(x), scale, alpha)


@operator("softplus")
def softplus(x: Any, *, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return F.softplus(tensor(x), beta, threshold)


@operator("hard_shrink", "hardshrink")
def hardshrink(x: Any, *, threshold: float = 0.5) -> Any:
    return F.hardshrink(tensor(x), threshold)


@operator("softshrink")
def softshrink(x: Any, *, threshold: float = 0.5) -> Any:
    return F.softshrink(tensor(x), threshold)


@operator("hardtanh", "brelu")
def hardtanh(x: Any, *, t_min: float = -1.0, t_max: float = 1.0) -> Any:
    return F.hardtanh(tensor(x), t_min, t_max)


@operator("thresholded_relu")
def thresholded_relu(x: Any, *, threshold: float = 1.0, value: float = 0.0) -> Any:
    return F.thresholded_relu(tensor(x), threshold, value)


@operator("maxout")
def maxout(x: Any, *, groups: int, axis: int = 1) -> Any:
    return F.maxout(tensor(x), groups, axis)


@operator("prelu")
def prelu(x: Any, alpha: Any, *, data_format: str = "NCHW", mode: str = "all") -> Any:
    if mode == "element":  # a slope for each element of a sample, [1, ...]
        x = tensor(x)
        return P.where(x > 0, x, x * tensor(alpha))
    return F.prelu(tensor(x), tensor(alpha), data_format or "NCHW")


# -- reductions ----------------------------------------------------------------------------------------------------
def _axes(axis: Any) -> Any:
    found = numbers(axis)
    return None if isinstance(found, list) and not found else found


@operator("sum")
def sum_(x: Any, axis: Any = None, *, dtype: str | None = None, keepdim: bool = False) -> Any:
    return P.sum(tensor(x), _axes(axis), dtype, keepdim)


@operator("mean_all")
def mean_all(x: Any) -> Any:
    return P.mean(tensor(x))


def _reduction(name: str, of: str) -> None:
    @operator(name)
    def reduce(
        x: Any, axis_operand: Any = None, *, axis: Any = (), keepdim: bool = False, reduce_all: bool = False
    ) -> Any:
        axes = None if reduce_all else _axes(axis_operand if axis_operand is not None else list(axis))
        return getattr(P, of)(tensor(x), axes, keepdim)


for _name in ("mean", "max", "min", "amax", "amin", "all", "any", "logsumexp"):
    _reduction(_name, _name)


@operator("prod")
def prod(x: Any, dims: Any = None, *, keepdim: bool = False, reduce_all: bool = False) -> Any:
    return P.prod(tensor(x), None if reduce_all else _axes(dims), keepdim)


@operator("p_norm")
def p_norm(x: Any, *, porder: float = 2.0, axis: int = -1, keepdim: bool = False, asvector: bool = False) -> Any:
    x = P.flatten(tensor(x)) if asvector else tensor(x)
    return P.norm(x, porder, -1 if asvector else axis, keepdim)


@operator("frobenius_norm")
def frobenius_norm(x: Any, axis: Any = None, *, keepdim: bool = False, reduce_all: bool = False) -> Any:
    return P.norm(tensor(x), "fro", None if reduce_all else _axes(axis), keepdim)


def _extremes(name: str) -> None:
    @operator(name)
    def find(x: Any, *, axis: int, dtype: str | None = None) -> Any:
        return tuple(getattr(P, name)(tensor(x), axis, dtype or "int64"))


for _name in ("cummax", "cummin"):
    _extremes(_name)


def _position(name: str) -> None:
    @operator(name)
    def find(
        x: Any, axis: Any = None, *, keepdims: bool = False, flatten: bool = False, dtype: str | None = None
    ) -> Any:
        return getattr(P, name)(tensor(x), None if flatten else number(axis), keepdims, dtype or "int64")


for _name in ("argmax", "argmin"):
    _position(_name)


@operator("cumsum")
def cumsum(x: Any, axis: Any = None, *, flatten: bool = False, exclusive: bool = False, reverse: bool = False) -> Any:
    x, at = tensor(x), number(axis)
    if flatten:
        x, at = P.flatten(x), 0
    x = P.flip(x, [at]) if reverse else x
    out = P.cumsum(x, at)
    out = out - x if exclusive else out
    return P.flip(out, [at]) if reverse else out


@operator("cumprod")
def cumprod(x: Any, *, dim: int) -> Any:
    return P.cumprod(tensor(x), dim)


def _median(name: str) -> None:
    @operator(name)
    def median(x: Any, *, axis: Any = (), keepdim: bool = False, mode: str = "avg") -> Any:
        axes = list(axis) if isinstance(axis, list | tuple) else [axis]
        at = (axes[0] if len(axes) == 1 else axes) if axes else None
        found = getattr(P, name)(tensor(x), at, keepdim, mode)
        return found if isinstance(found, tuple | list) else (found, None)


for _name in ("median", "nanmedian"):
    _median(_name)


@operator("mode")
def mode_(x: Any, *, axis: int = -1, keepdim: bool = False) -> Any:
    return tuple(P.mode(tensor(x), axis, keepdim))


@operator("logcumsumexp")
def logcumsumexp(x: Any, *, axis: int = -1, flatten: bool = False) -> Any:
    return P.logcumsumexp(tensor(x), None if flatten else axis)


@operator("cholesky")
def cholesky(x: Any, *, upper: bool = False) -> Any:
    return linalg.cholesky(tensor(x), upper)


@operator("cholesky_solve")
def cholesky_solve(x: Any, y: Any, *, upper: bool = False) -> Any:
    return linalg.cholesky_solve(tensor(x), tensor(y), upper)


@operator("triangular_solve")
def triangular_solve(
    x: Any, y: Any, *, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    return linalg.triangular_solve(tensor(x), tensor(y), upper, transpose, unitriangular)


@operator("matrix_power")
def matrix_power(x: Any, *, n: int) -> Any:
    return linalg.matrix_power(tensor(x), n)


@operator("kthvalue")
def kthvalue(x: Any, *, k: int, axis: int = -1, keepdim: bool = False) -> Any:
    return P.kthvalue(tensor(x), k, axis, keepdim)


@operator("dist")
def dist(x: Any, y: Any, *, p: float = 2.0) -> Any:
    return P.dist(tensor(x), tensor(y), p)


@operator("addmm")
def addmm(input: Any, x: Any, y: Any, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    return P.addmm(tensor(input), tensor(x), tensor(y), beta, alpha)


@operator("einsum")
def einsum(x: Any, *, equation: str) -> Any:
    return P.einsum(equation, *tensor(x)), None, None


@operator("trace")
def trace(x: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return P.trace(tensor(x), offset, axis1, axis2)


@operator("cross")
def cross(x: Any, y: Any, *, axis: int = 9) -> Any:
    return P.cross(tensor(x), tensor(y), axis)


@operator("tril")
def tril(x: Any, *, diagonal: int = 0) -> Any:
    return P.tril(tensor(x), diagonal)


@operator("triu")
def triu(x: Any, *, diagonal: int = 0) -> Any:
    return P.triu(tensor(x), diagonal)


@operator("diag")
def diag(x: Any, *, offset: int = 0, padding_value: float = 0.0) -> Any:
    return P.diag(tensor(x), offset, padding_value)


@operator("diagonal")
def diagonal(x: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return P.diagonal(tensor(x), offset, axis1, axis2)


@operator("dropout")
def dropout(x: Any, _seed: Any = None, p: Any = None, *, is_test: bool = True, mode: str = "downgrade_in_infer") -> Any:
    names = {"downgrade_in_infer": "downscale_in_infer", "upscale_in_train": "upscale_in_train"}
    out = F.dropout(
        tensor(x),
        known(p, 0.5) if not isinstance(known(p), list) else number(p),
        training=not is_test,
        mode=names[mode],
    )
    return out, None
