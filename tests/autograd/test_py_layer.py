"""PyLayers that take and give more than tensors, and what is wrong with some."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.autograd import PyLayer


def layer(forward, backward):
    return type("Mine", (PyLayer,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def leaf(*shape):
    x = paddle.rand(shape or [2, 3])
    x.stop_gradient = False
    return x


MODES = pytest.mark.parametrize("mode", [lambda f: f, paddle.jit.to_static], ids=["eager", "static"])


@MODES
def test_results_that_are_no_tensors_have_no_gradient(mode):
    def forward(ctx, x, y, function):
        ctx.save_for_backward(function(x), function(y))
        first, second = ctx.saved_tensor()
        return "text", first, 1, second, None

    def backward(ctx, one, two):
        first, second = ctx.saved_tensor()
        return one * (1 - first * first), two * (1 - second * second)

    def run(x):
        text, first, number, second, nothing = layer(forward, backward).apply(x, x, function=paddle.tanh)
        assert (text, number, nothing) == ("text", 1, None)
        return (first + 2 * second).sum()

    x, plain = leaf(), leaf()
    plain.set_value(x)
    mode(run)(x).backward()
    (3 * paddle.tanh(plain)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), plain.grad.numpy(), rtol=1e-6)


@MODES
def test_tensors_in_lists_have_gradients(mode):
    joined = layer(lambda ctx, parts: paddle.concat(parts), lambda ctx, d: [g * 2 for g in paddle.split(d, 3)])
    parts = [leaf(1, 3) for _ in range(3)]
    mode(lambda a, b, c: joined.apply(parts=[a, b, c]).sum())(*parts).backward()
    assert all(p.grad.tolist() == [[2.0] * 3] for p in parts)


@MODES
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda d: d, "Mine.backward gave 1 gradients, but forward took 2 tensors"),
        (lambda d: (d, 1), "Mine.backward gave 1 as the gradient of tensor 1 of 2; expected a tensor or None"),
    ],
)
def test_wrong_gradients_are_told(mode, given, message):
    added = layer(lambda ctx, x, y: x + y, lambda ctx, d: given(d))
    with pytest.raises(ValueError, match=message):
        mode(lambda x: added.apply(x, x).sum().backward())(leaf())


@MODES
def test_gradients_of_the_last_tensors_without_gradient_may_be_left_out(mode):
    scaled = layer(lambda ctx, x, y, z: x * y + z, lambda ctx, d: d * 2)
    x, other = leaf(), paddle.ones([3])
    mode(lambda x: scaled.apply(x, other, other).sum())(x).backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2
    with pytest.raises(ValueError, match="gave 1 gradients, but forward took 3 tensors"):
        mode(lambda x: scaled.apply(x, other, x).sum().backward())(x)


def test_a_result_must_be_a_tensor():
    with pytest.raises(ValueError, match="Mine.forward gave NoneType; at least one result must be a tensor"):
        layer(lambda ctx, x: None, lambda ctx, d: d).apply(leaf())


@pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static])
def test_what_backward_is_given_takes_gradients(wrap):
    class Double(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, dy):
            return dy * (7 if dy.stop_gradient else 2)

    x = paddle.to_tensor([3.0], stop_gradient=False)
    wrap(lambda x: Double.apply(x) + 0.0)(x).sum().backward()
    assert x.grad.tolist() == [2.0]
