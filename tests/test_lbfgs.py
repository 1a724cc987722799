"""L-BFGS on a bent valley, against the reference's path."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def valley(**settings):
    w = paddle.create_parameter([2], "float32")
    w.set_value(np.array([-1.2, 1.0], "float32"))
    opt = paddle.optimizer.LBFGS(parameters=[w], max_iter=8, **settings)

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


def test_what_is_wrong_is_told():
    with pytest.raises(TypeError, match="needs a closure"):
        valley()[1].step()
    with pytest.raises(ValueError, match="line_search_fn is 'armijo'"):
        valley(line_search_fn="armijo")
