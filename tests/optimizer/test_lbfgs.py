"""L-BFGS on a bent valley, against the reference's path."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def valley(max_iter=8, **settings):
    w = paddle.create_parameter([2], "float32")
    w.set_value(np.array([-1.2, 1.0], "float32"))
    opt = paddle.optimizer.LBFGS(parameters=[w], max_iter=max_iter, **settings)

    def closure():
        opt.clear_grad()
        loss = (1 - w[0]) ** 2 + 5.0 * (w[1] - w[0] ** 2) ** 2
        loss.backward()
        return loss

    return w, opt, closure


def test_the_path_without_line_search_is_the_references():
    w, opt, closure = valley(learning_rate=0.1)
    found = [(float(opt.step(closure)), *w.tolist()) for _ in range(3)]
    expected = [(5.808001, -1.009131, 0.9907567), (4.040414, 0.206555, -0.4733044), (1.960677, 0.1179586, -0.2814675)]
    np.testing.assert_allclose(found, expected, rtol=2e-4)


def test_a_line_search_reaches_the_bottom():
    w, opt, closure = valley(line_search_fn="strong_wolfe")
    for _ in range(6):
        opt.step(closure)
    np.testing.assert_allclose(w.numpy(), [1.0, 1.0], atol=1e-4)
    assert float(closure()) < 1e-8


def test_the_path_with_a_line_search_is_the_references():
    w, opt, closure = valley(max_iter=4, line_search_fn="strong_wolfe")
    asked = []

    def counted():
        asked.append(1)
        return closure()

    found = [(float(opt.step(counted)), len(asked), *w.tolist()) for _ in range(5)]
    expected = [(5.808, 5, -0.8658, 0.76741), (3.48281, 11, 0.11095, -0.1898), (0.994652, 16, 0.67581, 0.35929)]
    expected += [(0.15256, 21, 0.94576, 0.86477), (0.0073475, 26, 1.0001, 1.0001)]
    np.testing.assert_allclose(found, expected, rtol=2e-4)


def test_a_search_that_goes_too_far_comes_back():
    w = paddle.create_parameter([1], "float32")
    w.set_value(np.array([3.0], "float32"))
    opt = paddle.optimizer.LBFGS(20.0, parameters=[w], line_search_fn="strong_wolfe")

    def closure():
        opt.clear_grad()
        loss = (w**4).sum() - w.sum()
        loss.backward()
        return loss

    opt.step(closure)
    np.testing.assert_allclose(w.numpy(), [0.25 ** (1 / 3)], atol=1e-4)


def test_what_is_wrong_is_told():
    with pytest.raises(TypeError, match="needs a closure"):
        valley()[1].step()
    with pytest.raises(ValueError, match="line_search_fn is 'armijo'"):
        valley(line_search_fn="armijo")
