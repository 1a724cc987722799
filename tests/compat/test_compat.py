"""Functions that take what those of torch do, in both modes; the figures are in kernel_cases.py."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import compat

X = paddle.to_tensor([[1.0, 3.0, 2.0], [6.0, 4.0, 5.0]])


def test_programs_give_the_same():
    def several(x):
        values, indices = compat.max(x, 1)
        return values, indices, compat.sort(x, 1).values, compat.min(x, values.unsqueeze(1)), *compat.split(x, 2, 1)

    for found, wanted in zip(paddle.jit.to_static(several)(X), several(X), strict=True):
        assert found.tolist() == wanted.tolist()


def test_results_go_where_they_are_wanted():
    out = (paddle.zeros([1]), paddle.zeros([1], "int64"))
    values, indices = compat.max(X, 1, out=out)
    assert values is out[0] and out[0].tolist() == [3.0, 6.0] and out[1].tolist() == [1, 0]
    with pytest.raises(TypeError, match="axis"):
        compat.max(X, axis=1)


def test_layers():
    paddle.seed(2)
    layer = compat.nn.Linear(3, 2)
    np.testing.assert_allclose(
        layer(X).numpy(), X.numpy() @ layer.weight.numpy().T + layer.bias.numpy(), rtol=1e-5, atol=1e-6
    )
    before = layer.weight.numpy()
    layer.reset_parameters()
    assert np.abs(before - layer.weight.numpy()).max() > 0 and np.abs(layer.weight.numpy()).max() <= 3**-0.5
    assert repr(compat.nn.Linear(3, 2, bias=False)) == "Linear(in_features=3, out_features=2, bias=False)"
    assert len(compat.nn.Linear(3, 2, bias=False).parameters()) == 1
    assert compat.seed() != compat.seed()
