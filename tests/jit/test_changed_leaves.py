"""Leaves whose data a static function changes without gradient: what they are then has its gradient all the same."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn

SCENARIOS = {}
ONES = np.ones(3, "float32")


def scenario(fn):
    """Put a function into the table; each takes what makes a function static, and returns tensors."""
    SCENARIOS[fn.__name__] = fn
    return fn


def weight():
    return paddle.create_parameter([3], "float32", default_initializer=nn.initializer.Assign(ONES * [1.0, 2.0, 3.0]))


def backward(loss, *tensors):
    """What backward() of a loss gives."""
    loss.backward()
    return [t.clone().detach() for t in (loss, *tensors, *[t.grad for t in tensors])]


def of_arguments(f, *others):
    """What backward() gives of a function of a new leaf, called twice with the same one."""
    x = paddle.to_tensor(ONES * [1.0, 2.0, 3.0], stop_gradient=False)
    return [*backward(f(x, *others), x), *backward(f(x, *others), x)]


def of_weights(f, w, *arguments):
    return [found for a in arguments for found in backward(f(paddle.to_tensor(ONES), a), w)]


@scenario
def set_value(wrap):
    def f(x):
        with paddle.no_grad():
            x.set_value(x * 2)
        return (x * x).sum()

    return of_arguments(wrap(f))


@scenario
def an_element_after_it_was_read(wrap):
    def f(x):
        y = (x * 3).sum()
        with paddle.no_grad():
            x[0] = 7.0
        return y + (x * x).sum()

    return of_arguments(wrap(f))


@scenario
def through_a_view(wrap):
    def f(x):
        part = x[:2]
        part[0] = part[0] * 3
        return (x * x).sum()

    return of_arguments(wrap(f))


@scenario
def through_a_view_that_has_a_gradient(wrap):
    def f(x):
        part = x[:2]
        part[0] = part[0] - 1
        return (part * part).sum() + x.sum()

    return of_arguments(wrap(f))


@scenario
def in_a_branch(wrap):
    w = weight()

    def f(x, c):
        if c > 0:
            with paddle.no_grad():
                w.scale_(2.0)
        return (w * w * x).sum()

    return of_weights(wrap(f), w, *map(paddle.to_tensor, (1.0, -1.0, 1.0)))


@scenario
def in_a_loop_before(wrap):
    w = weight()

    def f(x, n):
        i = paddle.zeros([], "int32")
        while i < n:
            with paddle.no_grad():
                w.scale_(0.5)
            i += 1
        return (w * w * x).sum()

    return of_weights(wrap(f), w, *[paddle.to_tensor(n, "int32") for n in (1, 3, 0)])


@scenario
def in_each_turn_of_a_loop(wrap):
    w = weight()

    def f(x, n):
        total, i = paddle.zeros([]), paddle.zeros([], "int32")
        while i < n:
            total = total + (w * w * x).sum()
            with paddle.no_grad():
                w.clip_(0.5, 2.5)
            i += 1
        return total

    return of_weights(wrap(f), w, *[paddle.to_tensor(n, "int32") for n in (1, 3)])


@scenario
def by_an_optimizer(wrap):
    w = weight()
    optimizer = paddle.optimizer.Adam(0.1, parameters=[w])

    def f(x, power):
        (w * w * x).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        return (w**power * x).sum()

    return of_weights(wrap(f), w, 3, 3)


@scenario
def between_gradients_inside(wrap):
    w = weight()

    def f(x):
        (w * w * x).sum().backward()
        with paddle.no_grad():
            w.add_(paddle.ones([3]))
        (w * w * x).sum().backward()
        return w.grad * 1

    f = wrap(f)
    return [f(paddle.ones([3])), f(paddle.ones([3])), w.grad, w]


@scenario
def before_a_gradient_of_a_gradient(wrap):
    w = weight()

    def f(x, power):
        with paddle.no_grad():
            w.add_(paddle.ones([3]))
        (grad,) = paddle.grad((w**power * x).sum(), [w], create_graph=True)
        return (grad * grad).sum()

    return of_weights(wrap(f), w, 3, 3)


@scenario
def a_weight_of_a_layer(wrap):
    class Normalized(nn.Linear):
        def forward(self, x):
            with paddle.no_grad():
                self.weight.set_value(self.weight / self.weight.norm())
            return super().forward(x).square().sum()

    net = Normalized(3, 2, weight_attr=nn.initializer.Constant(0.5))
    net = wrap(net) or net
    return [*backward(net(paddle.ones([4, 3])), net.weight), *backward(net(paddle.ones([4, 3])), net.weight)]


@scenario
def before_it_is_read(wrap):
    w, other = weight(), weight()

    def f(x, power):
        with paddle.no_grad():
            paddle.assign(other * 2, w)
        return (w**power * other * x).sum()

    return [*of_weights(wrap(f), w, 2, 3), other.grad]


@scenario
def in_a_branch_before_it_is_read(wrap):
    w = weight()

    def f(x, c):
        y = x.sum()
        if c > 0:
            with paddle.no_grad():
                w.set_value(x * 3)
            y = (w * w * x).sum()
        return y + (w * x).sum()

    return of_weights(wrap(f), w, *map(paddle.to_tensor, (1.0, -1.0)))


@scenario
def what_became_a_leaf_inside(wrap):
    def f(x):
        y = x.detach() * 2
        y.stop_gradient = False
        (y * y * x).sum().backward()
        with paddle.no_grad():
            y.set_value(y * 0 + 1.0)
        (y * 3).sum().backward()
        return y.grad * 1

    x = paddle.to_tensor(ONES, stop_gradient=False)
    return [wrap(f)(x), x.grad]


@scenario
def with_a_hook(wrap):
    w = weight()
    w.register_hook(lambda g: g * 10)

    def f(x, factor):
        with paddle.no_grad():
            w.scale_(factor)
        return (w * w * x).sum()

    return of_weights(wrap(f), w, 2.0, 2.0)


@scenario
def in_a_static_function_of_a_static_function(wrap):
    w = weight()

    @wrap
    def inner(x):
        with paddle.no_grad():
            w.scale_(2.0)
        return (w * w * x).sum()

    return of_weights(wrap(lambda x, k: inner(x) + k * (w * x).sum()), w, 1.0, 1.0)


@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
@pytest.mark.parametrize("name", SCENARIOS)
def test_gradients_are_those_of_eager_mode(name):
    expected, found = SCENARIOS[name](lambda f: f), SCENARIOS[name](paddle.jit.to_static)
    for want, got in zip(expected, found, strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-6)
