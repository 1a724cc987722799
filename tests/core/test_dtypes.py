"""dtypes by their names."""

from __future__ import annotations

import paddle_lite_py as paddle


def test_dtypes_by_constants():
    assert paddle.dtype.FLOAT32 is paddle.float32 and paddle.dtype.BFLOAT16 is paddle.bfloat16
    assert paddle.zeros([1], dtype=paddle.int).dtype == "int32"


def test_limits():
    assert str(paddle.iinfo("int8")) == "paddle.iinfo(min=-128, max=127, bits=8, dtype=int8)"
    limits = paddle.finfo(paddle.bfloat16)
    assert (limits.bits, limits.dtype, limits.resolution, limits.eps) == (16, "bfloat16", 0.01, 0.0078125)
    assert str(paddle.finfo("float16")).startswith("paddle.finfo(min=-65504, max=65504, eps=0.000976562, ")


def test_how_a_tensor_is_stored():
    assert str(paddle.ones([1]).type) == "VarType.DENSE_TENSOR"
    assert paddle.ones([1]).type == paddle.base.core.VarDesc.VarType.DENSE_TENSOR == 7
