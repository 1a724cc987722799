"""Kinds of call that come once: which are compiled, and that results and state are those of the function either way."""

from __future__ import annotations

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import nn
from paddle_lite_py.core import small


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.SimpleRNN(3, 4), nn.Linear(4, 2)
        self.register_buffer("calls", paddle.zeros([1]))

    def forward(self, x):
        self.calls += 1
        return self.head(F.dropout(self.rnn(x)[0][:, -1], 0.3))


def trained(static: bool, lengths: list[int]) -> tuple[list[float], Net]:
    """Losses of steps over sequences of these lengths."""
    paddle.seed(0)
    with paddle.utils.unique_name.guard():
        net = Net()
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    called = to_static(net) if static else net
    losses = []
    for n in lengths:
        x = paddle.to_tensor(np.random.RandomState(n).randn(2, n, 3).astype("float32"))
        loss = F.cross_entropy(called(x), paddle.to_tensor([0, 1]))
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(loss.item())
    return losses, net


def test_lengths_that_come_once_compile_nothing():
    lengths = list(range(2, 9))
    losses, net = trained(True, lengths)
    expected, other = trained(False, lengths)
    np.testing.assert_allclose(losses, expected, 1e-4)
    assert net.calls.item() == other.calls.item() == len(lengths)
    assert net.forward.get_traced_count() == 2


def test_a_kind_that_comes_again_is_compiled():
    f = to_static(lambda x: x * 2 + 1)
    counts = []
    for n in (1, 2, 3, 4, 3, 3, 1, 5, 6):
        assert f(paddle.ones([n])).tolist() == [3.0] * n
        counts.append(f.get_traced_count())
    # 1 and 3 have come again, 2 has not: so 5 is compiled at once, and 6 is not.
    assert counts == [1, 2, 2, 2, 3, 3, 3, 4, 4]


def test_what_differs_in_more_than_shapes_is_compiled():
    f = to_static(lambda x, k: x * k)
    for n, k in ((1, "float32"), (2, "int64"), (3, "float64"), (4, "int32")):
        f(paddle.ones([n], k), 2)
    assert f.get_traced_count() == 4


@pytest.mark.parametrize("off", [False, True])
def test_large_arrays_and_no_host_tier_compile_each(off):
    f = to_static(lambda x: x + 1)
    paddle.set_flags({"FLAGS_host_tier": not off})
    for n in range(1, 5):
        f(paddle.ones([n if off else small.MOST + n]))
    paddle.set_flags({"FLAGS_host_tier": True})
    assert f.get_traced_count() == 4


def test_captured_tensors_keep_their_values():
    held = paddle.ones([2])
    f = to_static(lambda x: held + x.sum())
    for n in range(1, 5):
        assert f(paddle.ones([n])).tolist() == [1.0 + n] * 2
    assert f.get_traced_count() == 2
    held += 1
    assert f(paddle.ones([9])).tolist() == [11.0] * 2


def test_what_the_function_itself_raises_is_raised_once():
    seen = []

    def f(x):
        seen.append(len(x))
        assert x.sum() < 4, "too large"
        return x * 2

    static = to_static(f)
    for n in range(1, 7):
        if n < 4:
            static(paddle.ones([n]))
        else:
            with pytest.raises(AssertionError, match="too large"):
                static(paddle.ones([n]))
    assert seen == [1, 2, 3, 4, 5, 6]
