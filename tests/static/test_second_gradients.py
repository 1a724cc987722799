"""What a second call of gradients finds: the program as it was built, whatever was asked of it before."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
import sequence_cases

RECORDED = json.loads((Path(__file__).parents[1] / "golden" / "sequences.json").read_text())


@pytest.mark.parametrize("between", [False, True], ids=["at the end", "between"])
@pytest.mark.parametrize("case", sequence_cases.CASES)
def test_gradients_one_after_another(case, between):
    found, wanted = sequence_cases.run(paddle, case, between), RECORDED[case]
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert (a is None) == (b is None)
        if b is not None:
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_third_derivative_by_another_variable():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        x, y = (paddle.static.data(n, [2]) for n in "xy")
        x.stop_gradient = y.stop_gradient = False
        (g,) = paddle.static.gradients((x**4 * y).sum(), x)
        (h,) = paddle.static.gradients(g, x)
        out = paddle.static.gradients(h, x) + paddle.static.gradients(h, y) + paddle.static.gradients(g, y)
        found = paddle.static.Executor().run(feed=sequence_cases.FEED, fetch_list=out)
    paddle.disable_static()
    assert [a.tolist() for a in found] == [[72.0, -48.0], [12.0, 48.0], [4.0, 32.0]]


def test_a_second_gradient_inside_a_static_function():
    def both(x, y):
        h = x * y
        loss = (h * h).sum()
        first = paddle.grad(loss, h, retain_graph=True)[0]
        return first, paddle.grad(loss, x, retain_graph=True)[0], paddle.grad(loss, h)[0]

    args = [paddle.to_tensor(a, stop_gradient=False) for a in sequence_cases.FEED.values()]
    for a, b in zip(paddle.jit.to_static(both)(*args), both(*args), strict=True):
        assert a.tolist() == b.tolist()
