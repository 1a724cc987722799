"""Tracing: what fails leaves nothing behind, and what a traced tensor cannot do is said."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core.errors import EscapedTensorError, TracedValueError
from paddle_lite_py.tracing.trace import trace
from traces import X, traced


def test_state_is_given_back_when_a_trace_fails():
    count = paddle.zeros([])

    def f(x):
        count.add_(paddle.ones([]))
        raise KeyError("stop")

    with pytest.raises(KeyError):
        traced(f, paddle.to_tensor(X))
    assert count.item() == 0.0


def test_an_escaped_tensor_says_what_it_is():
    kept = []
    traced(lambda x: kept.append(x * 2.0), paddle.to_tensor(X))
    for use in (lambda: kept[0].numpy(), lambda: kept[0] + 1.0, lambda: float(kept[0].sum()), lambda: bool(kept[0])):
        with pytest.raises(EscapedTensorError, match="trace has ended"):
            use()
    assert "traced" in repr(kept[0])


def test_python_cannot_have_the_value_of_a_traced_tensor():
    for use in (bool, int, float, lambda v: v.numpy(), lambda v: v.tolist(), np.asarray):
        with pytest.raises(TracedValueError, match=r"float32\[\].*while a static program is traced"):
            traced(lambda x, use=use: use(x.sum()), paddle.to_tensor(X))


def test_a_traced_tensor_is_no_attribute():
    with pytest.raises(TracedValueError, match="must be known"):
        trace(lambda x: x.reshape([x.sum().astype("int32"), 1]), [jax.ShapeDtypeStruct((2,), "float32")], [False], "x")


def test_errors_of_an_op_name_it_and_its_arguments():
    with pytest.raises((ValueError, TypeError), match=r"matmul\(x=float32\[2\], y=float32\[3\]"):
        traced(lambda x: paddle.matmul(x, paddle.ones([3])), paddle.to_tensor(X))
    with pytest.raises((ValueError, TypeError), match=r"matmul\(x=float32\[2\], y=float32\[3\]"):
        paddle.matmul(paddle.to_tensor(X), paddle.ones([3]))
