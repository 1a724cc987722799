"""Rows of operators on each element, comparisons and reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ....core.dtypes import numpy_name
from ....ops.promote import promote_operands
from ..emitter import Emitter, Unwritable
from ..pir_text import Double, DTypeAttribute, FileValue, Long, TensorType
from .table import floating, row, same

same(
    ["abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "conj", "cos", "cosh", "digamma",
     "erf", "erfinv", "exp", "expm1", "floor", "hardswish", "i0", "i0e", "i1", "i1e", "imag", "isfinite",
     "isinf", "isnan", "lgamma", "log", "log10", "log1p", "log2", "bitwise_not", "real", "reciprocal", "relu",
     "relu6", "rsqrt", "sigmoid", "sign", "silu", "sin", "sinh", "softsign", "sqrt", "square", "swish", "tan",
     "tanh", "trunc", "angle", "as_complex", "as_real", "inverse", "det", "mv", "bmm", "dot"],
    tanhshrink="tanh_shrink", log_sigmoid="logsigmoid",
)  # fmt: skip


@row("assign", "identity", "positive")
def assign(w: Emitter, x: Any) -> FileValue:
    """Values of a program do not change: a copy is the value."""
    return w.tensor(x, w.out[0].dtype)


# -- of two tensors ------------------------------------------------------------------------------------------------
def _dtype(value: Any) -> Any:
    return jax.ShapeDtypeStruct((), value.type.dtype) if isinstance(value, FileValue) else value


def common(w: Emitter, x: Any, y: Any) -> tuple[FileValue, FileValue]:
    """Two operands in the dtype that they meet in."""
    given = [jax.ShapeDtypeStruct(v.type.shape, v.type.dtype) for v in (x, y) if isinstance(v, FileValue)]

    def meet(*arrays: Any) -> Any:
        it = iter(arrays)
        return promote_operands(*[next(it) if isinstance(v, FileValue) else v for v in (x, y)])

    dtype = numpy_name(jax.eval_shape(meet, *given)[0].dtype)
    return w.tensor(x, dtype), w.tensor(y, dtype)


def _binary(name: str, of: str, in_result: bool) -> None:
    @row(name)
    def write(w: Emitter, x: Any, y: Any) -> FileValue:
        both = [w.tensor(v, w.out[0].dtype) for v in (x, y)] if in_result else common(w, x, y)
        return w.op(of, *both, to=w.out[0])


for _name, _of in {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "maximum": "maximum",
    "minimum": "minimum", "fmax": "fmax", "fmin": "fmin", "floor_divide": "floor_divide", "remainder": "remainder",
    "power": "elementwise_pow", "atan2": "atan2", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor", "heaviside": "heaviside", "copysign": "copysign", "kron": "kron",
    "nextafter": "nextafter",
}.items():  # fmt: skip
    _binary(_name, _of, True)
for _name in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"):
    _binary(_name, _name, False)


def _logical(name: str) -> None:
    @row(name)
    def write(w: Emitter, *inputs: Any) -> FileValue:
        return w.op(name, *[w.tensor(x, "bool") for x in inputs], to=w.out[0])


for _name in ("logical_and", "logical_or", "logical_xor", "logical_not"):
    _logical(_name)


@row("matmul")
def matmul(w: Emitter, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> FileValue:
    both = [w.cast(v, w.out[0].dtype) for v in (x, y)]
    return w.op("matmul", *both, to=w.out[0], transpose_x=transpose_x, transpose_y=transpose_y)


@row("mm")
def mm(w: Emitter, x: Any, y: Any) -> FileValue:
    return matmul(w, x, y, False, False)


@row("where")
def where(w: Emitter, condition: Any, x: Any, y: Any) -> FileValue:
    out = w.out[0]
    chosen = [w.expand(w.tensor(v, d), out.shape) for v, d in ((condition, "bool"), (x, out.dtype), (y, out.dtype))]
    return w.op("where", *chosen, to=out)


@row("masked_fill")
def masked_fill(w: Emitter, x: Any, mask: Any, value: Any) -> FileValue:
    return where(w, mask, value, x)


@row("lerp")
def lerp(w: Emitter, x: Any, y: Any, weight: Any) -> FileValue:
    return w.op("lerp", *[w.tensor(v, w.out[0].dtype) for v in (x, y, weight)], to=w.out[0])


# -- with numbers --------------------------------------------------------------------------------------------------
@row("power_scalar")
def power_scalar(w: Emitter, x: Any, y: float) -> FileValue:
    return w.op("pow", w.cast(x, w.out[0].dtype), y=float(y))


@row("_scale")
def scale(w: Emitter, x: Any, scale: Any, bias: Any, bias_after_scale: bool) -> FileValue:
    dtype = w.out[0].dtype
    x = w.tensor(x, dtype)
    if not isinstance(scale, FileValue) and not isinstance(bias, FileValue) and "float" in dtype:
        factor = w.number(float(scale), "float32")
        return w.op("scale", x, factor, bias=float(bias), bias_after_scale=bias_after_scale)
    factor, more = w.tensor(scale, dtype), w.tensor(bias, dtype)
    if bias_after_scale:
        return w.op("add", w.op("multiply", x, factor), more, to=w.out[0])
    return w.op("multiply", w.op("add", x, more), factor, to=w.out[0])


@row("neg")
def neg(w: Emitter, x: Any) -> FileValue:
    return w.op("multiply", w.cast(x, w.out[0].dtype), w.full(-1, w.out[0].dtype), to=w.out[0])


@row("bounded")
def bounded(w: Emitter, x: Any, low: Any, high: Any) -> FileValue:
    x = w.cast(x, w.out[0].dtype)
    for name, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            x = w.op(name, x, w.tensor(bound, w.out[0].dtype), to=w.out[0])
    return x


@row("cast")
def cast(w: Emitter, x: Any, _dtype: Any) -> FileValue:
    return w.tensor(x, w.out[0].dtype)


@row("round")
def round_(w: Emitter, x: Any, decimals: int) -> FileValue:
    return w.op("round", x, decimals=decimals)


def _unary(name: str, **kinds: Callable[[Any], Any]) -> None:
    """An operator whose attributes have the same names there."""

    @row(name)
    def write(w: Emitter, x: Any, **attrs: Any) -> FileValue:
        return w.op(name, floating(w, x), to=w.out[0], **{n: kinds[n](v) for n, v in attrs.items()})


_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "gelu": {"approximate": bool}, "leaky_relu": {"negative_slope": Double}, "elu": {"alpha": float},
    "celu": {"alpha": float}, "selu": {"scale": float, "alpha": float}, "hardshrink": {"threshold": float},
    "softshrink": {"threshold": float}, "softplus": {"beta": Double, "threshold": Double},
    "hardsigmoid": {"slope": float, "offset": float}, "stanh": {"scale_a": float, "scale_b": float},
    "thresholded_relu": {"threshold": float, "value": float}, "maxout": {"groups": int, "axis": int},
    "tril": {"diagonal": int}, "triu": {"diagonal": int}, "trace": {"offset": int, "axis1": int, "axis2": int},
    "diagonal": {"offset": int, "axis1": int, "axis2": int}, "diag": {"offset": int, "padding_value": float},
}  # fmt: skip
for _name, _kinds in _ATTRIBUTES.items():
    _unary(_name, **_kinds)


@row("hardtanh")
def hardtanh(w: Emitter, x: Any, min: float, max: float) -> FileValue:
    return w.op("hardtanh", x, t_min=float(min), t_max=float(max))


@row("mish")
def mish(w: Emitter, x: Any) -> FileValue:
    return w.op("mish", x, **{"lambda": 20.0})


@row("softmax", "log_softmax")
def softmax(w: Emitter, x: Any, axis: int, _dtype: Any) -> FileValue:
    name = "log_softmax" if w.name == "log_softmax" else "softmax"
    return w.op(name, w.cast(x, w.out[0].dtype), to=w.out[0], axis=axis)


@row("swiglu")
def swiglu(w: Emitter, x: Any, y: Any) -> FileValue:
    return w.op("swiglu", x, y, to=w.out[0])


@row("prelu")
def prelu(w: Emitter, x: Any, weight: Any, data_format: str) -> FileValue:
    one = weight.type.shape in ((), (1,))
    weight = w.reshape(weight, (1,)) if one else weight
    form = "NHWC" if data_format.endswith("C") and len(data_format) > 2 else "NCHW"
    return w.op("prelu", x, weight, data_format=form, mode="all" if one else "channel")


# -- reductions ----------------------------------------------------------------------------------------------------
def axes_of(x: FileValue, axis: Any) -> list[int]:
    """Axes as numbers from the first one on; none for all."""
    n = len(x.type.shape)
    given = () if axis is None else (axis,) if isinstance(axis, int) else axis
    return [a % n if n else 0 for a in given]


@row("sum")
def sum_(w: Emitter, x: Any, axis: Any, _dtype: Any, keepdim: bool) -> FileValue:
    kind = DTypeAttribute(w.out[0].dtype)
    return w.op("sum", x, w.ints(axes_of(x, axis)), to=w.out[0], dtype=kind, keepdim=keepdim)


@row("mean")
def mean(w: Emitter, x: Any, axis: Any, keepdim: bool, _dtype: Any = None) -> FileValue:
    return w.op("mean", w.cast(x, w.out[0].dtype), w.ints(axes_of(x, axis)), to=w.out[0], keepdim=keepdim)


def _extreme(name: str) -> None:
    @row(name, f"a{name}")
    def write(w: Emitter, x: Any, axis: Any, keepdim: bool) -> FileValue:
        return w.op(name, x, w.ints(axes_of(x, axis)), to=w.out[0], keepdim=keepdim)


_extreme("max")
_extreme("min")


def _truth(name: str) -> None:
    @row(name)
    def write(w: Emitter, x: Any, axis: Any, keepdim: bool) -> FileValue:
        return w.op(name, w.cast(x, "bool"), to=w.out[0], axis=list(map(Long, axes_of(x, axis))), keepdim=keepdim)


_truth("all")
_truth("any")


@row("prod")
def prod(w: Emitter, x: Any, axis: Any, keepdim: bool, _dtype: Any) -> FileValue:
    axes = axes_of(x, axis)
    x = w.cast(x, w.out[0].dtype)
    return w.op("prod", x, w.ints(axes), to=w.out[0], keepdim=keepdim, reduce_all=not axes)


@row("logsumexp")
def logsumexp(w: Emitter, x: Any, axis: Any, keepdim: bool) -> FileValue:
    axes = axes_of(x, axis)
    return w.op("logsumexp", floating(w, x), to=w.out[0], axis=axes or [0], keepdim=keepdim, reduce_all=not axes)


@row("p_norm")
def p_norm(w: Emitter, x: Any, p: float, axis: Any, keepdim: bool, _dtype: Any) -> FileValue:
    axes = axes_of(x, axis)
    if len(axes) > 1:
        raise Unwritable("a norm over several axes has no form there")
    attrs = {"porder": float(p), "epsilon": 1e-12, "keepdim": keepdim, "asvector": not axes}
    return w.op("p_norm", floating(w, x), to=w.out[0], axis=axes[0] if axes else -1, **attrs)


def _position(name: str) -> None:
    @row(name)
    def write(w: Emitter, x: Any, axis: Any, keepdim: bool, dtype: Any) -> FileValue:
        attrs = {"keepdims": keepdim, "flatten": axis is None, "dtype": DTypeAttribute(w.out[0].dtype)}
        return w.op(name, x, w.number(0 if axis is None else axis, "int64"), to=w.out[0], **attrs)


_position("argmax")
_position("argmin")


@row("cumsum")
def cumsum(w: Emitter, x: Any, axis: Any, _dtype: Any) -> FileValue:
    attrs = {"flatten": axis is None, "exclusive": False, "reverse": False}
    return w.op("cumsum", w.cast(x, w.out[0].dtype), w.number(-1 if axis is None else axis), to=w.out[0], **attrs)


@row("cumprod")
def cumprod(w: Emitter, x: Any, dim: Any, _dtype: Any) -> FileValue:
    if dim is None:
        raise Unwritable("a product over all elements has no form there: flatten the tensor first")
    return w.op("cumprod", w.cast(x, w.out[0].dtype), dim=dim, exclusive=False, reverse=False)


@row("addmm")
def addmm(w: Emitter, input: Any, x: Any, y: Any, beta: Any, alpha: Any, _ndim: Any = None) -> FileValue:
    if isinstance(beta, FileValue) or isinstance(alpha, FileValue):
        raise Unwritable("its factors are tensors, and numbers there")
    if len(x.type.shape) > 2:
        product = w.op("multiply", w.matmul(x, y, to=w.out[0]), w.full(float(alpha), w.out[0].dtype))
        return w.op("add", product, w.op("multiply", input, w.full(float(beta), w.out[0].dtype)), to=w.out[0])
    return w.op("addmm", input, x, y, to=w.out[0], beta=float(beta), alpha=float(alpha))


@row("einsum")
def einsum(w: Emitter, operands: Sequence[FileValue], equation: str) -> FileValue:
    parts = [w.cast(x, w.out[0].dtype) for x in operands]
    empty = [TensorType((0,), w.out[0].dtype)] * len(parts)
    return w.emit("einsum", [w.combined(parts)], [w.out[0], empty, empty], equation=equation)[0]
