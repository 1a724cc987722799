"""Static mode: programs are built, run by an executor, trained, cloned, and say what is wrong with a feed."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static
from paddle_lite_py.ir.verify import verify

pytestmark = pytest.mark.usefixtures("static_mode")


def batch(n=8, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)).astype("float32")
    return {"x": x, "y": x.sum(1, keepdims=True)}


def network(*extra):
    x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), *extra, nn.Linear(8, 1))
    return net, nn.functional.mse_loss(net(x), y)


def started(place=None):
    exe = static.Executor(place)
    exe.run(static.default_startup_program())
    return exe


def weights(net):
    return {n: p.numpy() for n, p in net.named_parameters()}


# -- modes and programs ------------------------------------------------------------------------------------------------
def test_modes():
    assert not paddle.in_dynamic_mode()
    paddle.disable_static()
    assert paddle.in_dynamic_mode() and paddle.ones([1]).item() == 1
    paddle.enable_static()
    assert isinstance(paddle.ones([1]), static.Variable)
    assert not isinstance(paddle.to_tensor([1.0]), static.Variable)


def test_data_outside_of_static_mode_is_explained():
    paddle.disable_static()
    with pytest.raises(RuntimeError, match=r"data 'x': .*paddle\.enable_static\(\)"):
        static.data("x", [1])


def test_a_program_lists_its_operators_and_variables():
    _, loss = network()
    main = static.default_main_program()
    assert [op.type for op in main.global_block().ops] == [
        "linear",
        "tanh",
        "linear",
        "subtract",
        "square",
        "mean",
    ] or ("linear" in [op.type for op in main.global_block().ops])
    names = [p.name for p in main.all_parameters()]
    assert names == ["linear_0.w_0", "linear_0.b_0", "linear_1.w_0", "linear_1.b_0"]
    block = main.global_block()
    assert {"x", "y", loss.name, *names} <= set(block.vars) == {v.name for v in main.list_vars()}
    assert block.var("x").shape[1] == 4 and block.has_var("y") and not block.has_var("z")
    with pytest.raises(ValueError, match="no variable 'linear_0.w'; did you mean 'linear_0.w_0'"):
        block.var("linear_0.w")
    first = block.ops[0]
    assert first.input_arg_names == ["x", "linear_0.w_0", "linear_0.b_0"] and first.where.filename == __file__
    text = str(main)
    assert "%linear_0.w_0: float32[4, 8]" in text and "test_static_mode.py:" in text
    assert "linear_0.w_0: float32[4, 8] gets its first value" in str(static.default_startup_program())
    verify(main.snapshot())


def test_names_have_the_prefix_of_their_scope():
    with static.name_scope("a"), static.name_scope("b"):
        y = static.data("x", [2]) + 1
    assert y.name.startswith("a/b/add_0")


def test_a_guard_leaves_the_outer_program_alone():
    outer = static.default_main_program()
    inner = static.Program()
    with static.program_guard(inner):
        static.data("x", [2]) + 1
    assert outer.num_ops() == 0 and inner.num_ops() == 1
    with pytest.raises(TypeError, match="main_program is a str"), static.program_guard("main"):
        pass


def test_a_value_of_another_program_is_refused():
    y = static.data("x", [2]) + 1
    with static.program_guard(static.Program()), pytest.raises(ValueError, match="of another Program"):
        y + 1


def test_device_guard_checks_its_device():
    with static.device_guard("gpu:0"), static.device_guard():
        pass
    with pytest.raises(ValueError, match="device is 'abacus'"), static.device_guard("abacus"):
        pass


def test_parameters_are_shared_by_name():
    x = static.data("x", [None, 3])
    attr = paddle.ParamAttr(name="shared")
    a, b = nn.Linear(3, 3, weight_attr=attr), nn.Linear(3, 3, weight_attr=attr)
    assert a.weight is b.weight
    paddle.optimizer.SGD(0.1).minimize((a(x) + b(x)).mean())
    assert [p.name for p in static.default_main_program().all_parameters()].count("shared") == 1
    with pytest.raises(ValueError, match=r"'shared' is shared by name: it is float32\[3, 3\], and float32\[2, 3\]"):
        nn.Linear(2, 3, weight_attr=attr)


# -- executor ----------------------------------------------------------------------------------------------------------
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
        ({"x": np.ones([1, 2], "float32"), "z": 1}, ValueError, "no data 'z'; it has x"),
        ({"xs": np.ones([1, 2], "float32")}, ValueError, "no data 'xs'; did you mean 'x'"),
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
    compiled = static.CompiledProgram(static.default_main_program(), strategy)
    assert static.Executor().run(compiled, {"x": np.ones([1], "float32")}, [y])[0].tolist() == [2]
    with pytest.raises(TypeError, match="CompiledProgram: program_or_graph is a str"):
        static.CompiledProgram("x")


# -- training ----------------------------------------------------------------------------------------------------------
OPTIMIZERS = {
    "sgd": lambda p, rate: paddle.optimizer.SGD(rate, parameters=p, weight_decay=paddle.regularizer.L1Decay(0.01)),
    "momentum": lambda p, rate: paddle.optimizer.Momentum(rate, 0.9, parameters=p, weight_decay=1e-2),
    "adam": lambda p, rate: paddle.optimizer.Adam(rate, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
    "adamw": lambda p, rate: paddle.optimizer.AdamW(rate, parameters=p, weight_decay=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_equals_eager(name):
    net, loss = network(nn.BatchNorm1D(8))
    rate = paddle.optimizer.lr.StepDecay(0.1, 2, 0.5)
    OPTIMIZERS[name](None, rate).minimize(loss)
    exe = started()
    start = weights(net)
    losses = []
    for i in range(4):
        losses.append(exe.run(feed=batch(seed=i), fetch_list=[loss])[0])
        rate.step()
    compiled = next(iter(static.default_main_program().compiled.values()))
    assert compiled.compilations == 1
    found = weights(net)

    paddle.disable_static()
    eager = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.BatchNorm1D(8), nn.Linear(8, 1))
    for n, p in eager.named_parameters():
        p.set_value(start[n])
    rate = paddle.optimizer.lr.StepDecay(0.1, 2, 0.5)
    opt = OPTIMIZERS[name](eager.parameters(), rate)
    for i in range(4):
        feed = batch(seed=i)
        loss = nn.functional.mse_loss(eager(paddle.to_tensor(feed["x"])), paddle.to_tensor(feed["y"]))
        np.testing.assert_allclose(losses[i], loss.numpy(), rtol=1e-5)
        loss.backward()
        opt.step()
        opt.clear_grad()
        rate.step()
    for n, value in weights(eager).items():
        np.testing.assert_allclose(found[n], value, rtol=1e-4, atol=1e-6, err_msg=n)


def test_startup_starts_training_anew():
    _, loss = network()
    paddle.optimizer.Adam(0.1).minimize(loss)
    exe, runs = static.Executor(), []
    for _ in range(2):
        paddle.seed(1)
        exe.run(static.default_startup_program())
        runs.append([float(exe.run(feed=batch(), fetch_list=[loss])[0]) for _ in range(3)])
    assert runs[0] == runs[1] and runs[0][2] < runs[0][0]


def test_a_clone_for_test_neither_drops_nor_trains():
    net, loss = network(nn.BatchNorm1D(8), nn.Dropout(0.5))
    early = static.default_main_program().clone(for_test=True)
    paddle.optimizer.Adam(0.1).minimize(loss)
    late = static.default_main_program().clone(for_test=True)
    exe = started()
    exe.run(feed=batch(), fetch_list=[loss])
    before = static.default_main_program().state_dict()
    found = [exe.run(p, feed=batch(), fetch_list=[loss])[0] for p in (early, late, early)]
    assert found[0] == found[1] == found[2] == exe.run(late, feed=batch(), fetch_list=[loss.name])[0]
    for name, value in static.default_main_program().state_dict().items():
        assert value.numpy().tolist() == before[name].numpy().tolist()
    types = [op.type for op in late.global_block().ops]
    assert "dropout" not in types and "grad" not in types and "adam" not in types
    verify(late.snapshot())


def test_downscaled_dropout_in_evaluation():
    x = static.data("x", [2])
    y = nn.functional.dropout(nn.functional.dropout(x, 0.5, mode="downscale_in_infer"), 0.5)
    test = static.default_main_program().clone(for_test=True)
    assert static.Executor().run(test, {"x": np.ones([2], "float32")}, [y])[0].tolist() == [0.5, 0.5]


def test_a_clone_can_be_built_on():
    net, loss = network()
    clone = static.default_main_program().clone()
    with static.program_guard(clone, static.default_startup_program()):
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe = started()
    first, second = (exe.run(clone, feed=batch(), fetch_list=[loss])[0] for _ in range(2))
    assert second < first
    assert exe.run(feed=batch(), fetch_list=[loss])[0] < second
    assert all(op.type != "sgd" for op in static.default_main_program().global_block().ops)


def test_gradients_to_second_order_and_of_inner_values():
    x = static.data("x", [2])
    x.stop_gradient = False
    y = x * x
    (dx,) = static.gradients(y * x, x)
    (ddx,) = static.gradients(dx, x)
    (dy,) = static.gradients((y * 2).sum(), y)
    found = static.Executor().run(feed={"x": np.array([1.0, 2.0], "float32")}, fetch_list=[dx, ddx, dy])
    assert [a.tolist() for a in found] == [[3, 12], [6, 12], [2, 2]]


def test_gradients_start_from_given_ones_and_stop():
    x = static.data("x", [2])
    x.stop_gradient = False
    y = x * 3
    (dx,) = static.gradients([y + x], [x], target_gradients=[static.data("g", [2])], no_grad_set={y.name})
    feed = {"x": np.ones([2], "float32"), "g": np.array([1.0, 2.0], "float32")}
    assert static.Executor().run(feed=feed, fetch_list=[dx])[0].tolist() == [1, 2]


def test_append_backward_names_gradients():
    net, loss = network()
    pairs = static.append_backward(loss, parameter_list=[net[0].weight, "linear_1.b_0"])
    assert [(p.name, g.name) for p, g in pairs] == [
        ("linear_0.w_0", "linear_0.w_0@GRAD"), ("linear_1.b_0", "linear_1.b_0@GRAD")
    ]  # fmt: skip
    (by_name,) = started().run(feed=batch(), fetch_list=["linear_0.w_0@GRAD"])
    assert by_name.shape == (4, 8) and by_name.any()


def test_recomputed_gradients_are_the_same():
    net, loss = network()
    hidden = static.default_main_program().global_block().ops[1].output_arg_names
    whole = static.default_main_program().clone()
    found = []
    for program, checkpoints in ((whole, None), (static.default_main_program(), hidden)):
        with static.program_guard(program):
            pairs = static.append_backward(loss, checkpoints=checkpoints)
            found.append((program, [g for _, g in pairs]))
    exe = started()
    (kept, again) = (exe.run(p, feed=batch(), fetch_list=g) for p, g in found)
    for a, b in zip(kept, again, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert "recompute" in str(static.default_main_program()) and "recompute" not in str(whole)
    with pytest.raises(ValueError, match="'x' is not what an operator of the program gives"):
        static.append_backward(loss, checkpoints=["x"])


def test_append_backward_says_what_is_wrong():
    net, loss = network()
    with pytest.raises(ValueError, match=r"loss is float32\[.*8\]; expected one number"):
        static.append_backward(net[0](static.data("x", [None, 4])))
    with pytest.raises(ValueError, match="depends on none of the parameters"):
        static.append_backward(static.data("x", [None, 4]).mean())
    with pytest.raises(ValueError, match="'w', which is no parameter"):
        static.append_backward(loss, parameter_list=["w"])
    paddle.disable_static()
    with pytest.raises(RuntimeError, match="append_backward: no program is under construction"):
        static.append_backward(loss)
    paddle.enable_static()


def test_two_optimizers_train_in_turns():
    x = static.data("x", [None, 4])
    one, two = nn.Linear(4, 4), nn.Linear(4, 1)
    score = two(one(x)).mean()
    a = paddle.optimizer.SGD(0.1, parameters=one.parameters())
    b = paddle.optimizer.SGD(0.1, parameters=two.parameters())
    a.minimize(score)
    b.minimize(-score)
    exe = started()
    before = weights(one) | {f"two.{k}": v for k, v in weights(two).items()}
    exe.run(feed={"x": batch()["x"]})
    after = weights(one) | {f"two.{k}": v for k, v in weights(two).items()}
    mean = batch()["x"].mean(0)
    np.testing.assert_allclose(
        after["weight"], before["weight"] - 0.1 * np.outer(mean, before["two.weight"]), rtol=1e-5, atol=1e-7
    )
    inner = mean @ before["weight"] + before["bias"]
    np.testing.assert_allclose(
        after["two.weight"][:, 0], before["two.weight"][:, 0] + 0.1 * inner, rtol=1e-5, atol=1e-7
    )


def test_layers_of_dynamic_mode_are_trained_in_place():
    paddle.disable_static()
    net = nn.Linear(4, 1)
    start = net.weight.numpy()
    paddle.enable_static()
    loss = net(static.data("x", [None, 4])).mean()
    paddle.optimizer.SGD(0.1, parameters=net.parameters()).minimize(loss)
    started().run(feed={"x": batch()["x"]}, fetch_list=[loss])
    np.testing.assert_allclose(net.weight.numpy()[:, 0], start[:, 0] - 0.1 * batch()["x"].mean(0), rtol=1e-5)
