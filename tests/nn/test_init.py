"""Parameters drawn anew, in place."""

from __future__ import annotations

import math

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import init

WIDE = [200, 100]
# call -> (mean, standard deviation, largest size) of what is drawn for a [200, 100] matrix
DRAWN = {
    "uniform_": (lambda t: init.uniform_(t, -1.0, 3.0), (1.0, 4 / math.sqrt(12), 3.0)),
    "normal_": (lambda t: init.normal_(t, 2.0, 0.5), (2.0, 0.5, math.inf)),
    "trunc_normal_": (lambda t: init.trunc_normal_(t, 0.0, 1.0, -2.0, 2.0), (0.0, 0.88, 2.0)),
    "xavier_uniform_": (lambda t: init.xavier_uniform_(t, 2.0), (0.0, 2 * math.sqrt(2 / 300), 2 * math.sqrt(6 / 300))),
    "xavier_normal_": (lambda t: init.xavier_normal_(t), (0.0, math.sqrt(2 / 300), math.inf)),
    "kaiming_uniform_": (
        lambda t: init.kaiming_uniform_(t, nonlinearity="relu"),
        (0.0, math.sqrt(2 / 200), math.sqrt(6 / 200)),
    ),
    "kaiming_normal_": (lambda t: init.kaiming_normal_(t, nonlinearity="relu"), (0.0, math.sqrt(2 / 200), math.inf)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn(name):
    draw, (mean, deviation, largest) = DRAWN[name]
    paddle.seed(0)
    weight = paddle.nn.Linear(*WIDE).weight
    before = weight.numpy()
    assert draw(weight) is weight and not weight.stop_gradient and weight.is_leaf
    found = weight.numpy()
    assert found.shape == tuple(WIDE) and (found != before).any() and np.abs(found).max() <= largest + 1e-6
    np.testing.assert_allclose([found.mean(), found.std()], [mean, deviation], atol=0.02 * max(1, abs(mean)))


def test_what_is_fixed():
    square = paddle.zeros([2, 3])
    assert init.eye_(square).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] and init.eye_(square) is square
    assert init.ones_(square).sum() == 6 and init.zeros_(square).sum() == 0 and init.constant_(square, 2.5).max() == 2.5
    kernel = init.dirac_(paddle.ones([2, 2, 3]))
    assert kernel.tolist() == [[[0.0, 1.0, 0.0], [0.0] * 3], [[0.0] * 3, [0.0, 1.0, 0.0]]]
    turned = init.orthogonal_(paddle.zeros([3, 5]), gain=2.0).numpy()
    np.testing.assert_allclose(turned @ turned.T, 4 * np.eye(3), atol=1e-5)


def test_a_parameter_in_use_is_drawn_anew():
    layer = paddle.nn.Linear(2, 2)
    run = paddle.jit.to_static(layer)
    init.constant_(layer.weight, 1.0)
    init.zeros_(layer.bias)
    assert run(paddle.ones([1, 2])).tolist() == [[2.0, 2.0]]
    init.constant_(layer.weight, 3.0)
    assert run(paddle.ones([1, 2])).tolist() == [[6.0, 6.0]]
