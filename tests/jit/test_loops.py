"""Loops, and variables that only some path defines."""

from __future__ import annotations

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


def test_while_with_a_gradient_and_more_iterations_than_there_was_room_for():
    w = tensor(1.01, stop_gradient=False)

    @to_static
    def f(x, n):
        i = paddle.zeros([], "int64")
        while i < n:
            x = x * w
            i += 1
        return x

    for n in (3, 100, 0):
        f(tensor(1.0), paddle.to_tensor(n)).backward()
        np.testing.assert_allclose(w.grad.numpy(), [n * 1.01 ** (n - 1) if n else 0.0], rtol=1e-4)
        w.clear_gradient(False)


def test_an_undefined_variable_is_an_error_only_where_it_is_read():
    @to_static
    def f(x, y):
        if x.sum() > 0:
            t = x
        if y.sum() > 0:
            return t * 2.0
        return x

    up, down = tensor(1.0), tensor(-1.0)
    assert [f(up, up).item(), f(up, down).item(), f(down, down).item()] == [2.0, 1.0, -1.0]
    with pytest.raises(UnboundLocalError, match=r"`t`.*test_loops.py"):
        f(down, up)
    assert len(f.program_cache) == 1


def test_a_variable_read_under_the_condition_that_set_it_needs_no_check():
    @to_static
    def f(x):
        up = x.sum() > 0
        if up:
            t = x * 4.0
        y = x + 1.0
        if up:
            y = y + t
        return y

    assert [f(tensor(v)).item() for v in (1.0, -1.0)] == [6.0, 0.0]
    assert f.program_cache[0].traced.checks is None


def slope(x):
    y = x
    while y.sum() < 20:
        y = y * x
    return paddle.grad(y.sum(), [x], create_graph=True)[0].square().sum()


@pytest.mark.parametrize("start", [[1.5, 2.0], [1.01, 1.02]])  # 4 turns; 115, more than there is room for at first
@pytest.mark.parametrize("inside", [True, False])
def test_gradients_of_gradients_through_a_loop_of_unknown_length(inside, start):
    def run(f):
        x = paddle.to_tensor(start, stop_gradient=False)
        if inside:
            return f(lambda x: paddle.grad(slope(x * 1.0), [x])[0])(x)
        return paddle.grad(f(slope)(x), [x])[0]

    found = run(to_static(full_graph=True))
    assert found.tolist() == pytest.approx(run(lambda f: f).tolist(), rel=1e-4)
