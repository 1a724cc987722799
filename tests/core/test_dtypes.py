"""dtypes by their names."""

from __future__ import annotations

import paddle_lite_py as paddle


def test_dtypes_by_constants():
    assert paddle.dtype.FLOAT32 is paddle.float32 and paddle.dtype.BFLOAT16 is paddle.bfloat16
    assert paddle.zeros([1], dtype=paddle.int).dtype == "int32"
