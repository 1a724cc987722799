"""grad() visits what leads to its inputs, and leaves the graph as it is."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle

MODES = {"eager": lambda f: f, "static": lambda f: paddle.jit.to_static(f, full_graph=True)}


def leaf(value):
    return paddle.to_tensor([value], stop_gradient=False)


@pytest.mark.parametrize("create_graph", [False, True])
def test_what_does_not_lead_to_an_input_is_not_visited(create_graph):
    called = []

    class Double(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, dy):
            called.append("backward")
            return dy * 2

    x, w = leaf(1.0), leaf(2.0)
    doubled = Double.apply(w)
    doubled.register_hook(lambda g: called.append("hook"))
    (found,) = paddle.grad((x * x + doubled).sum(), [x], create_graph=create_graph)
    assert found.tolist() == [2.0] and not called and w.grad is None
    doubled.backward()
    assert called == ["hook", "backward"] and w.grad.tolist() == [2.0]


def test_a_hook_on_an_input_is_called_and_nothing_below_it():
    called = []
    x = leaf(1.0)
    low = x * 3
    low.register_hook(lambda g: called.append("low"))
    middle = low * 2
    middle.register_hook(lambda g: called.append("middle"))
    assert paddle.grad((middle * middle).sum(), [middle])[0].tolist() == [12.0] and called == ["middle"]


@pytest.mark.parametrize("mode", MODES)
def test_backward_may_follow(mode):
    x, w = leaf(1.0), leaf(2.0)

    def both(x, w):
        shared = w * w * 3
        loss = (x * x + shared).sum()
        (found,) = paddle.grad(loss, [x])
        shared.sum().backward(retain_graph=True)
        loss.backward()
        return found

    assert MODES[mode](both)(x, w).tolist() == [2.0]
    assert (x.grad.tolist(), w.grad.tolist()) == ([2.0], [24.0])


def test_a_gradient_is_that_of_the_argument_that_takes_one():
    """The same op again, of which another argument takes the gradient."""
    for first in (True, False, True):
        x = paddle.to_tensor([2.0], stop_gradient=not first)
        y = paddle.to_tensor([3.0], stop_gradient=first)
        (found,) = paddle.grad(x * y, [x if first else y], create_graph=True)
        assert found.item() == (3 if first else 2)


def test_a_gradient_begins_with_ones_of_the_dtype():
    for dtype in ("float32", "float64", "float32"):
        x = paddle.to_tensor([[1.0, 2.0]], dtype, stop_gradient=False)
        x.register_hook(lambda grad: grad * 1)  # so that backward does not begin at once
        y, found = x * 2, []
        y.register_hook(found.append)
        y.backward()
        assert found[0].dtype.name == x.grad.dtype.name == dtype
