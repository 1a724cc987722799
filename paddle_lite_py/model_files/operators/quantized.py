"""Operators of models that were trained or calibrated for integers."""

from __future__ import annotations

import math
from typing import Any

from .earlier import _by_channel, _most, _rounded
from .table import P, operator, tensor


def _as_integers(x: Any, scale: Any, bit_length: int, round_type: int) -> Any:
    return _rounded(P.minimum(P.maximum(x, -scale), scale) / scale * _most(bit_length), round_type)


@operator("fake_quantize_abs_max")
def fake_quantize_abs_max(x: Any, *, bit_length: int = 8, round_type: int = 1) -> Any:
    x = tensor(x)
    scale = P.max(P.abs(x))
    return _as_integers(x, scale, bit_length, round_type), P.reshape(scale, [1])


@operator("fake_channel_wise_quantize_abs_max")
def fake_channel_wise_quantize_abs_max(x: Any, *, bit_length: int = 8, round_type: int = 1, quant_axis: int = 0) -> Any:
    x = tensor(x)
    scale = P.max(P.abs(x), [i for i in range(x.ndim) if i != quant_axis], True)
    return _as_integers(x, scale, bit_length, round_type), P.reshape(scale, [-1])


def _by_known_scale(name: str, n_results: int) -> None:
    @operator(name)
    def compute(
        x: Any, in_scale: Any, *others: Any, bit_length: int = 8, round_type: int = 1, is_test: bool = False
    ) -> Any:
        if not is_test:
            raise NotImplementedError("the scale is estimated in training alone")
        return _as_integers(tensor(x), tensor(in_scale), bit_length, round_type), in_scale, *[None] * (n_results - 2)


_by_known_scale("fake_quantize_moving_average_abs_max", 4)
_by_known_scale("fake_quantize_range_abs_max", 3)


@operator("moving_average_abs_max_scale")
def moving_average_abs_max_scale(x: Any, accum: Any = None, state: Any = None, *, is_test: bool = False) -> Any:
    if not is_test:
        raise NotImplementedError("the scale is estimated in training alone")
    return tensor(x), None, state, accum


@operator("fake_dequantize_max_abs", "dequantize_abs_max")
def fake_dequantize_max_abs(x: Any, scale: Any, *, max_range: float) -> Any:
    scale = tensor(scale)
    return P.cast(tensor(x), scale.dtype) * scale / max_range


@operator("fake_channel_wise_dequantize_max_abs")
def fake_channel_wise_dequantize_max_abs(
    x: Any, scales: Any, *, quant_bits: Any = (8,), quant_axis: int = 0, x_num_col_dims: int = 1
) -> Any:
    x, scales = tensor(x), tensor(scales)
    first = scales[0]
    if len(scales) == 1:
        return P.cast(x, first.dtype) * _by_channel(first, x, quant_axis) / _most(quant_bits[0])
    axis, most = x_num_col_dims, math.prod(map(_most, quant_bits))
    return P.cast(x, first.dtype) * _by_channel(first, x, axis) * scales[1] / most
