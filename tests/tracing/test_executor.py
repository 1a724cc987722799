"""Runs of what was traced: captures, state, donation, random numbers."""

from __future__ import annotations

import copy

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py.tracing.executor import Executable
from traces import X, traced


def test_a_tensor_from_outside_is_captured_not_baked():
    w = paddle.to_tensor([3.0, 4.0])
    executable = Executable(traced(lambda x: x * w, paddle.to_tensor(X)), "f")
    assert executable.run([paddle.to_tensor(X)]).tolist() == [3.0, 8.0]
    w.set_value(np.array([1.0, 1.0], "float32"))
    assert executable.run([paddle.to_tensor(X)]).tolist() == [1.0, 2.0]


def test_state_is_written_back_and_only_by_a_run():
    count = paddle.zeros([])

    def f(x):
        count.add_(paddle.ones([]))
        return x * count

    found = traced(f, paddle.to_tensor(X))
    assert count.item() == 0.0
    executable = Executable(found, "f")
    results = [executable.run([paddle.to_tensor(X)]).tolist() for _ in range(3)]
    assert results == [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]] and count.item() == 3.0


def test_in_place_on_an_argument_reaches_the_caller():
    x = paddle.to_tensor(X)
    executable = Executable(traced(lambda v: v.add_(paddle.ones([2])), x), "f")
    out = executable.run([x])
    assert out is x and x.tolist() == [2.0, 3.0]


def test_donated_state_never_takes_away_what_the_user_holds():
    p = paddle.to_tensor(X)

    def f(x):
        p.set_value(p + x)
        return p.sum()

    executable = Executable(traced(f, paddle.to_tensor(X)), "f")
    detached, deep, array = p.detach(), copy.deepcopy(p), np.asarray(p)
    held, twin = p._payload, paddle.to_tensor(X)
    twin._payload = p._payload
    view = np.from_dlpack(p)
    for _ in range(2):
        executable.run([paddle.to_tensor(X)])
    assert p.tolist() == detached.tolist() == [3.0, 6.0]
    for before in (deep.numpy(), array, np.asarray(held), twin.numpy(), view):
        np.testing.assert_array_equal(before, X)


def test_random_numbers_are_the_same_in_both_modes():
    def draw(x):
        return x + paddle.rand([2]), paddle.randn([2])

    paddle.seed(7)
    eager = [t.tolist() for _ in range(2) for t in draw(paddle.to_tensor(X))]
    executable = Executable(traced(draw, paddle.to_tensor(X)), "draw")
    paddle.seed(7)
    static = [t.tolist() for _ in range(2) for t in executable.run([paddle.to_tensor(X)])]
    np.testing.assert_allclose(static, eager, rtol=1e-6)
    assert eager[0] != eager[2]
