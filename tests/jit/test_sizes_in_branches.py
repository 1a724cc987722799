"""What a branch takes for granted of the sizes that it was chosen for limits no other call of a saved program."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.nn import functional as F
from paddle_lite_py.static import InputSpec


def fourth_or_first(x):
    if x.shape[0] > 3:
        return x[3] * 2
    return x[0]


def several(x):
    y = x.sum(0)
    if x.shape[0] > 3:
        y = y + x[3]
    elif x.shape[0] > 2:
        y = y - x[2]
    return y


def filled(x):
    n = x.shape[0]
    if n < 4:
        x = paddle.concat([x, paddle.zeros([4 - n, x.shape[1]])])
    return x[:4]


def padded(x):
    if x.shape[0] < 5:
        x = F.pad(x.t().unsqueeze(0), [0, 5 - x.shape[0]], data_format="NCL")[0].t()
    return x.sum(0)


def within(x):
    y = x.mean(0)
    if x.shape[0] > 1:
        y = y + x[1]
        if x.shape[0] > 3:
            y = y * x[3] - x[2]
        y = y + x[1]
    return y


def helper(x, at):
    return x[at] if x.shape[0] > at else x[-1]


def twice(x):
    return helper(x, 2) + helper(x, 4) * helper(x * 2, 2)


def in_a_loop(x):
    y = x[0]
    for i in range(x.shape[0]):
        if x.shape[0] > 3:
            y = y + x[3] * x[i]
    return y


def under_a_condition(x):
    y = x[0]
    if x.sum() > 0:
        if x.shape[0] >= 3:
            y = y + x[2]
    return y


def number(x):
    rows = x.shape[0]
    if rows > 3:
        rows = x[3:].shape[0] + x[3].shape[0] - 3
    return x * rows


def cut(x):
    if x.shape[0] > 2:
        first, rest = paddle.split(x, [2, -1])
        return paddle.concat([rest, first * 2])
    return x


def no_more_than_four(x):
    n = x.shape[0]
    if n > 4:
        n = 4
    return x[:n] * 2


def changed_in_both(x):
    n = x.shape[0]
    if n > 4:
        n = n - 4
    else:
        n = n * 2
    return x.sum() * n


def changed_by_data(x):
    n = x.shape[0]
    if x.sum() > 3:
        n = n + 1
    return x * n


def halved(x):
    n, k = x.shape[0], 0
    while n > 1:
        n, k = n // 2, k + 1
    return x * k


def counted_down(x):
    n = x.shape[0]
    for _ in range(3):
        if n > 2:
            n = n - 1
    return x * n


def at_least_three(x):
    n = x.shape[0]
    m = n if n > 3 else 3
    return paddle.zeros([m, 2]) + x.sum()


def added_up(x):
    n = x.shape[0]
    for i in range(x.shape[0]):
        n = n + i
    return x * n


def the_largest(x):
    k = min(x.shape[0], 4) if x.shape[0] > 2 else x.shape[0]
    return paddle.topk(x[:, 0], k)[0]


VARIABLES = [no_more_than_four, changed_in_both, changed_by_data, halved, counted_down, at_least_three, added_up]
BRANCHES = [the_largest, fourth_or_first, several, filled, padded, within, twice, in_a_loop, under_a_condition, cut]
BRANCHES += [number]


def saved(function, path, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.jit.save(paddle.jit.to_static(function), path, input_spec=[InputSpec([None, 2])], **how)
    return paddle.jit.load(path)


@pytest.mark.parametrize("function", [*BRANCHES, *VARIABLES])
def test_all_sizes_are_served(function, tmp_path):
    loaded = saved(function, str(tmp_path / "p"))
    for n in (1, 2, 3, 4, 5, 7):
        x = paddle.arange(n * 2, dtype="float32").reshape([n, 2]) - 2
        np.testing.assert_allclose(loaded(x).numpy(), function(x).numpy(), rtol=1e-6)


@pytest.mark.parametrize("function", [fourth_or_first, several, within, in_a_loop, no_more_than_four])
def test_model_files_of_the_reference_serve_all_sizes(function, tmp_path):
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.weight = self.create_parameter([2])

        def forward(self, x):
            return function(x) * self.weight

    net = Net()
    loaded = saved(net, str(tmp_path / "p"), format="paddle")
    for n in (1, 2, 3, 4, 5):
        x = paddle.arange(n * 2, dtype="float32").reshape([n, 2])
        np.testing.assert_allclose(loaded(x).numpy(), net(x).numpy(), rtol=1e-6)


def test_a_fact_that_does_not_follow_limits_the_program(tmp_path):
    def function(x):
        if x.shape[0] > 2:
            return x[3]
        return x[0]

    loaded = saved(function, str(tmp_path / "p"))
    assert loaded(paddle.ones([4, 2])).shape == [2]
    with pytest.raises(ValueError, match="was saved for batch >= 4, and is called with batch = 3"):
        loaded(paddle.ones([3, 2]))


def test_a_loaded_network_is_trained_with_any_size(tmp_path):
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x):
            y = self.linear(x)
            if x.shape[0] > 3:
                y = y * y[3]
            return y.mean()

    net = Net()
    loaded = saved(net, str(tmp_path / "p"))
    for n in (2, 4, 6):
        x = paddle.rand([n, 2])
        for one in (net, loaded):
            one(x).backward()
        for a, b in zip(net.parameters(), loaded.parameters(), strict=True):
            np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-5, atol=1e-7)


def resized(x):
    small = F.interpolate(F.max_pool2d(x, 2, 2), scale_factor=2)
    if small.shape != x.shape:
        small = F.interpolate(small, size=x.shape[2:])
    return small + x


def resized_by_expression(x):
    small = F.interpolate(F.max_pool2d(x, 2, 2), scale_factor=2)
    small = small if small.shape[2:] == x.shape[2:] else F.interpolate(small, size=x.shape[2:])
    return small + x


def of_one_size(x):
    height, width = x.shape[2:]
    return x * 2 if (height, width) == (4, 4) else x


def of_no_size(x):
    if list(x.shape[2:]) != [4, 4] and not tuple(x.shape[2:]) == (5, 5):
        return x * 2
    return x


def asserted(x):
    rows = x[:, :, ::2]
    assert x.shape[:2] == rows.shape[:2], "the same pictures"
    return rows


def rolled(x):
    rows = x.shape[2]
    shift = rows // 2 if rows > 4 else 0
    return paddle.roll(x, shift, 2) if rows > 4 else x


@pytest.mark.parametrize("function", [resized, resized_by_expression, of_one_size, of_no_size, asserted, rolled])
def test_shapes_are_compared(function, tmp_path):
    path = str(tmp_path / "p")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.jit.save(paddle.jit.to_static(function), path, input_spec=[InputSpec([None, 2, None, None])])
    loaded = paddle.jit.load(path)
    assert function is rolled or not loaded.program().measured  # it runs as one program
    for shape in ((1, 2, 4, 4), (2, 2, 5, 7), (1, 2, 5, 5), (1, 2, 4, 5)):
        x = paddle.rand(shape)
        np.testing.assert_allclose(loaded(x).numpy(), function(x).numpy(), rtol=1e-6)
