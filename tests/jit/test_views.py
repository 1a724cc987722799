"""Views in static programs: what eager code does with them, a static function does as well."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def numbered(shape=(2, 3), dtype="float32"):
    return paddle.to_tensor(np.arange(np.prod(shape)).reshape(shape).astype(dtype))


def row_of_local(x):
    y = x * 1
    y[0].fill_(9.0)
    y.t()[1].add_(x[:, 0])
    return y


def chains(x):
    y = x * 2
    y.reshape([6])[4:].multiply_(x[1, 1:])
    y[:, 1:][0].fill_(-1.0)
    return y


def views_follow(x):
    y = x * 1
    row, flat = y[0], y.reshape([6])
    rest = row[1:]
    y.add_(x)
    flat.scale_(2.0)
    return row, flat, rest


def rows(x):
    y = x * 1
    for r in y:
        r.add_(x[0])
    return y


def in_a_branch(x):
    y = x * 1
    row = y[1]
    if x.sum() > 3:
        row.fill_(5.0)
    else:
        y.fill_(-5.0)
    return y, row


def in_a_loop(x):
    y = x * 1
    row = y[0]
    i = paddle.to_tensor(0)
    while i < x[1, 0].astype("int64"):
        y[1].add_(row)
        row.add_(paddle.ones([3]))
        i = i + 1
    return y, row


def by_a_traced_index(x):
    y = x * 1
    for i in range(paddle.to_tensor(2)):
        y[i].multiply_(x[1 - i])
    return y


def detached(x):
    y = x * 1
    d = y.detach()
    d.clip_(0.5, 2.5)
    return y, d


def reshaped_in_place(x):
    y = x * 1
    row = y[0]
    y.reshape_([3, 2])
    row.fill_(7.0)
    return y, row


CASES = [
    row_of_local,
    chains,
    views_follow,
    rows,
    in_a_branch,
    in_a_loop,
    by_a_traced_index,
    detached,
    reshaped_in_place,
]


def listed(values):
    return [v.numpy() for v in (values if isinstance(values, tuple) else (values,))]


@pytest.mark.parametrize("f", CASES)
@pytest.mark.parametrize("grad", [False, True])
def test_static_is_eager(f, grad):
    static = paddle.jit.to_static(f)
    for add in (0.0, 1.0):
        found = []
        for g in (f, static):
            x = numbered() + add
            x.stop_gradient = not grad
            out = g(x)
            total = sum((v * v).sum() for v in (out if isinstance(out, tuple) else (out,)))
            if grad:
                total.backward()
            found.append([*listed(out), *([x.grad.numpy()] if grad else [])])
        for e, s in zip(*found, strict=True):
            np.testing.assert_allclose(s, e)


def test_captured_views():
    for make in (lambda f: f, paddle.jit.to_static):
        x = numbered()
        row, column = x[0], x.t()[1]

        @make
        def step(row=row, x=x, column=column):
            row.add_(paddle.ones([3]))
            x.scale_(2.0)
            return column * 1

        assert step().tolist() == [4, 8]
        late = x[:, 2]
        assert step().tolist() == [10, 16]
        assert x.tolist() == [[6, 10, 14], [12, 16, 20]]
        assert row.tolist() == [6, 10, 14]
        assert column.tolist() == [10, 16]
        assert late.tolist() == [14, 20]


def test_views_made_before_a_step_follow_its_parameters():
    layer = paddle.nn.Linear(2, 1)
    row, kept = layer.weight[0], layer.weight.detach()
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())

    @paddle.jit.to_static
    def step(x):
        loss = layer(x).sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    before = layer.weight.tolist()
    for _ in range(3):
        step(paddle.ones([1, 2]))
    assert layer.weight.tolist() != before
    assert kept.tolist() == layer.weight.tolist()
    assert row.tolist() == layer.weight.tolist()[0]


@pytest.mark.parametrize("static", [False, True])
def test_clipping_and_averaging_weights(static):
    layer, mean = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)
    layer.weight.set_value(paddle.full([2, 2], 3.0))
    mean.weight.set_value(paddle.zeros([2, 2]))

    def step():
        for p, q in zip(layer.parameters(), mean.parameters(), strict=True):
            p.detach().clip_(-1.0, 1.0)
            q.detach().lerp_(p.detach(), 0.5)

    step = paddle.jit.to_static(step) if static else step
    step()
    step()
    assert layer.weight.tolist() == [[1, 1]] * 2
    assert mean.weight.tolist() == [[0.75, 0.75]] * 2


def test_arguments_that_share_elements():
    def f(x, row):
        x.add_(paddle.ones([2, 3]))
        row.scale_(2.0)
        return x * 1, row * 1

    static = paddle.jit.to_static(f)
    for g in (static, f, static):
        x = numbered()
        whole, row = g(x, x[0])
        assert row.tolist() == [2, 4, 6]
        assert whole.tolist() == x.tolist() == [[2, 4, 6], [4, 5, 6]]
        a, b = g(numbered(), numbered()[1])
        assert (a[0].tolist(), b.tolist()) == ([1, 2, 3], [6, 8, 10])


def test_a_held_gradient_is_added_to():
    w = paddle.ones([2])
    w.stop_gradient = False

    @paddle.jit.to_static
    def step():
        (w * w).sum().backward()

    step()
    held = w.grad
    step()
    step()
    assert held.tolist() == w.grad.tolist() == [6, 6]


def test_static_mode():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 3])
        y = x * 1
        y[0].fill_(9.0)
        y.t()[1].add_(x[:, 0])
        row = y[1]
        y.scale_(2.0)
    (whole, part) = paddle.static.Executor().run(
        main, feed={"x": np.arange(6, dtype="float32").reshape(2, 3)}, fetch_list=[y, row]
    )
    paddle.disable_static()
    assert whole.tolist() == [[18, 18, 18], [6, 14, 10]]
    assert part.tolist() == [6, 14, 10]


@pytest.mark.parametrize("argument", ["root", "view", "detached", "fresh"])
def test_an_argument_that_shares_elements_with_what_is_read_from_outside(argument):
    found = []
    for wrap in (lambda f: f, paddle.jit.to_static):
        state = paddle.to_tensor([1.0, 2.0])

        def f(v, state=state):
            state.add_(state)
            v.add_(paddle.ones([]))
            return v * 2 + state[0]

        g = wrap(f)
        results = [g(paddle.zeros([2])).tolist()]
        given = {"root": state, "view": state[1:], "detached": state.detach(), "fresh": paddle.ones([2])}[argument]
        results += [g(given).tolist(), g(given).tolist(), g(paddle.zeros([2])).tolist()]
        found.append((results, state.tolist(), given.tolist()))
    assert found[0] == found[1]
