"""vmap and derivatives forwards."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.autograd import jvp, transforms, vmap

X = paddle.to_tensor(np.arange(6, dtype="float32").reshape(3, 2))


def test_a_function_of_one_sample_takes_a_batch():
    f = vmap(lambda row, by: {"sum": row.sum() * by, "row": row})
    out = f(X, paddle.to_tensor([1.0, 2.0, 3.0]))
    assert out["sum"].tolist() == [1.0, 10.0, 27.0] and out["row"].shape == [3, 2]
    columns = vmap(lambda c: c.max(), in_axes=1)(X)
    assert columns.tolist() == [4.0, 5.0]
    assert vmap(lambda a, b: a + b, (0, None), 1)(X, X[0]).shape == [2, 3]


def test_gradients_of_each_sample():
    net, y = nn.Linear(2, 1), paddle.to_tensor([[1.0], [0.0], [2.0]])

    def gradients(x, target):
        return paddle.grad(((net(x) - target) ** 2).sum(), [net.weight, net.bias])

    weights, biases = vmap(gradients)(X, y)
    for i in range(3):
        one = gradients(X[i], y[i])
        np.testing.assert_allclose(weights[i].numpy(), one[0].numpy(), rtol=1e-5)
        np.testing.assert_allclose(biases[i].numpy(), one[1].numpy(), rtol=1e-5)


def test_a_gradient_flows_through_and_to_what_is_read_from_outside():
    net, x = nn.Linear(2, 1), X.clone()
    x.stop_gradient = False
    vmap(lambda row: net(row).tanh().sum())(x).sum().backward()
    got = x.grad.numpy(), net.weight.grad.numpy()
    x.clear_grad(), net.clear_gradients()
    net(x).tanh().sum().backward()
    np.testing.assert_allclose(got[0], x.grad.numpy(), rtol=1e-5)
    np.testing.assert_allclose(got[1], net.weight.grad.numpy(), rtol=1e-5)


def test_it_compiles_once_and_works_in_static_functions():
    f = vmap(lambda row: (row * 3.5).sum())
    before = len(transforms._KNOWN)
    first = f(X)
    f(X + 1)
    assert len(transforms._KNOWN) == before + 1
    static = paddle.jit.to_static(lambda x: vmap(lambda row: (row * 3.5).sum())(x) * 2)
    np.testing.assert_allclose(static(X).numpy(), first.numpy() * 2)


def test_derivatives_forwards():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    v = paddle.ones([3, 2])
    y, t = jvp(net, X, v)
    _, again = paddle.autograd.derivatives.jvp_by_gradients(net, X, v)
    assert y.shape == t.shape == [3, 3]
    np.testing.assert_allclose(t.numpy(), again.numpy(), rtol=1e-5, atol=1e-6)
    lstm = nn.LSTM(2, 2)  # its derivative is only known backwards
    _, t = jvp(lambda x: lstm(x)[0], X.unsqueeze(0), paddle.ones([1, 3, 2]))
    assert t.shape == [1, 3, 2] and float(t.abs().sum()) > 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: vmap(lambda a: a + paddle.rand([2]))(X), "draws random numbers"),
        (lambda: vmap(lambda a: a, in_axes=(0, 1))(X), "in_axes has 2 entries for 1 arguments"),
        (lambda: vmap(lambda a: a, in_axes=5)(X), "axis 5 of an argument of the shape"),
    ],
)
def test_what_cannot_be_transformed(call, words):
    with pytest.raises(ValueError, match=words):
        call()
