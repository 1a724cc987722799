"""Runs of static programs: feeds, fetches, scopes, sizes, threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static
from static_nets import batch, network, started

pytestmark = pytest.mark.usefixtures("static_mode")


def test_fetches_by_tensor_and_name():
    x = static.data("x", [None, 2], "int64")
    y = x * 2
    exe = static.Executor()
    feed = {"x": np.array([[1, 2]])}
    by_tensor, by_name = exe.run(feed=feed, fetch_list=[y, y.name])
    assert by_tensor.tolist() == by_name.tolist() == [[2, 4]]
    (tensor,) = exe.run(feed=feed, fetch_list=[y], return_numpy=False)
    assert isinstance(tensor, paddle.Tensor) and tensor.tolist() == [[2, 4]]
    assert exe.run(feed={"x": [[3, 4]]}, fetch_list=y)[0].tolist() == [[6, 8]]


def test_each_kind_of_feed_is_compiled_once():
    x = static.data("x", [None, 2])
    y = x * 2
    exe = static.Executor()
    for n in (1, 2, 1, 2, 1):
        exe.run(feed={"x": np.ones([n, 2], "float32")}, fetch_list=[y])
    (compiled,) = static.default_main_program().compiled.values()
    assert compiled.compilations == 2


def test_what_is_added_later_runs_as_well():
    x = static.data("x", [1])
    y = x + 1
    exe, feed = static.Executor(), {"x": np.zeros([1], "float32")}
    assert exe.run(feed=feed, fetch_list=[y])[0].tolist() == [1]
    z = y * 10
    assert [a.tolist() for a in exe.run(feed=feed, fetch_list=[y, z])] == [[1], [10]]


@pytest.mark.parametrize(
    ("feed", "kind", "message"),
    [
        ({}, ValueError, r"'x' is missing.*add feed\['x'\]"),
        ({"x": np.ones([1, 3], "float32")}, ValueError, r"'x' is float32\[1, 3\].*float32\[-1, 2\]"),
        ({"x": np.ones([2], "float32")}, ValueError, r"'x' is float32\[2\]"),
        ({"x": np.ones([1, 2])}, ValueError, r"'x' is float64\[1, 2\]"),
        ({"x": "text"}, TypeError, "a str is no array of float32"),
        ("x", TypeError, "feed is a str"),
    ],
)
def test_bad_feeds_are_explained(feed, kind, message):
    y = static.data("x", [None, 2]) + 1
    with pytest.raises(kind, match=message):
        static.Executor().run(feed=feed, fetch_list=[y])


def test_what_is_fed_beyond_the_data_is_a_warning():
    x = np.ones([1, 2], "float32")
    y = static.data("x", [None, 2]) + 1
    with pytest.warns(UserWarning, match="no data 'z'; it has x"):
        assert static.Executor().run(feed={"x": x, "z": 1}, fetch_list=[[y], y])[1].tolist() == [[2.0, 2.0]]
    with pytest.warns(UserWarning, match="no data 'xs'; did you mean 'x'"), pytest.raises(ValueError, match="missing"):
        static.Executor().run(feed={"xs": x}, fetch_list=[y])


def test_sizes_that_must_agree_are_compared():
    y = static.data("a", [None, 2]) + static.data("b", [None, 2])
    ones = np.ones([3, 2], "float32")
    exe = static.Executor()
    assert exe.run(feed={"a": ones, "b": ones}, fetch_list=[y])[0].shape == (3, 2)
    with pytest.raises(ValueError, match=r"'a' \[3, 2\], 'b' \[2, 2\]"):
        exe.run(feed={"a": ones, "b": ones[:2]}, fetch_list=[y])


def test_several_sizes_are_found_to_agree_at_once():
    x, mask = static.data("x", [None, None, 2]), static.data("mask", [None, 1, 1, None])
    y = x.unsqueeze(1).matmul(x.unsqueeze(1), transpose_y=True) + mask
    feed = {"x": np.ones([3, 4, 2], "float32"), "mask": np.zeros([3, 1, 1, 4], "float32")}
    assert static.Executor().run(feed=feed, fetch_list=[y])[0].shape == (3, 1, 4, 4)


def test_sizes_as_tensors_are_sizes():
    x = static.data("x", [None, None, 4])
    sizes = paddle.shape(x)
    a = x.reshape([sizes[0] * sizes[1], -1])
    b = paddle.zeros([paddle.cast(sizes[1], "int32") - 1, 2])
    c = paddle.ones(sizes[:2])
    d = paddle.full([paddle.stack([sizes[2], sizes[0]])[1]], 7, "int64")
    feed = {"x": np.ones([2, 3, 4], "float32")}
    shapes = [o.shape for o in static.Executor().run(feed=feed, fetch_list=[a, b, c, d])]
    assert shapes == [(6, 4), (2, 2), (2, 3), (2,)]


def test_bad_fetches_and_programs_are_explained():
    y = static.data("x", [1]) + 1
    exe, feed = static.Executor(), {"x": np.ones([1], "float32")}
    with pytest.raises(ValueError, match=f"no variable 'add_0.tmp_1'; did you mean '{y.name}'"):
        exe.run(feed=feed, fetch_list=["add_0.tmp_1"])
    with pytest.raises(TypeError, match="fetch_list holds a int"):
        exe.run(feed=feed, fetch_list=[3])
    with pytest.raises(TypeError, match="program is a str"):
        exe.run("main")


def test_a_program_whose_startup_has_not_run_says_so():
    _, loss = network()
    with pytest.raises(static.UninitializedError, match=r"'linear_0.w_0', float32\[4, 8\].*default_startup_program"):
        static.Executor().run(feed=batch(), fetch_list=[loss])


def test_scopes_hold_values_apart():
    net, loss = network()
    one, two = static.Scope(), static.Scope()
    exe = static.Executor()
    for scope in (one, two):
        exe.run(static.default_startup_program(), scope=scope)
    var = one.find_var("linear_0.w_0").get_tensor()
    assert var._get_dims() == var.shape() == [4, 8]
    var.set(np.zeros([4, 8], "float32"))
    assert not np.array(var).any() and np.array(two.find_var("linear_0.w_0").get_tensor()).any()
    with pytest.raises(ValueError, match=r"shape \[4, 8\] expected, got \[2\]"):
        var.set(np.zeros([2], "float32"))
    results = [exe.run(feed=batch(), fetch_list=[loss], scope=s)[0] for s in (one, two)]
    assert results[0] != results[1]
    with static.scope_guard(one):
        net[0].weight.set_value(np.ones([4, 8], "float32"))
        assert net[0].weight.numpy().all() and np.array(var).all()


def test_state_dicts_go_there_and_back():
    _, loss = network()
    exe, main = started(), static.default_main_program()
    before = exe.run(feed=batch(), fetch_list=[loss])[0]
    saved = main.state_dict("param")
    assert set(saved) == {p.name for p in main.all_parameters()}
    exe.run(static.default_startup_program())
    assert exe.run(feed=batch(), fetch_list=[loss])[0] != before
    main.set_state_dict({n: t.numpy() for n, t in saved.items()})
    assert exe.run(feed=batch(), fetch_list=[loss])[0] == before
    with pytest.raises(ValueError, match=r"none of the 1 names \(such as 'w'\)"):
        main.set_state_dict({"w": np.zeros(1)})
    with pytest.raises(ValueError, match=r"'linear_0.w_0': shape \[4, 8\] expected"):
        main.set_state_dict({"linear_0.w_0": np.zeros(1)})


def test_seeds_repeat():
    _, loss = network(nn.Dropout(0.5))
    exe = static.Executor()
    runs = []
    for _ in range(2):
        paddle.seed(3)
        exe.run(static.default_startup_program())
        runs.append(exe.run(feed=batch(), fetch_list=[loss])[0])
    assert runs[0] == runs[1] != exe.run(feed=batch(), fetch_list=[loss])[0]
    main = static.default_main_program()
    main.random_seed = 5
    first = exe.run(feed=batch(), fetch_list=[loss])[0]
    main.random_seed = 5
    assert exe.run(feed=batch(), fetch_list=[loss])[0] == first


def test_a_feed_may_be_changed_as_soon_as_a_run_returns():
    x = static.data("x", [400, 400])
    total, kept = (
        static.create_global_var(s, 0.0, "float32", name=n) for n, s in (("total", [1]), ("kept", [400, 400]))
    )
    y = x
    for _ in range(20):
        y = (y @ x) / 400
    paddle.assign((y.sum() + x.sum()).reshape([1]), total)
    paddle.assign(x, kept)
    exe = started()
    feed = np.empty([400, 400], "float32")
    for fetches in ([], [total]):
        feed[:] = 1
        exe.run(feed={"x": feed}, fetch_list=fetches)
        feed[:] = 0
        np.testing.assert_allclose(total.numpy(), 2 * 400 * 400, rtol=1e-4)
        assert (kept.numpy() == 1).all()


def test_erased_variables_are_made_anew():
    _, loss = network()
    exe = started()
    scope = static.global_scope()
    exe.run(feed=batch(), fetch_list=[loss])
    scope.erase(["linear_0.w_0"])
    assert scope.find_var("linear_0.w_0") is None
    before = exe.run(static.default_startup_program())
    assert before == [] and scope.find_var("linear_0.w_0") is not None
    scope.var("linear_0.w_0").get_tensor().set(np.zeros([4, 8], "float32"))
    scope.var("linear_1.b_0").get_tensor().set(np.zeros([1], "float32"))
    scope.var("linear_0.b_0").get_tensor().set(np.zeros([8], "float32"))
    (found,) = exe.run(feed=batch(), fetch_list=[loss])
    np.testing.assert_allclose(found, (batch()["y"] ** 2).mean(), rtol=1e-5)


def test_threads_run_one_program():
    x = static.data("x", [None, 2])
    y = (x * 2).sum()
    main, found = static.default_main_program(), {}

    def work(k):
        exe = static.Executor()
        feed = {"x": np.full([k + 1, 2], k, "float32")}
        found[k] = [float(exe.run(main, feed=feed, fetch_list=[y])[0]) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {k: [4.0 * k * (k + 1)] * 5 for k in range(4)}


def test_strategies_are_accepted():
    y = static.data("x", [1]) + 1
    strategy = static.BuildStrategy()
    strategy.memory_optimize = True
    with pytest.warns(UserWarning, match="CompiledProgram: build_strategy=<BuildStrategy> has no effect"):
        compiled = static.CompiledProgram(static.default_main_program(), strategy)
    assert static.Executor().run(compiled, {"x": np.ones([1], "float32")}, [y])[0].tolist() == [2]
    with pytest.raises(TypeError, match="CompiledProgram: program_or_graph is a str"):
        static.CompiledProgram("x")


def test_a_seeded_startup_program_draws_the_same_each_time(static_mode):
    paddle.nn.Linear(2, 2)(static.data("x", [1, 2]))
    startup = static.default_startup_program()
    startup.random_seed = 7
    drawn = []
    for _ in range(2):
        with static.scope_guard(static.Scope()):
            static.Executor().run(startup)
            scope = static.global_scope()
            drawn.append([scope.homes[name].numpy().tolist() for name in startup.initials])
    assert drawn[0] == drawn[1]


def test_a_program_that_goes_on_after_a_run_runs_as_it_is_now(static_mode):
    x = static.data("x", [2], "float32")
    y = x * 2
    exe, feed = static.Executor(), {"x": np.ones(2, "float32")}
    assert [exe.run(feed=feed, fetch_list=[y])[0].tolist() for _ in range(2)] == [[2, 2]] * 2
    y.add_(x)
    assert [exe.run(feed=feed, fetch_list=[y])[0].tolist() for _ in range(2)] == [[3, 3]] * 2


def test_what_is_made_at_once_is_fetched_as_it_is(static_mode):
    indices, numbers = paddle.tril_indices(2, 2, 0), paddle.to_tensor([1.0, 2.0])
    found = static.Executor().run(fetch_list=[indices, numbers, numbers * 2])
    assert [f.tolist() for f in found] == [[[0, 1, 1], [0, 0, 1]], [1.0, 2.0], [2.0, 4.0]]
