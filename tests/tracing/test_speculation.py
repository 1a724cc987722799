"""Programs that take for granted what the data decides: one for each outcome, never a wrong result."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from paddle_lite_py.jit import DataDependentWarning, to_static

import dy2static
import paddle_lite_py as paddle


def tensor(*values: float) -> paddle.Tensor:
    return paddle.to_tensor(list(values))


def arrays(out):
    return [np.asarray(t.numpy()) for t in (out if isinstance(out, tuple | list) else [out])]


def agree(f, *calls, programs: int | None = None):
    """Static results equal eager ones for each call, whatever was called before; the number of programs is known."""
    static = to_static(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataDependentWarning)
        for args in (*calls, *calls):
            for a, b in zip(arrays(f(*args)), arrays(static(*args)), strict=True):
                assert a.shape == b.shape and a.dtype == b.dtype
                np.testing.assert_allclose(a, b, rtol=1e-6)
    if programs is not None:
        assert len(static.cache) == static.cache.count == programs


COUNTS = [paddle.to_tensor(n) for n in (3, 4, 1, 3)]


def recursion(rows):
    for i, row in enumerate(rows):
        if i == 0:
            alpha = row
        else:
            alpha = paddle.logsumexp(alpha.unsqueeze(1) + row, 0)
    return alpha


def started(n):
    i = 0
    while i < n:
        if i == 0:
            a = n * 1.0
        else:
            a = a * 2
        i += 1
    return a


def never_started(rows):
    for i, row in enumerate(rows):
        if i == 9:
            total = row
        else:
            total = total + row
    return total


def test_the_first_iteration_gives_variables_that_the_others_read():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agree(recursion, (tensor(1, 2, 3, 4, 5, 6).reshape([3, 2]),), programs=1)
        agree(started, *[(n,) for n in COUNTS], programs=1)
        with pytest.raises(dy2static.UndefinedError, match="`total` is used, but it has no value"):
            to_static(never_started, full_graph=True)(tensor(1, 2))


def growing(x, n):
    i = paddle.zeros([], "int64")
    while i < n:
        x = paddle.concat([x, x[-1:] + 1])
        i = i + 1
    return x


def collected(x, n):
    outs = []
    for i in range(n):
        outs.append(x * i)
    return paddle.stack(outs)


def popped(x, n):
    stack = [x]
    while n > 0:
        stack.append(stack[-1] * 2)
        if len(stack) > 2:
            stack.pop(0)
        n = n - 1
    return paddle.concat(stack)


def best_of(x, n):
    best = None
    for i in range(n):
        candidate = paddle.sin(x + i)
        best = candidate if best is None else paddle.maximum(best, candidate)
    return best


def pairs_until(x, n):
    kept = []
    for i, row in enumerate(x):
        if row.sum() > n:
            break
        kept.append((i, row))
    return [paddle.stack([r for _, r in kept]) if kept else paddle.zeros([0, 2]), paddle.to_tensor(len(kept))]


@pytest.mark.parametrize("f", [growing, collected])
def test_what_grows_in_a_loop_has_a_program_for_each_length(f):
    agree(f, *[(tensor(1.0, 2.0), n) for n in COUNTS], programs=3)


def test_none_to_start_with_needs_one_iteration_and_then_one_program():
    agree(best_of, *[(tensor(1.0, 2.0), n) for n in COUNTS], programs=1)


def test_a_break_that_a_tensor_decides_in_a_loop_that_collects():
    x = paddle.to_tensor([[1.0, 1.0], [2.0, 2.0], [5.0, 5.0]])
    agree(pairs_until, (x, tensor(100.0)), (x, tensor(3.0)), (x, tensor(0.0)))


SHAPES = {
    "slice": lambda x: x[: n_large(x)],
    "zeros": lambda x: paddle.zeros([n_large(x), 2]),
    "arange": lambda x: paddle.arange(n_large(x)),
    "tile": lambda x: paddle.tile(x, [n_large(x)]),
    "nonzero": lambda x: paddle.nonzero(x.reshape([2, 2]) > 0.5),
    "nonzero as_tuple": lambda x: paddle.nonzero(x.reshape([2, 2]) > 0.5, as_tuple=True),
    "masked_select": lambda x: paddle.masked_select(x, x > 0.5),
    "mask": lambda x: x[x > 0.5] * 2,
    "unique": lambda x: paddle.unique((x * 3).astype("int64"), True, True, True),
    "unique_consecutive": lambda x: paddle.unique_consecutive((x * 3).astype("int64"), True, True),
    "repeat_interleave": lambda x: paddle.repeat_interleave(x, (x * 3).astype("int64")),
    "bincount": lambda x: paddle.bincount((x * 3).astype("int64")),
}


def n_large(x):
    return (x > 0.5).astype("int64").sum()


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_that_depend_on_the_data(name):
    rows = [(0.1, 0.9, 0.8, 0.3), (0.7, 0.6, 0.9, 0.8), (0.9, 0.2, 0.1, 0.4)]
    agree(SHAPES[name], *[(tensor(*row),) for row in rows])


def test_gradients_flow_through_what_grows():
    x, n = tensor(1.0, 2.0), paddle.to_tensor(3)
    grads = []
    for f in (collected, to_static(collected)):
        x = tensor(1.0, 2.0)
        x.stop_gradient = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (f(x, n) ** 2).sum().backward()
        grads.append(x.grad.numpy())
    np.testing.assert_allclose(*grads)


def test_state_changes_once_and_only_by_the_right_program():
    total, runs = paddle.zeros([]), paddle.zeros([])

    @to_static
    def f(x, n):
        runs.add_(paddle.ones([]))
        total.add_(x[:n].sum())
        return x[:n]

    for k in (1, 3, 2, 1, 3):
        assert f(tensor(1.0, 1.0, 1.0), paddle.to_tensor(k)).shape == [k]
    assert float(runs) == 5 and float(total) == 10
    assert f.cache.count == 3


def test_prints_come_once(capfd):
    @to_static
    def f(x, n):
        print("sum", x.sum())
        return x[:n]

    for k in (1, 2, 1, 2):
        f(tensor(1.0, 2.0), paddle.to_tensor(k))
    paddle.device.synchronize()
    assert capfd.readouterr().out.count("sum") == 4


def test_branches_that_leave_different_things_run_with_a_warning_that_says_what_to_change():
    @to_static
    def f(x):
        if x.sum() > 0:
            y = x
        else:
            y = x.reshape([1, 2])
        return y

    with pytest.warns(DataDependentWarning, match=r"`y` is float32\[2\] after the first branch.*float32\[1, 2\]"):
        assert f(tensor(1.0, 2.0)).shape == [2]
        assert f(tensor(-1.0, -2.0)).shape == [1, 2]
    assert f.cache.count == 2
    assert "the value that decides at" in f.explain()


def test_a_loop_that_grows_says_where_and_how_to_write_it():
    with pytest.warns(DataDependentWarning, match=r"(?s)`outs` is a list of .* before the loop .*buffer\[i\]"):
        to_static(collected)(tensor(1.0), paddle.to_tensor(5))


def test_the_warning_may_be_made_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataDependentWarning)
        with pytest.raises(DataDependentWarning, match="outs"):
            to_static(collected)(tensor(1.0), paddle.to_tensor(5))


def test_a_file_has_one_program_that_runs_in_parts(tmp_path):
    spec = [paddle.static.InputSpec([2], "float32"), paddle.static.InputSpec([], "int64")]
    paddle.jit.save(to_static(growing), str(tmp_path / "f"), input_spec=spec)
    for count in COUNTS:
        x = tensor(1.0, 2.0)
        assert paddle.jit.load(str(tmp_path / "f"))(x, count).tolist() == growing(x, count).tolist()
    dynamic = to_static(growing, input_spec=[paddle.static.InputSpec([None], "float32"), spec[1]])
    with pytest.warns(UserWarning, match="before the loop|needs"):
        out = dynamic(tensor(1.0, 2.0), COUNTS[0])  # of a call there is one: the program for its sizes
    assert out.tolist() == growing(tensor(1.0, 2.0), COUNTS[0]).tolist()


def test_a_loop_in_a_wrong_program_ends():
    @to_static
    def f(x, n):
        y = paddle.zeros([1]) + x[:n].shape[0] - n  # 0 in the right program
        while y != 0:
            y = y + paddle.sign(y)
        return y

    for k in (2, 1, 2):
        assert float(f(tensor(1.0, 2.0), paddle.to_tensor(k))) == 0


def test_lists_outside_get_what_each_run_puts_into_them():
    losses, recent = [], []

    @to_static
    def f(x):
        losses.append(x.sum())
        recent.append(x * 2)
        if len(recent) > 2:
            recent.pop(0)
        return x

    for k in range(4):
        f(tensor(float(k)))
    assert [float(v) for v in losses] == [0, 1, 2, 3]
    assert [float(v) for v in recent] == [4, 6]


def test_what_a_list_only_collects_costs_no_trace():
    losses = []
    f = to_static(lambda x: losses.append(x.sum()) or x)
    for k in range(3):
        f(tensor(float(k)))
    assert f.cache.count == 1 and [float(v) for v in losses] == [0, 1, 2]


def test_checked_beside_the_eager_run():
    seen = []

    def f(x, n):
        y = x[:n] * 2
        seen.append(y.sum())
        return y

    static = to_static(f, check=True)
    for k in (1, 2, 1):
        assert static(tensor(1.0, 2.0), paddle.to_tensor(k)).shape == [k]
    assert [float(v) for v in seen] == [2, 6, 2]


def factorial(n):
    if n <= 1:
        return n * 0 + 1
    return n * factorial(n - 1)


def test_a_recursion_that_a_tensor_ends_has_a_program_for_each_depth():
    agree(factorial, *[(paddle.to_tensor(n),) for n in (4, 2, 4)], programs=2)
