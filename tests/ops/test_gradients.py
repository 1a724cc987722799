"""Results, gradients, and gradients of gradients of the op tables against those of PaddlePaddle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradient_cases
import paddle_lite_py as paddle

GOLDEN = gradient_cases.golden()
# By the size of the largest element. In low precision: two roundings.
PRECISION = {"float32": 1e-6, "complex64": 1e-6, "float64": 1e-12, "bfloat16": 2.0**-7, "float16": 2.0**-10}
LOOSER = {  # how many times as far apart the values of an op may be, and why
    **dict.fromkeys(("lgamma", "digamma", "gammainc", "gammaincc"), (5, "other series")),
    **dict.fromkeys(("cond", "ctc_loss", "cosine_embedding_loss", "nll_loss"), (3, "sums of terms that cancel")),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "std"), (3, "sums in another order")),
    "interpolate": (10, "low precision is summed in float32; PaddlePaddle rounds each term of a gradient"),
}


@pytest.mark.parametrize("case", GOLDEN)
def test_figures(case: str):
    key, _, dtype = case.rpartition(" ")
    found: dict[str, list[Any]] = {}
    for order, tensors in gradient_cases.run(paddle, key, dtype):
        found[order] = [gradient_cases.summary(t) for t in tensors]
        if len(found) == len(GOLDEN[case]):
            break
    for order, wanted in GOLDEN[case].items():
        if not gradient_cases.apart(key, order):
            for got, want in zip(found.get(order, [[]] * len(wanted)), wanted, strict=True):
                agree(gradient_cases.cases()[key].name, got, want)


def agree(name: str, got: list[Any], want: list[Any]) -> None:
    """Compare figures. Where PaddlePaddle has no gradient ours may have one; 0 is the same as none."""
    if not want or (not got and not any(want[2:])):
        return
    assert got[:2] == want[:2]
    (largest, total, *some), (size, sum_, *others) = got[2:], want[2:]
    bound = PRECISION.get(want[0], 0) * LOOSER.get(name, (1,))[0]
    finite = size if math.isfinite(size) else 1.0
    np.testing.assert_allclose([largest, *some], [size, *others], rtol=0, atol=bound * finite)
    np.testing.assert_allclose(total, sum_, rtol=0, atol=2 * bound * finite * max(1, math.prod(want[1])) ** 0.5)


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
    "norm": ("paddle.norm(x, p=1)", [0, 0, 1, -1, 1, 1, -1]),
}


@pytest.mark.parametrize("name", KINKS)
def test_gradients_at_kinks(name):
    expression, expected = KINKS[name]
    x = paddle.to_tensor([0.0, -0.0, 1.0, -1.0, 6.0, 3.0, -3.0], stop_gradient=False)
    out = eval(expression, {"x": x, "paddle": paddle} | vars(paddle.nn.functional))
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), expected, atol=1e-4)
