"""Batch normalization: the cases that the table of ops does not have."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(
    ("kind", "shape", "data_format"),
    [("1D", [1, 3], "NC"), ("1D", [1, 3, 1], "NCL"), ("2D", [1, 3, 1, 1], "NCHW"), ("2D", [1, 1, 1, 3], "NHWC")],
)
def test_a_channel_of_one_element_stays_as_it_is(kind, shape, data_format, static):
    layer = getattr(paddle.nn, f"BatchNorm{kind}")(3, data_format=data_format)
    layer.bias.set_value(paddle.ones([3]))
    before = {name: value.numpy() for name, value in layer.state_dict().items()}
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)

    def run():
        y = layer(x.reshape(shape))
        (y.flatten() * x.detach()).sum().backward()
        return y

    assert (paddle.jit.to_static(run) if static else run)().flatten().tolist() == [1, 2, 3]
    assert x.grad.tolist() == [1, 2, 3]
    assert layer.weight.grad.tolist() == layer.bias.grad.tolist() == [0, 0, 0]
    for name, value in layer.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])
