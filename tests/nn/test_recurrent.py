"""Recurrent layers over sequences of different lengths, and in programs whose sizes are unknown."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static

RNG = np.random.default_rng(0)
X, H = RNG.normal(size=(3, 4, 5)).astype("float32"), RNG.normal(size=(3, 6)).astype("float32")
LENGTHS = np.array([4, 1, 2])


class ByItself(nn.Layer):
    """A cell of the user's own, which runs step by step."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x, states):
        return self.cell(x, states)


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("cell", [nn.SimpleRNNCell, nn.GRUCell, nn.LSTMCell])
def test_lengths_mean_the_same_as_one_op_and_step_by_step(cell, is_reverse):
    made = cell(5, 6)
    states = (paddle.to_tensor(H), paddle.to_tensor(H * 2)) if cell is nn.LSTMCell else paddle.to_tensor(H)
    results = []
    for run in (nn.RNN(made, is_reverse), nn.RNN(ByItself(made), is_reverse)):
        x = paddle.to_tensor(X, stop_gradient=False)
        out, last = run(x, states, paddle.to_tensor(LENGTHS))
        (out * out).sum().backward()
        results.append([out, *paddle.utils.flatten(last), x.grad, made.weight_hh.grad.clone()])
        made.clear_gradients()
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


def stack(x, h, _lengths):
    return nn.GRU(5, 6, 2)(x, paddle.stack([h, h]))


def cell_with_lengths(x, h, lengths):
    return nn.RNN(nn.SimpleRNNCell(5, 6))(x, h, lengths)


@pytest.mark.parametrize("net", [stack, cell_with_lengths])
@pytest.mark.parametrize("steps", [4, 2])
def test_sizes_are_known_at_run_time_only(net, steps):
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        given = [static.data("x", [None, None, 5]), static.data("h", [None, 6]), static.data("n", [None], "int64")]
        fetched = net(*given)
    feed = {"x": X[:, :steps], "h": H, "n": LENGTHS.clip(max=steps)}
    executor = static.Executor()
    executor.run(startup)
    out, last = executor.run(main, feed=feed, fetch_list=list(fetched))
    assert out.shape == (3, steps, 6) and last.shape[-2:] == (3, 6)
    whole = out[0, steps - 1]  # the first sequence has all steps
    np.testing.assert_allclose(last.reshape(-1, 3, 6)[-1, 0], whole, rtol=1e-6)


def test_a_state_of_another_size_is_named():
    with pytest.raises(ValueError, match=r"GRU: initial states of the shape \[2, 3, 6\] are expected, got \[2, 2, 6\]"):
        nn.GRU(5, 6, 2)(paddle.to_tensor(X), paddle.zeros([2, 2, 6]))
