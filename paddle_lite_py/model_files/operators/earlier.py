"""Operators that only files of earlier generations have, or that meant something else there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...nn import functional as _functional
from ...ops.convert import to_tensor
from .table import KnownValue, P, call, number, operator, tensor
from .values import _listed

F: Any = _functional


def _define_elementwise(name: str) -> None:
    @operator(f"elementwise_{name}")
    def compute(x: Any, y: Any, *, axis: int = -1) -> Any:
        """y begins at an axis of x."""
        if axis != -1 and not isinstance(x, KnownValue) and not isinstance(y, KnownValue):
            behind = x.ndim - axis - y.ndim
            y = P.reshape(y, [*y._payload.shape, *[1] * behind]) if behind > 0 and y.ndim else y
        return call(name, [x, y], {})


for _name in (
    *("add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder", "floor_divide"),
    "elementwise_pow",
):
    _define_elementwise(_name)


@operator("matmul_scaled")
def matmul_scaled(x: Any, y: Any, *, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0) -> Any:
    out = P.matmul(tensor(x), tensor(y), transpose_x, transpose_y)
    return out if alpha == 1.0 else out * alpha


@operator("variance")
def variance(x: Any, *, axis: Any = (), keepdim: bool = False) -> Any:
    """Of all elements, where `var` is of a sample."""
    return P.var(tensor(x), list(axis) or None, False, keepdim)


@operator("mul", "matmul_with_flatten")
def mul(x: Any, y: Any, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1) -> Any:
    x, y = tensor(x), tensor(y)
    left, right = list(x._payload.shape[:x_num_col_dims]), list(y._payload.shape[y_num_col_dims:])
    flat = P.flatten(x, x_num_col_dims, -1) if x.ndim > x_num_col_dims + 1 else x
    flat = P.flatten(flat, 0, x_num_col_dims - 1) if x_num_col_dims > 1 else flat
    other = P.reshape(y, [int(np.prod(y.shape[:y_num_col_dims])), -1])
    return P.reshape(P.matmul(flat, other), [*left, *right])


@operator("fc")
def fc(x: Any, weight: Any, bias: Any = None, *, in_num_col_dims: int = 1, activation_type: str = "") -> Any:
    out = mul(x, weight, x_num_col_dims=in_num_col_dims)
    out = out if bias is None else out + tensor(bias)
    return F.relu(out) if activation_type == "relu" else out


@operator("fill_constant")
def fill_constant(
    shape: Any, filling: Any = None, *, value: Any = None, dtype: str | None = None, str_value: str = ""
) -> Any:
    given, filling = filling is not None, number(filling) if filling is not None else _parse(str_value, value)
    sizes = _listed(shape)
    dtype = dtype or "float32"
    if not given and sizes in ([], [1]) and dtype.startswith(("int", "float", "bool")):
        filling = int(filling) if dtype.startswith("int") else bool(filling) if dtype == "bool" else float(filling)
        return KnownValue([filling] if sizes else filling, dtype)
    return P.full(sizes, filling, dtype)


def _parse(text: str, value: Any) -> Any:
    """The text says more than a number of 32 bits."""
    if not text:
        return 0.0 if value is None else value
    return float(text) if any(c in text for c in ".eEnN") else int(text)


@operator("fill_constant_batch_size_like")
def fill_constant_batch_size_like(
    like: Any, *, shape: Any, dtype: str | None = None, str_value: str = "", input_dim_idx: int = 0,
    output_dim_idx: int = 0,
) -> Any:  # fmt: skip
    sizes = list(shape)
    sizes[output_dim_idx] = tensor(like)._payload.shape[input_dim_idx]
    return P.full(sizes, _parse(str_value, 0.0), dtype or "float32")


@operator("zeros_like")
def zeros_like(x: Any) -> Any:
    return P.zeros_like(tensor(x))


@operator("assign_values")
def assign_values(
    *, shape: Any, dtype: str, bool_values: Any = (), fp32_values: Any = (), fp64_values: Any = (),
    int32_values: Any = (), int64_values: Any = (), values: Any = (),
) -> Any:  # fmt: skip
    given = {"bool": bool_values, "float32": fp32_values, "float64": fp64_values, "int32": int32_values,
             "int64": int64_values}.get(dtype) or values  # fmt: skip
    found = [bool(v) if dtype == "bool" else v for v in given]
    if dtype.startswith("int") and len(shape) < 2:
        return KnownValue(list(found) if shape else found[0], dtype)
    return to_tensor(np.array(found).reshape(list(shape)), dtype=dtype)


@operator("flatten2")
def flatten2(x: Any, *, axis: int = 1) -> Any:
    x = tensor(x)
    return P.reshape(x, [1, -1]) if axis == 0 else P.reshape(P.flatten(x, axis, -1), [*x._payload.shape[:axis], -1])


@operator("split_")
def split_(x: Any, axis: Any = None, *, num: int = 0, sections: Any = ()) -> Any:
    return [P.split(tensor(x), list(sections) or num, number(axis) if axis is not None else 0)]


@operator("strided_slice_to_first")
def strided_slice_to_first(x: Any, starts: Any, ends: Any, strides: Any, *, axes: Any) -> Any:
    """Backwards, an end of -1 lies before the first element; today it is the last one."""
    ends, strides = _listed(ends), _listed(strides)
    if isinstance(ends, list) and isinstance(strides, list):
        ends = [
            -(2**31) if isinstance(s, int) and s < 0 and isinstance(b, int) and b == -1 else b
            for b, s in zip(ends, strides, strict=True)
        ]
    return P.strided_slice(tensor(x), list(axes), _listed(starts), ends, strides)


@operator("set_values")
def set_values(
    x: Any, value: Any, starts: Any, ends: Any, steps: Any, *, axes: Any, shape: Any = (), values: Any = (),
    decrease_axes: Any = (), none_axes: Any = (), fp32_values: Any = (), int32_values: Any = (),
    int64_values: Any = (), fp64_values: Any = (), bool_values: Any = (),
) -> Any:  # fmt: skip
    bounds = [starts, ends, steps]
    settings = {"axes": axes, "decrease_axes": decrease_axes or (), "none_axes": none_axes or ()}
    if value is not None:
        return call("set_value_with_tensor_", [x, value, *bounds], settings)
    found = next(v for v in (values, fp32_values, fp64_values, int64_values, int32_values, bool_values) if v)
    return call("set_value_", [x, *bounds], settings | {"shape": shape, "values": found})


@operator("lookup_table")
def lookup_table(ids: Any, weight: Any, *, padding_idx: int = -1) -> Any:
    """The ids have a last axis of one."""
    return F.embedding(P.squeeze(tensor(ids), -1), tensor(weight), padding_idx if padding_idx >= 0 else None)


@operator("pad2d")
def pad2d(x: Any, paddings: Any, *, mode: str = "constant", pad_value: float = 0.0, data_format: str = "NCHW") -> Any:
    top, bottom, left, right = _listed(paddings)
    kind = "replicate" if mode == "edge" else mode
    return F.pad(tensor(x), [left, right, top, bottom], kind, pad_value, data_format, pad_from_left_axis=False)


@operator("affine_channel")
def affine_channel(x: Any, scale: Any, bias: Any) -> Any:
    shape = [1, -1, *[1] * (tensor(x).ndim - 2)]
    return tensor(x) * P.reshape(tensor(scale), shape) + P.reshape(tensor(bias), shape)


@operator("tril_triu")
def tril_triu(x: Any, *, diagonal: int = 0, lower: bool = True) -> Any:
    return (P.tril if lower else P.triu)(tensor(x), diagonal)


# -- quantization --------------------------------------------------------------------------------------------------
def _by_channel(scale: Any, x: Any, axis: int) -> Any:
    return scale if axis < 0 else P.reshape(scale, [-1 if i == axis else 1 for i in range(x.ndim)])


def _most(bit_length: int) -> int:
    return (1 << (bit_length - 1)) - 1


@operator("quantize_linear")
def quantize_linear(
    x: Any, scale: Any, _zero_point: Any = None, *, quant_axis: int = -1, bit_length: int = 8, round_type: int = 0,
    only_observer: bool = False,
) -> Any:  # fmt: skip
    x = tensor(x)
    if only_observer:
        return x
    most = _most(bit_length)
    scaled = x / _by_channel(tensor(scale), x, quant_axis) * most
    return P.clip(_rounded(scaled, round_type), -most - 1, most)


@operator("dequantize_linear")
def dequantize_linear(
    x: Any, scale: Any, _zero_point: Any = None, *, quant_axis: int = -1, bit_length: int = 8,
    only_observer: bool = False,
) -> Any:  # fmt: skip
    x, scale = tensor(x), tensor(scale)
    if only_observer:
        return x
    return P.cast(x, scale.dtype) * _by_channel(scale, x, quant_axis) / _most(bit_length)


def _rounded(x: Any, round_type: int) -> Any:
    """To even, or away from zero."""
    return P.round(x) if round_type == 0 else P.sign(x) * P.floor(P.abs(x) + 0.5)


def _quantize(x: Any, scale: Any, bit_length: int, round_type: int) -> Any:
    most = _most(bit_length)
    within = P.minimum(P.maximum(x, -scale), scale)
    return _rounded(within / scale * most, round_type) * scale / most


@operator("fake_quantize_dequantize_moving_average_abs_max")
def fake_quantize_dequantize_moving(
    x: Any, in_scale: Any, in_accum: Any = None, in_state: Any = None, *, bit_length: int = 8, round_type: int = 1
) -> Any:
    return _quantize(tensor(x), tensor(in_scale), bit_length, round_type), in_scale, in_state, in_accum


@operator("fake_quantize_dequantize_abs_max")
def fake_quantize_dequantize(x: Any, *, bit_length: int = 8, round_type: int = 1) -> Any:
    x = tensor(x)
    scale = P.max(P.abs(x))
    return _quantize(x, scale, bit_length, round_type), scale


@operator("fake_channel_wise_quantize_dequantize_abs_max")
def fake_channel_wise_quantize_dequantize(
    x: Any, *, bit_length: int = 8, round_type: int = 1, quant_axis: int = 0
) -> Any:
    x = tensor(x)
    axes = [i for i in range(x.ndim) if i != quant_axis]
    scale = P.max(P.abs(x), axes, True)
    return _quantize(x, scale, bit_length, round_type), P.reshape(scale, [-1])
