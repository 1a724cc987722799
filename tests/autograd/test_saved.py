"""saved_tensors_hooks: what the tape keeps goes through the hooks, and gradients are the same."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn


class Hooks:
    """Hooks that count, and keep NumPy arrays."""

    def __init__(self):
        self.packed, self.unpacked = [], 0
        self.block = paddle.autograd.saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, tensor):
        self.packed.append(tuple(tensor.shape))
        return tensor.numpy()

    def unpack(self, array):
        self.unpacked += 1
        return paddle.to_tensor(array)


def gradients(hooks, function, *shapes):
    rs = np.random.RandomState(0)
    inputs = [paddle.to_tensor(rs.randn(*s).astype("float32"), stop_gradient=False) for s in shapes]
    if hooks is None:
        out = function(*inputs)
    else:
        with hooks.block:
            out = function(*inputs)
    out.sum().backward()
    return [x.grad.numpy() for x in inputs]


def dropped(x):
    paddle.seed(5)
    return nn.functional.dropout(x * x, 0.5) * 2.0


FUNCTIONS = [
    (lambda x, y: (x * y).exp() + x.matmul(y), [(2, 2), (2, 2)]),
    (lambda x: x.split(2)[0] * 3.0, [(4,)]),
    (dropped, [(8,)]),
    (lambda x: (nn.functional.log_softmax(x) * x).tanh(), [(2, 3)]),
]


@pytest.mark.parametrize(("function", "shapes"), FUNCTIONS)
def test_gradients_are_the_same(function, shapes):
    hooks = Hooks()
    for found, wanted in zip(gradients(hooks, function, *shapes), gradients(None, function, *shapes), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert hooks.packed and hooks.unpacked == len(hooks.packed)


def test_a_recurrent_net_and_a_layer_of_the_users():
    paddle.seed(0)
    rnn = nn.GRU(2, 3)

    class Cube(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, 3)
            return x**3

        @staticmethod
        def backward(ctx, g):
            x, n = ctx.saved_tensor()
            return g * n * x * x

    def run(x):
        return rnn(Cube.apply(x))[0]

    hooks = Hooks()
    found, wanted = gradients(hooks, run, (1, 4, 2)), gradients(None, run, (1, 4, 2))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5)
    assert 0 < hooks.unpacked <= len(hooks.packed)  # nothing reads the last state


def test_what_is_kept_is_what_the_hook_returns():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    with paddle.autograd.saved_tensors_hooks(lambda t: None, lambda _: paddle.to_tensor([10.0, 10.0])):
        y = x * x
    z = y * 1.0  # outside of the block
    z.sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


def test_programs_and_second_gradients():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)

    @paddle.jit.to_static
    def f(x):
        with Hooks().block:
            return x * x

    f(x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    with Hooks().block:
        y = (x * x).sum()
    with pytest.raises(NotImplementedError, match="gradient of a gradient through `sum` within saved_tensors_hooks"):
        paddle.grad(y, x, create_graph=True)
