"""Results, gradients, and gradients of gradients of the op tables against those of PaddlePaddle."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gradient_cases
import paddle_lite_py as paddle
from figures import GOLDEN, compare


@pytest.mark.parametrize("case", [c for c in GOLDEN if c.endswith(" float32")])
def test_figures(case: str):
    compare(case, found(case, "out first"), "out first")


@pytest.mark.repeat
@pytest.mark.parametrize("case", [c for c in GOLDEN if not c.endswith(" float32")])
def test_figures_in_low_precision(case: str):
    compare(case, found(case, "out first"), "out first")


@pytest.mark.repeat
@pytest.mark.parametrize("case", [c for c in GOLDEN if "second" in GOLDEN[c]])
def test_figures_of_second_order(case: str):
    compare(case, found(case, "out first second"), "second")


def found(case: str, orders: str) -> dict[str, list[Any]]:
    """What the row of a case gives eagerly."""
    key, _, dtype = case.rpartition(" ")
    return dict(itertools.islice(gradient_cases.run(paddle, key, dtype), len(orders.split())))


def test_every_row_is_recorded():
    """What PaddlePaddle does not compute for a row of ours, row by row."""
    absent = {k for k in gradient_cases.cases() if f"{k} float32" not in GOLDEN}
    assert len(absent) < 25
    assert {c.rpartition(" ")[0] for c in GOLDEN} <= gradient_cases.cases().keys()


# At 0, -0, 1, -1, 6, 3 and -3, as PaddlePaddle 3.3.1 gives them.
KINKS = {
    "relu": ("relu(x)", [0, 0, 1, 0, 1, 1, 0]),
    "relu6": ("relu6(x)", [0, 0, 1, 0, 0, 1, 0]),
    "leaky": ("leaky_relu(x)", [1, 1, 1, 0.01, 1, 1, 0.01]),
    "hardtanh": ("hardtanh(x)", [1, 1, 0, 0, 0, 0, 0]),
    "hardswish": ("hardswish(x)", [0.5, 0.5, 5 / 6, 1 / 6, 1, 1, 0]),
    "selu": ("selu(x)", [1.7581, 1.7581, 1.0507, 0.6468, 1.0507, 1.0507, 0.0875]),
    "abs": ("paddle.abs(x)", [0, 0, 1, -1, 1, 1, -1]),
    "l1": ("l1_loss(x, x * 0, 'sum')", [0, 0, 1, -1, 1, 1, -1]),
    "angle": ("paddle.angle(paddle.complex(x, x * 2))", [0, 0, 0, 0, 0, 0, 0]),
    "norm": ("paddle.norm(x, p=1)", [0, 0, 1, -1, 1, 1, -1]),
}


@pytest.mark.parametrize("name", KINKS)
def test_gradients_at_kinks(name):
    expression, expected = KINKS[name]
    x = paddle.to_tensor([0.0, -0.0, 1.0, -1.0, 6.0, 3.0, -3.0], stop_gradient=False)
    out = eval(expression, {"x": x, "paddle": paddle} | vars(paddle.nn.functional))
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), expected, atol=1e-4)


# PaddlePaddle tells 0 from the other numbers before it multiplies: 0 comes out where infinity comes back.
@pytest.mark.parametrize("back", [np.inf, np.nan])
@pytest.mark.parametrize("size", [paddle.abs, paddle.angle, lambda x: paddle.abs(paddle.complex(x, x))])
def test_gradient_at_0_of_what_is_infinite(size, back):
    x = paddle.to_tensor([0.0, -0.0], stop_gradient=False)
    (gradient,) = paddle.grad(size(x), x, paddle.full([2], back))
    assert gradient.tolist() == [0.0, 0.0]
    root = paddle.to_tensor([4.0, 0.0], stop_gradient=False)
    paddle.sqrt(size(root)).sum().backward()
    assert np.isfinite(root.grad.numpy()).all()
