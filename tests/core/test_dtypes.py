"""dtypes by their names."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle

# What PaddlePaddle makes of a name or a type of Python: what NumPy names so, in 64 bits where there is a choice.
NAMED = {
    "byte": "int8", "ubyte": "uint8", "short": "int16", "intc": "int32", "i4": "int32", "int": "int64",
    "long": "int64", "longlong": "int64", "half": "float16", "single": "float32", "float": "float64",
    "double": "float64", "csingle": "complex64", "complex": "complex128", "?": "bool", "bool_": "bool",
    int: "int64", float: "float64", complex: "complex128", bool: "bool", np.byte: "int8",
}  # fmt: skip


@pytest.mark.parametrize("given", NAMED)
def test_dtypes_by_the_names_of_numpy(given):
    x = paddle.to_tensor([1.5, -2.5, 3.5])
    cast = paddle.jit.to_static(lambda x: x.astype(given))
    made = [x.astype(given), paddle.cast(x, given), paddle.zeros([2], given), paddle.full([1], 1, given), cast(x)]
    assert {m.dtype for m in [*made, paddle.ones_like(x, dtype=given)]} == {NAMED[given]}


@pytest.mark.parametrize("given", ["object", "uint", "float_", "i4,f4", "none", ""])
def test_names_that_are_no_dtypes(given):
    with pytest.raises(TypeError, match="dtype is .*; expected one of"):
        paddle.zeros([1], given)


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
