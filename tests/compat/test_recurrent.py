"""Recurrent layers with torch's signatures: the same numbers as those of paddle.nn, in torch's form."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.compat import nn as torch_like


@pytest.mark.parametrize(
    ("name", "other"), [("RNNCell", "SimpleRNNCell"), ("GRUCell", "GRUCell"), ("LSTMCell", "LSTMCell")]
)
def test_a_cell_returns_its_state(name, other):
    ours, theirs = getattr(torch_like, name)(3, 2), getattr(paddle.nn, other)(3, 2)
    ours.set_state_dict(theirs.state_dict())
    x = paddle.ones([1, 3])
    state, expected = ours(x), theirs(x)[1]
    again, expected_again = ours(x, state), theirs(x, expected)[1]
    for a, b in [(state, expected), (again, expected_again)]:
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    assert all(p.stop_gradient for p in (getattr(torch_like, name)(3, 2, bias=False).bias_ih,))


@pytest.mark.parametrize(("name", "other"), [("RNN", "SimpleRNN"), ("GRU", "GRU"), ("LSTM", "LSTM")])
def test_time_comes_first(name, other):
    ours, theirs = (
        getattr(torch_like, name)(3, 2, bidirectional=True),
        getattr(paddle.nn, other)(3, 2, direction="bidirect"),
    )
    ours.set_state_dict(theirs.state_dict())
    x = paddle.arange(12, dtype="float32").reshape([4, 1, 3])
    np.testing.assert_allclose(ours(x)[0].numpy(), theirs(x.transpose(0, 1))[0].transpose(0, 1).numpy(), rtol=1e-6)
