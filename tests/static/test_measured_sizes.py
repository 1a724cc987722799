"""Sizes that only the run knows, in static mode: a program runs in parts, each compiled for what the last one found."""

import warnings

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import static
from paddle_lite_py.core.errors import DataDependentError
from tables.sized_cases import CASES, GIVEN, OTHER


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()


def listed(found):
    return list(found) if isinstance(found, list | tuple) else [found]


def eager(function, given):
    paddle.disable_static()
    try:
        return [t.numpy() for t in listed(function({n: paddle.to_tensor(a) for n, a in given.items()}))]
    finally:
        paddle.enable_static()


def built(function):
    """A program with its results, for the arrays of the table."""
    main = static.Program()
    with static.program_guard(main):
        tensors = {n: static.data(n, a.shape, a.dtype.name) for n, a in GIVEN.items()}
        for name in ("x", "boxes"):
            tensors[name].stop_gradient = False
        return main, listed(function(tensors))


def ran(main, fetches, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # feeds that a case does not read
        return static.Executor().run(main, feed=given, fetch_list=fetches)


def same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_a_program_gives_what_eager_code_gives(name):
    main, fetches = built(CASES[name])
    for given in (GIVEN, OTHER, GIVEN):
        same(ran(main, fetches, given), eager(CASES[name], given))


GRADIENTS = {
    "masked_select": lambda t: (paddle.masked_select(t["x"], t["x"] > 0).square().sum(), t["x"]),
    "x[mask]": lambda t: ((t["x"][t["x"] > 0] ** 2).sum(), t["x"]),
    "found rows": lambda t: (
        (paddle.gather(t["boxes"], paddle.nonzero(t["scores"] > 0.65).flatten()) ** 2).sum(),
        t["boxes"],
    ),
    "a mask of what is differentiated": lambda t: ((h := t["x"].exp())[h > 1].sum(), t["x"]),
    "repeat_interleave": lambda t: (paddle.repeat_interleave(t["x"], t["counts"], axis=1).square().sum(), t["x"]),
}


def loop_over(t, step):
    _, total = static.nn.while_loop(
        lambda i, a: i < t["n"], lambda i, a: [i + 1, step(i, a)], [paddle.zeros([], "int64"), paddle.zeros([])]
    )
    return total


def positive(x):
    return paddle.masked_select(x, x > 0)


GRADIENTS |= {
    "found in a branch": lambda t: (
        static.nn.cond(t["n"] > 2, lambda: (positive(t["x"]) ** 2).sum(), lambda: t["x"].sum()) ** 2,
        t["x"],
    ),
    "branches of different sizes": lambda t: (
        (static.nn.cond(t["n"] > 0, lambda: positive(t["x"] * 2), lambda: t["x"].flatten()) ** 2).sum(),
        t["x"],
    ),
    "found in a loop": lambda t: (
        loop_over(t, lambda i, a: a * 2 + (t["x"][t["x"] > i.astype("float32") / 4] ** 2).sum()),
        t["x"],
    ),
    "found in a branch of a loop": lambda t: (
        loop_over(
            t, lambda i, a: a + static.nn.cond(i > 0, lambda: (positive(t["x"]) ** 3).sum(), lambda: t["x"].mean())
        ),
        t["x"],
    ),
    "twice": lambda t: (
        paddle.grad(
            static.nn.cond(t["n"] > 2, lambda: (positive(t["x"]) ** 3).sum(), lambda: (t["x"] ** 2).sum()),
            t["x"],
            create_graph=True,
        )[0].sum(),
        t["x"],
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_flow_through_what_is_found(name):
    def in_eager(t):
        for v in t.values():
            v.stop_gradient = not v.dtype.is_floating
        loss, leaf = GRADIENTS[name](t)
        loss.backward()
        return [leaf.grad]

    def once(t):
        loss, leaf = GRADIENTS[name](t)
        return static.gradients([loss], [leaf])

    main, fetches = built(once)
    for given in (GIVEN, OTHER):
        same(ran(main, fetches, given), eager(in_eager, given))


def test_sizes_that_come_more_often_than_there_are_sizes_are_compiled_once():
    main, fetches = built(lambda t: (t["x"][t["x"] > 0] * 2).sum())
    traces = []
    for given in (GIVEN, OTHER) * 4:
        ran(main, fetches, given)
        parts = next(iter(main.compiled.values())).executable.parts
        traces.append(parts.traces)
    # What finds the size once, and what follows for both sizes.
    assert len(parts.parts) == 2 and traces == [1, 1, 1, 1, 2, 3, 3, 3]


def test_training_drops_samples_by_their_label():
    main, start = static.Program(), static.Program()
    with static.program_guard(main, start):
        x, y = static.data("x", [None, 3]), static.data("y", [None], "int64")
        hidden, kept = static.nn.fc(x, 4, activation="relu"), paddle.nonzero(y >= 0).flatten()
        logits = static.nn.fc(paddle.gather(hidden, kept), 2)
        loss = paddle.nn.functional.cross_entropy(logits, paddle.gather(y, kept))
        test = main.clone(for_test=True)
        paddle.optimizer.Adam(0.05).minimize(loss)
    exe, rng, losses = static.Executor(), np.random.default_rng(0), []
    exe.run(start)
    for i in range(30):
        a = rng.standard_normal((6, 3)).astype("float32")
        b = (a.sum(1) > 0).astype("int64")
        b[: i % 3] = -1
        losses.append(float(exe.run(main, feed={"x": a, "y": b}, fetch_list=[loss])[0]))
    assert np.mean(losses[-5:]) < np.mean(losses[:5])
    again = static.Program.parse_from_string(main.serialize_to_string())
    assert list(again.builder.measured) == list(main.builder.measured)
    assert exe.run(test, feed={"x": a, "y": b}, fetch_list=[loss.name])[0].shape == ()


def test_branches_and_loops_run_their_blocks_in_parts():
    def both(t):
        found = static.nn.cond(t["n"] > 2, lambda: t["x"][t["x"] > 0].sum(), lambda: t["x"].sum())
        _, total = static.nn.while_loop(
            lambda i, a: i < t["n"],
            lambda i, a: [i + 1, a + paddle.masked_select(t["x"], t["x"] > i.astype("float32")).sum()],
            [paddle.zeros([], "int64"), paddle.zeros([])],
        )
        return [found, total]

    main, fetches = built(both)
    for given in (GIVEN, OTHER):
        x = given["x"]
        same(ran(main, fetches, given), [x[x > 0].sum(), np.float32(sum(x[x > i].sum() for i in range(3)))])


def test_training_through_branches_that_find_sizes():
    main, start = static.Program(), static.Program()
    with static.program_guard(main, start):
        x, n = static.data("x", [None]), static.data("n", [], "int64")
        w = static.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        loss = static.nn.cond(n > 2, lambda: (x * w)[x > 0].sum(), lambda: (x * w).sum())
        (gradient,) = static.gradients([loss], [w])
        paddle.optimizer.SGD(1.0).minimize(loss)
    exe, found = static.Executor(), []
    exe.run(start)
    for count in (3, 1):
        feed = {"x": np.array([1, -4, 2], "float32"), "n": np.array(count)}
        found.append([a.item() for a in exe.run(main, feed=feed, fetch_list=[loss, gradient, w])])
    assert found == [[3, 3, -2], [2, -1, -1]]


def test_a_size_found_in_the_backward_of_a_layer_is_refused_at_its_line():
    class Positive(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            return g * static.nn.cond(x.sum() > 0, lambda: positive(x).sum(), lambda: x.sum())

    with pytest.raises(DataDependentError, match="the backward.. of a PyLayer or hook at .*test_measured_sizes"):
        built(lambda t: static.gradients([Positive.apply(t["x"]).sum()], [t["x"]]))


def test_a_program_says_where_it_finds_its_sizes():
    main, _ = built(lambda t: t["x"][t["x"] > 0])
    assert "_flat_nonzero" in str(main) and "size_0 = %sum_0.tmp_0 + 1" in str(main)


def test_sizes_that_do_not_fit_are_told_when_the_program_runs():
    main, fetches = built(lambda t: t["x"][t["x"] > 0] + t["boxes"][0])
    with pytest.raises((TypeError, ValueError), match="add"):
        ran(main, fetches, OTHER)  # two are found, and four are added
