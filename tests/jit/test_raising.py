"""Errors of traces and runs: nothing of a failed one stays behind."""

from __future__ import annotations

import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from paddle_lite_py.core.errors import TracedValueError
from paddle_lite_py.tracing.checks import found_by_program, note_failure


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


def test_conversion_off_a_python_bool_of_a_traced_tensor_is_explained():
    @paddle.jit.not_to_static
    def helper(x):
        return 1 if x > 0 else 2

    with pytest.raises(TracedValueError, match=r"bool\(\) at test_raising.py:\d+ needs the value of a bool"):
        to_static(lambda x: x * helper(x.sum()), full_graph=True)(tensor(1.0))


def test_no_source_is_explained():
    namespace = {}
    exec("def f(x):\n    return x if x.sum() > 0 else -x", namespace)
    with pytest.raises(Exception, match="source of function `f`"):
        to_static(namespace["f"])(tensor(1.0))


def test_failed_traces_leave_no_program_and_the_state_of_eager_code_behind():
    count = paddle.zeros([])
    fail = [True]

    @to_static
    def f(x):
        count.add_(paddle.ones([]))
        if fail[0]:
            raise ValueError("not now")
        return x + count

    with pytest.raises(ValueError, match="not now"):
        f(tensor(1.0))
    assert count.item() == 1.0 and not f.program_cache  # as in eager code
    fail[0] = False
    assert f(tensor(1.0)).tolist() == [3.0]


def test_what_was_done_before_an_assert_or_raise_on_tensors_stays_done():
    total = paddle.zeros([1])

    @to_static
    def f(x):
        total.add_(x)
        assert x.sum() > 0, "x must be positive"
        if x.sum() > 100:
            raise ValueError("x is too large")
        return x + 1.0

    assert f(tensor(1.0)).tolist() == [2.0]
    with pytest.raises(AssertionError, match="x must be positive"):
        f(tensor(-1.0))
    with pytest.raises(ValueError, match="x is too large"):
        f(tensor(500.0))
    assert total.tolist() == [500.0]


def raises_or_loops(x, n):
    if x.sum() > 0:
        raise ValueError("positive")
    else:
        for k in range(n):
            if k > 1:
                break
            x = x - k
    return x


@pytest.mark.parametrize("n", [3, paddle.to_tensor(3)], ids=["number", "tensor"])
def test_a_raise_beside_a_loop_that_is_left(n):
    static = to_static(raises_or_loops, full_graph=True)
    assert static(tensor(-1.0), n).tolist() == [-2.0]
    with pytest.raises(ValueError, match="positive"):
        static(tensor(1.0), n)


@pytest.mark.parametrize("full_graph", [False, True])
def test_an_op_that_refuses_its_arguments_does_so_after_what_comes_before(full_graph):
    def run(static):
        norm, seen, count = paddle.nn.BatchNorm1D(3), [], {"calls": 0}

        def step(x):
            count["calls"] += 1
            y = norm(x)
            seen.append(y.shape[0])
            return y @ x

        f = static(step)
        for n in (3, 4, 4):
            x = paddle.arange(n * 3, dtype="float32").reshape([n, 3])
            if n == 3:
                f(x)
            else:
                with pytest.raises(ValueError, match="matmul"):
                    f(x)
        return norm._mean.tolist(), seen, count

    assert run(lambda f: to_static(f, full_graph=full_graph)) == run(lambda f: f)


def test_an_error_is_not_taken_for_an_earlier_one_of_a_program():
    note_failure(failed := AssertionError())
    assert found_by_program(failed)
    del failed  # Python gives a new object the id of one that is gone
    assert not any(map(found_by_program, [AssertionError() for _ in range(10)]))
