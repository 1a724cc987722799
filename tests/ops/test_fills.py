"""Filling a tensor in place: it stays part of the graph, and gradients of 0 flow to what it was computed from."""

import pytest

import paddle_lite_py as paddle

FILLS = {
    "zero_": (),
    "fill_": (3.0,),
    "normal_": (),
    "uniform_": (),
    "exponential_": (),
    "bernoulli_": (),
    "cauchy_": (),
    "geometric_": (0.5,),
    "log_normal_": (),
    "random_": (),
}


@pytest.mark.parametrize("name", FILLS)
def test_gradients_are_zeros(name):
    x = paddle.to_tensor([1.0, float("inf")], stop_gradient=False)
    y = x * 2
    getattr(y, name)(*FILLS[name])
    assert not y.stop_gradient
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_without_recording():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    with paddle.no_grad():
        x.fill_(5.0)
    assert x.item() == 5 and x.is_leaf and not x.stop_gradient
