"""Averages and steps ahead of an optimizer."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def test_averages_refuse_what_they_cannot_do():
    with pytest.raises(ValueError, match="alpha is 2"):
        paddle.incubate.LookAhead(None, alpha=2)
    with pytest.raises(ValueError, match="parameters is None"):
        paddle.incubate.ModelAverage(0.5)


def looking_ahead(w):
    opt = paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1, [w]), alpha=0.5, k=2)
    return opt, opt.step, lambda: w.tolist()


def averaging(w):
    opt = paddle.optimizer.SGD(0.1, [w])
    average = paddle.incubate.ModelAverage(0.5, [w], min_average_window=2, max_average_window=3)

    def averaged():
        with average.apply():
            return w.tolist()

    return opt, lambda: (opt.step(), average.step()), averaged


@pytest.mark.parametrize("make", [looking_ahead, averaging])
def test_steps_under_a_condition_in_a_static_function(make):
    def run(static):
        w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        opt, step, value = make(w)

        def f(go):
            (w * w).sum().backward()
            if go > 0:
                step()
            opt.clear_grad()

        f = paddle.jit.to_static(f, full_graph=True) if static else f
        found = []
        for go in (1.0, 1.0, -1.0, 1.0, 1.0, 1.0):
            f(paddle.to_tensor(go))
            found.append(value())
        return found

    assert np.allclose(run(True), run(False), rtol=1e-6)


def test_averages_go_on_from_a_saved_state(tmp_path):
    w = paddle.create_parameter([1], "float32")
    averages = [paddle.incubate.ModelAverage(0.9, [w], 2, 3) for _ in range(2)]
    for value in (1.0, 2.0, 6.0, 5.0):
        w.set_value(paddle.to_tensor([value]))
        averages[0].step()
        if value == 2.0:
            paddle.save(averages[0].state_dict(), str(tmp_path / "average.pdopt"))
            averages[1].set_state_dict(paddle.load(str(tmp_path / "average.pdopt")))
        elif value > 2.0:
            averages[1].step()
    found = []
    for average in averages:
        with average.apply():
            found.append(w.item())
    assert found[0] == found[1] != 5.0
    with pytest.raises(KeyError, match="the state has no"):
        averages[0].set_state_dict({})


def test_averages_clear_the_gradients_of_their_parameters():
    w = paddle.create_parameter([1], "float32")
    average = paddle.incubate.ModelAverage(0.9, [w])
    (w * 2).sum().backward()
    average.clear_grad()
    assert w.grad.tolist() == [0.0]
