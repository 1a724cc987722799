"""Simplifications that every trace gets."""

from __future__ import annotations

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py.ir import simplify
from paddle_lite_py.ir.lower import lower
from paddle_lite_py.ir.verify import verify
from traces import X, traced


def test_dead_code_goes():
    def f(x):
        paddle.exp(x)
        return x + 1.0

    assert [op.name for op in traced(f, paddle.to_tensor(X)).program.block.ops] == ["add"]


def test_constants_are_folded():
    def f(x):
        return x * (paddle.full([2], 3.0) + paddle.ones([2]))

    program = verify(simplify.fold_constants(traced(f, paddle.to_tensor(X)).program))
    assert [op.name for op in program.block.ops] == ["constant", "multiply"]
    np.testing.assert_array_equal(lower(program)(np.array(X, "float32"))[0], [4.0, 8.0])
