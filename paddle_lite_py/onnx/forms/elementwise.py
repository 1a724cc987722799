"""Forms of operators on each element, comparisons and reductions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...model_files.writing.emitter import Unwritable
from ...model_files.writing.pir_text import FileValue, TensorType
from ..writer import OnnxWriter
from .table import direct, form

direct(
    abs="Abs", acos="Acos", acosh="Acosh", add="Add", asin="Asin", asinh="Asinh", assign="Identity", atan="Atan",
    atanh="Atanh", bitwise_not="BitwiseNot", ceil="Ceil", cos="Cos", cosh="Cosh", divide="Div", equal="Equal",
    elementwise_pow="Pow", erf="Erf", exp="Exp", floor="Floor", greater_equal="GreaterOrEqual",
    greater_than="Greater", hardswish="HardSwish", isinf="IsInf", isnan="IsNaN", less_equal="LessOrEqual",
    less_than="Less", log="Log", logical_and="And", logical_not="Not", logical_or="Or", logical_xor="Xor",
    maximum="Max", minimum="Min", mish="Mish", multiply="Mul", reciprocal="Reciprocal", relu="Relu",
    sigmoid="Sigmoid", sign="Sign", sin="Sin", sinh="Sinh", softsign="Softsign", sqrt="Sqrt", subtract="Sub",
    tan="Tan", tanh="Tanh",
)  # fmt: skip


def _alike(w: OnnxWriter, x: FileValue, value: float) -> FileValue:
    """Return a number in the dtype of a tensor."""
    return w.constant(value, x.type.dtype)


def _chain(name: str, *steps: tuple[str, float | None]) -> None:
    """Enter an operator that is several, each of the result before and a number."""

    @form(name)
    def write(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
        found = x
        for op, number in steps:
            more = [] if number is None else [_alike(w, x, number)]
            found = w.node(op, found, *more, to=to[0])
        return found


_chain("rsqrt", ("Sqrt", None), ("Reciprocal", None))
_chain("log2", ("Log", None), ("Mul", 1 / math.log(2)))
_chain("log10", ("Log", None), ("Mul", 1 / math.log(10)))
_chain("log1p", ("Add", 1.0), ("Log", None))
_chain("expm1", ("Exp", None), ("Sub", 1.0))
_chain("relu6", ("Max", 0.0), ("Min", 6.0))
_chain("logsigmoid", ("Mul", -1.0), ("Softplus", None), ("Mul", -1.0))


@form("square")
def square(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
    return w.node("Mul", x, x, to=to[0])


@form("silu", "swish")
def silu(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
    return w.node("Mul", x, w.node("Sigmoid", x, to=to[0]), to=to[0])


@form("tanh_shrink")
def tanh_shrink(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
    return w.node("Sub", x, w.node("Tanh", x, to=to[0]), to=to[0])


@form("isfinite")
def isfinite(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
    odd = [w.node(op, x, to=to[0]) for op in ("IsNaN", "IsInf")]
    return w.node("Not", w.node("Or", *odd, to=to[0]), to=to[0])


@form("trunc")
def trunc(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
    size = w.node("Floor", w.node("Abs", x, to=to[0]), to=to[0])
    return w.node("Mul", size, w.node("Sign", x, to=to[0]), to=to[0])


@form("round")
def round_(w: OnnxWriter, to: Any, x: FileValue, decimals: int = 0) -> FileValue:
    if not decimals:
        return w.node("Round", x, to=to[0])
    scale = _alike(w, x, 10.0**decimals)
    return w.node("Div", w.node("Round", w.node("Mul", x, scale, to=to[0]), to=to[0]), scale, to=to[0])


@form("not_equal")
def not_equal(w: OnnxWriter, to: Any, x: FileValue, y: FileValue) -> FileValue:
    return w.node("Not", w.node("Equal", x, y, to=to[0]), to=to[0])


@form("remainder")
def remainder(w: OnnxWriter, to: Any, x: FileValue, y: FileValue) -> FileValue:
    """With the sign of the divisor."""
    if "float" not in to[0].dtype:
        return w.node("Mod", x, y, to=to[0])
    whole = w.node("Floor", w.node("Div", x, y, to=to[0]), to=to[0])
    return w.node("Sub", x, w.node("Mul", whole, y, to=to[0]), to=to[0])


@form("floor_divide")
def floor_divide(w: OnnxWriter, to: Any, x: FileValue, y: FileValue) -> FileValue:
    if "float" in to[0].dtype:
        return w.node("Floor", w.node("Div", x, y, to=to[0]), to=to[0])
    rest = w.node("Mod", x, y, to=to[0])
    return w.node("Div", w.node("Sub", x, rest, to=to[0]), y, to=to[0])


def _ignoring_nan(name: str, op: str) -> None:
    @form(name)
    def write(w: OnnxWriter, to: Any, x: FileValue, y: FileValue) -> FileValue:
        if "float" not in to[0].dtype:
            return w.node(op, x, y, to=to[0])
        absent = [w.node("IsNaN", v, to=TensorType(v.type.shape, "bool")) for v in (x, y)]
        found = w.node(op, x, y, to=to[0])
        return w.node("Where", absent[0], y, w.node("Where", absent[1], x, found, to=to[0]), to=to[0])


_ignoring_nan("fmax", "Max")
_ignoring_nan("fmin", "Min")


def _bitwise(name: str, op: str) -> None:
    @form(name)
    def write(w: OnnxWriter, to: Any, x: FileValue, y: FileValue) -> FileValue:
        return w.node(op if to[0].dtype == "bool" else f"Bitwise{op}", x, y, to=to[0])


for _name, _op in {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor"}.items():
    _bitwise(_name, _op)


@form("where")
def where(w: OnnxWriter, to: Any, condition: FileValue, x: FileValue, y: FileValue) -> FileValue:
    return w.node("Where", condition, x, y, to=to[0])


@form("lerp")
def lerp(w: OnnxWriter, to: Any, x: FileValue, y: FileValue, weight: FileValue) -> FileValue:
    step = w.node("Mul", weight, w.node("Sub", y, x, to=to[0]), to=to[0])
    return w.node("Add", x, step, to=to[0])


# -- with numbers --------------------------------------------------------------------------------------------------
@form("cast")
def cast(w: OnnxWriter, to: Any, x: FileValue) -> FileValue:
    return w.cast(x, to[0].dtype)


@form("pow")
def pow_(w: OnnxWriter, to: Any, x: FileValue, y: float) -> FileValue:
    return w.node("Pow", x, _alike(w, x, y), to=to[0])


@form("scale")
def scale(
    w: OnnxWriter, to: Any, x: FileValue, factor: FileValue, bias: float = 0.0, bias_after_scale: bool = True
) -> FileValue:
    factor = w.cast(factor, x.type.dtype)
    steps = [("Mul", factor)] + ([("Add", _alike(w, x, bias))] if bias else [])
    for op, number in steps if bias_after_scale else reversed(steps):
        x = w.node(op, x, number, to=to[0])
    return x


def _with_attributes(name: str, op: str, **names: str) -> None:
    """Enter an operator that ONNX has, whose attributes have other names there."""

    @form(name)
    def write(w: OnnxWriter, to: Any, x: FileValue, **attrs: Any) -> FileValue:
        return w.node(op, x, to=to[0], **{names[n]: float(v) for n, v in attrs.items() if n in names})


_with_attributes("leaky_relu", "LeakyRelu", negative_slope="alpha")
_with_attributes("elu", "Elu", alpha="alpha")
_with_attributes("celu", "Celu", alpha="alpha")
_with_attributes("thresholded_relu", "ThresholdedRelu", threshold="alpha")
_with_attributes("hardsigmoid", "HardSigmoid", slope="alpha", offset="beta")
_with_attributes("hardshrink", "Shrink", threshold="lambd")


@form("selu")
def selu(w: OnnxWriter, to: Any, x: FileValue, scale: float, alpha: float) -> FileValue:
    return w.node("Selu", x, to=to[0], alpha=float(alpha), gamma=float(scale))


@form("softshrink")
def softshrink(w: OnnxWriter, to: Any, x: FileValue, threshold: float) -> FileValue:
    return w.node("Shrink", x, to=to[0], lambd=float(threshold), bias=float(threshold))


@form("gelu")
def gelu(w: OnnxWriter, to: Any, x: FileValue, approximate: bool) -> FileValue:
    return w.node("Gelu", x, to=to[0], approximate="tanh" if approximate else "none")


@form("stanh")
def stanh(w: OnnxWriter, to: Any, x: FileValue, scale_a: float, scale_b: float) -> FileValue:
    inner = w.node("Tanh", w.node("Mul", x, _alike(w, x, scale_a), to=to[0]), to=to[0])
    return w.node("Mul", inner, _alike(w, x, scale_b), to=to[0])


@form("hardtanh")
def hardtanh(w: OnnxWriter, to: Any, x: FileValue, t_min: float, t_max: float) -> FileValue:
    return w.node("Clip", x, _alike(w, x, t_min), _alike(w, x, t_max), to=to[0])


@form("softplus")
def softplus(w: OnnxWriter, to: Any, x: FileValue, beta: float, threshold: float) -> FileValue:
    scaled = w.node("Mul", x, _alike(w, x, beta), to=to[0])
    soft = w.node("Div", w.node("Softplus", scaled, to=to[0]), _alike(w, x, beta), to=to[0])
    is_large = w.node("Greater", scaled, _alike(w, x, threshold), to=TensorType(to[0].shape, "bool"))
    return w.node("Where", is_large, x, soft, to=to[0])


@form("swiglu")
def swiglu(w: OnnxWriter, to: Any, x: FileValue, y: FileValue | None) -> FileValue:
    if y is None:
        half = TensorType(to[0].shape, x.type.dtype)
        x, y = w.nodes_of("Split", [x], [half, half], axis=-1, num_outputs=2)
    return w.node("Mul", silu(w, to, x), y, to=to[0])


@form("prelu")
def prelu(w: OnnxWriter, to: Any, x: FileValue, weight: FileValue, data_format: str, mode: str) -> FileValue:
    n = len(x.type.shape)
    if mode == "channel" and data_format == "NCHW":
        weight = w.reshape(weight, (math.prod(weight.type.shape), *[1] * (n - 2)))
    return w.node("PRelu", x, weight, to=to[0])


def _soft(name: str, op: str) -> None:
    @form(name)
    def write(w: OnnxWriter, to: Any, x: FileValue, axis: int) -> FileValue:
        return w.node(op, x, to=to[0], axis=axis)


_soft("softmax", "Softmax")
_soft("log_softmax", "LogSoftmax")


# -- products ------------------------------------------------------------------------------------------------------
@form("matmul")
def matmul(
    w: OnnxWriter, to: Any, x: FileValue, y: FileValue, transpose_x: bool = False, transpose_y: bool = False
) -> FileValue:
    both = [_turned(w, v) if t else v for v, t in ((x, transpose_x), (y, transpose_y))]
    return w.node("MatMul", *both, to=to[0])


def _turned(w: OnnxWriter, x: FileValue) -> FileValue:
    n = len(x.type.shape)
    return w.transpose(x, [*range(n - 2), n - 1, n - 2]) if n > 1 else x


direct(bmm="MatMul", dot="MatMul", mv="MatMul")


@form("addmm")
def addmm(w: OnnxWriter, to: Any, input: FileValue, x: FileValue, y: FileValue, beta: float, alpha: float) -> FileValue:
    return w.node("Gemm", x, y, input, to=to[0], alpha=float(alpha), beta=float(beta))


@form("einsum")
def einsum(w: OnnxWriter, to: Any, operands: FileValue, equation: str) -> FileValue:
    return w.node("Einsum", *w.items(operands), to=to[0], equation=equation)


# -- reductions ----------------------------------------------------------------------------------------------------
def reduced(w: OnnxWriter, op: str, x: FileValue, axes: list[int], keepdim: bool, to: TensorType) -> FileValue:
    """Return a reduction over axes, all if there are none."""
    named = [w.ints(axes)] if axes else []
    return w.node(op, x, *named, to=to, keepdims=int(keepdim))


def _reduction(name: str, op: str) -> None:
    @form(name)
    def write(w: OnnxWriter, to: Any, x: FileValue, axis: Any, keepdim: bool = False) -> FileValue:
        x = w.cast(x, to[0].dtype) if name == "sum" else x
        return reduced(w, op, x, w.integers(axis, "an axis"), keepdim, to[0])


for _name, _op in {
    "sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin", "amax": "ReduceMax",
    "amin": "ReduceMin", "prod": "ReduceProd",
}.items():  # fmt: skip
    _reduction(_name, _op)


def _truth(name: str, op: str) -> None:
    @form(name)
    def write(w: OnnxWriter, to: Any, x: FileValue, axis: Any, keepdim: bool = False) -> FileValue:
        numbers = TensorType(to[0].shape, "int32")
        found = reduced(w, op, w.cast(x, "int32"), w.integers(axis, "an axis"), keepdim, numbers)
        return w.cast(found, "bool")


_truth("all", "ReduceMin")
_truth("any", "ReduceMax")


@form("logsumexp")
def logsumexp(w: OnnxWriter, to: Any, x: FileValue, axis: Any, keepdim: bool, reduce_all: bool) -> FileValue:
    axes = [] if reduce_all else w.integers(axis, "an axis")
    return reduced(w, "ReduceLogSumExp", x, axes, keepdim, to[0])


@form("p_norm")
def p_norm(w: OnnxWriter, to: Any, x: FileValue, porder: float, axis: int, keepdim: bool, asvector: bool) -> FileValue:
    axes = [] if asvector else [axis]
    if porder in (1.0, 2.0):
        return reduced(w, f"ReduceL{int(porder)}", x, axes, keepdim, to[0])
    size = w.node("Abs", x, to=x.type)
    if np.isinf(porder):
        return reduced(w, "ReduceMax" if porder > 0 else "ReduceMin", size, axes, keepdim, to[0])
    if not porder:
        raise Unwritable("ONNX has no form of a norm of order 0")
    total = reduced(w, "ReduceSum", w.node("Pow", size, _alike(w, x, porder), to=x.type), axes, keepdim, to[0])
    return w.node("Pow", total, _alike(w, x, 1 / porder), to=to[0])


def _position(name: str, op: str) -> None:
    @form(name)
    def write(w: OnnxWriter, to: Any, x: FileValue, axis: Any, keepdims: bool, flatten: bool) -> FileValue:
        (at,) = w.integers(axis, "an axis")
        if flatten:
            count = math.prod(x.type.shape)
            x, at = w.reshape(x, (count,)), 0
        wide = w.cast(x, "int32") if x.type.dtype == "bool" else x
        found = w.node(op, wide, to=TensorType(to[0].shape, "int64"), axis=at, keepdims=int(keepdims and not flatten))
        return w.reshape(w.cast(found, to[0].dtype), to[0].shape)


_position("argmax", "ArgMax")
_position("argmin", "ArgMin")


@form("cumsum")
def cumsum(w: OnnxWriter, to: Any, x: FileValue, axis: Any, flatten: bool, reverse: bool) -> FileValue:
    (at,) = w.integers(axis, "an axis")
    x, at = (w.reshape(x, to[0].shape), 0) if flatten else (x, at)
    return w.node("CumSum", x, w.constant(at, "int64"), to=to[0], reverse=int(reverse))
