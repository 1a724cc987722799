"""Parameters that only unused outputs of a static function depend on have no gradient, as in eager mode."""

from __future__ import annotations

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn


class Heads(nn.Layer):
    """Three results, and two parameters that one result each depends on."""

    def __init__(self):
        super().__init__()
        self.body, self.first, self.second = (nn.Linear(2, 2) for _ in range(3))

    def forward(self, x):
        h = self.body(x)
        return self.first(h), self.second(h), h * 2


LOSSES = {
    "first": lambda outs: outs[0].sum(),
    "second": lambda outs: outs[1].sum(),
    "neither": lambda outs: outs[2].sum(),
    "both": lambda outs: (outs[0] * outs[1]).sum(),
}


def gradients(static, loss, optimizer):
    paddle.seed(0)
    net = Heads()
    run = to_static(net) if static else net
    opt = paddle.optimizer.AdamW(0.1, parameters=net.parameters())
    found = []
    for _ in range(3):
        loss(run(paddle.ones([3, 2]))).backward()
        found.append([None if p.grad is None else p.grad.numpy() for p in net.parameters()])
        if optimizer:  # decays those that have a gradient
            opt.step()
        opt.clear_grad(set_to_zero=False)
    return found, [p.numpy() for p in net.parameters()]


@pytest.mark.parametrize("optimizer", [False, True], ids=["gradients", "an optimizer"])
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_eager_mode(name, optimizer):
    static, eager = (gradients(static, LOSSES[name], optimizer) for static in (True, False))
    for found, expected in zip(static[0], eager[0], strict=True):
        assert [g is None for g in found] == [g is None for g in expected]
        for a, b in zip(found, expected, strict=True):
            if b is not None:
                np.testing.assert_allclose(a, b, rtol=1e-6)
    for a, b in zip(static[1], eager[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_gradients_of_gradients_too():
    x = paddle.ones([3, 2])
    for static in (False, True):
        net = Heads()
        run = to_static(net) if static else net
        (g,) = paddle.grad(run(x)[0].square().sum(), [net.body.weight], create_graph=True)
        g.square().sum().backward()
        assert net.second.weight.grad is None and net.first.weight.grad is not None


def drawn(x):
    w = paddle.arange(4.0).reshape([2, 2]) * 0.1
    w.stop_gradient = False
    return w, x * 3


def cut_off(x):
    w = (x * 2).detach()
    w.stop_gradient = False
    return w, x * 3


@pytest.mark.parametrize("stop", [True, False])
@pytest.mark.parametrize("make", [drawn, cut_off])
def test_results_that_a_function_makes_trainable_are_leaves(make, stop):
    found = []
    for f in (make, to_static(make, full_graph=True)):
        for _ in range(2):
            x = paddle.ones([2, 2])
            x.stop_gradient = stop
            w, y = f(x)
            ((w * w).sum() + y.sum()).backward()
            found.append((w.is_leaf, w.grad.tolist(), y.is_leaf, None if x.grad is None else x.grad.tolist()))
    assert found[0][0] and all(f == found[0] for f in found)
