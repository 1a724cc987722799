"""Quantiles at shares that are numbers, lists, arrays and tensors, known or not."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle

NAMES = ("quantile", "nanquantile")
X = np.array([[1.0, 4.0, 2.0, 7.0], [np.nan, 0.0, 3.0, -1.0]])
SHARES = [0.25, np.float32(0.5), [0.0, 0.5, 1.0], np.array([0.1, 0.9], "float32"), np.array(0.75)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("q", SHARES, ids=str)
def test_the_shares_may_be_a_tensor_in_each_mode(name, q):
    want = getattr(np, name)(X, q, axis=1)
    function = getattr(paddle, name)
    x, at = paddle.to_tensor(X), paddle.to_tensor(np.asarray(q, "float64"))
    static = paddle.jit.to_static(lambda x, q: function(x, q, axis=1), full_graph=True)
    for given in (q, at):
        for found in (function(x, given, axis=1), function(x, q=given, axis=1), static(x, given)):
            np.testing.assert_allclose(found.numpy(), want, rtol=1e-6)
    found = static(x, at * 0)
    np.testing.assert_allclose(found.numpy(), getattr(np, name)(X, np.asarray(q) * 0, axis=1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [[], [2]])
def test_a_program_is_fed_the_shares(name, shape):
    paddle.enable_static()
    program, q = paddle.static.Program(), np.full(shape, 0.5, "float32")
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [2, 4], "float64")
        out = getattr(paddle, name)(x, paddle.static.data("q", shape, "float32"), axis=1, keepdim=True)
    assert list(out.shape) == [*shape, 2, 1] and out.dtype == paddle.float64
    (found,) = paddle.static.Executor().run(program, feed={"x": X, "q": q}, fetch_list=[out])
    np.testing.assert_allclose(found, getattr(np, name)(X, q, axis=1, keepdims=True))


@pytest.mark.parametrize("name", NAMES)
def test_gradients_flow_to_the_elements_that_were_chosen(name):
    grads = []
    for q in (0.5, paddle.to_tensor(0.5)):
        x = paddle.to_tensor([3.0, 1.0, 2.0], stop_gradient=False)
        getattr(paddle, name)(x, q).backward()
        grads.append(x.grad.tolist())
    assert grads == [[0.0, 0.0, 1.0]] * 2
