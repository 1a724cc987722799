"""Programs as PaddlePaddle's earlier generation has them: described, edited in place, and recorded anew."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static
from paddle_lite_py.model_files.graph import ModelFileError
from paddle_lite_py.nn import functional as F


@pytest.fixture(autouse=True)
def _earlier():
    paddle.set_flags({"FLAGS_enable_pir_api": False})
    paddle.enable_static()
    with (
        static.program_guard(static.Program(), static.Program()),
        paddle.utils.unique_name.guard(),
        static.scope_guard(static.Scope()),
    ):
        yield
    paddle.disable_static()


def kinds(program):
    return [op.type for op in program.global_block().ops]


def started():
    exe = static.Executor()
    paddle.seed(1)
    exe.run(static.default_startup_program())
    return exe


def images(n=2):
    return {"x": np.random.RandomState(0).rand(n, 4, 6, 6).astype("float32")}


def convolutions(bias=None):
    x = static.data("x", [None, 4, 6, 6])
    a = static.nn.batch_norm(
        static.nn.conv2d(x, 8, 3, padding=1, name="first", bias_attr=bias), act="relu", name="norm"
    )
    deep = static.nn.conv2d(a, 8, 3, padding=1, groups=8, name="deep", bias_attr=False)
    return static.nn.conv2d(a + deep, 4, 1, name="last")


def shapes(x):
    halves = paddle.split(x, 2, axis=1)
    x = paddle.concat([halves[1], halves[0]], axis=1)
    x = paddle.squeeze(paddle.unsqueeze(paddle.reshape(x, [0, 4, 36]), [1]), [1])
    return paddle.flatten(paddle.transpose(x, [0, 2, 1]), 1)


def layers(x):
    x = F.max_pool2d(F.leaky_relu(static.nn.conv2d_transpose(x, 3, filter_size=2, stride=2)), 2)
    return F.softmax(static.nn.fc(x, 5, num_flatten_dims=3) * 2.0 - 1.0).clip(0.1, 0.9)


def without_form(x):
    mask = paddle.to_tensor(np.arange(6, dtype="float32"))
    y = static.nn.cond(x.sum() > 0, lambda: x * mask, lambda: x)
    return F.dropout(y, 0.5).logcumsumexp(axis=1)


NETS = {"convolutions": lambda x: convolutions(), "shapes": shapes, "layers": layers, "without form": without_form}


def results(program, fetches, n=2):
    paddle.seed(7)
    exe = static.Executor()
    return [np.concatenate([v.ravel() for v in exe.run(program, images(), fetches)]) for _ in range(n)]


@pytest.mark.parametrize("name", NETS)
def test_a_description_is_what_it_describes(name):
    y = NETS[name](static.data("x", [None, 4, 6, 6]))
    started()
    main = static.default_main_program()
    expected = results(main, [y], 1)
    again = main.clone()
    again.global_block().change()
    np.testing.assert_allclose(results(again, [y], 1), expected, rtol=1e-6, atol=1e-6)


OPTIMIZERS = {
    "sgd": lambda: paddle.optimizer.SGD(0.1),
    "momentum": lambda: paddle.optimizer.Momentum(0.1, weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
    "adam": lambda: paddle.optimizer.Adam(paddle.optimizer.lr.ExponentialDecay(0.01, 0.5)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_as_it_was(name):
    y = convolutions(bias=False)  # the gradient of one before a normalization is rounding
    loss = F.square_error_cost(y, paddle.ones_like(y)).mean()
    OPTIMIZERS[name]().minimize(loss)
    started()
    main, scope = static.default_main_program(), static.global_scope()
    before = {n: h.numpy() for n, h in scope.homes.items()}
    expected = results(main, [loss])
    after = {n: h.numpy() for n, h in scope.homes.items()}
    for n, array in before.items():
        scope.set(n, array)
    main.global_block().change()
    np.testing.assert_allclose(results(main, [loss]), expected, rtol=2e-6)
    for n, array in after.items():
        np.testing.assert_allclose(scope.homes[n].numpy(), array, rtol=2e-5, atol=1e-6, err_msg=n)
    assert abs(after["first.w_0"] - before["first.w_0"]).max() > 1e-4
    assert kinds(main)[-1] == name and kinds(main.clone()) == kinds(main) and "running_average" not in kinds(main)


def test_operators_have_the_slots_of_the_reference():
    y = convolutions()
    paddle.optimizer.Adam(0.1).minimize(y.mean())
    ops = {op.type: op for op in reversed(static.default_main_program().global_block().ops)}
    conv, norm, adam = ops["conv2d"], ops["batch_norm"], ops["adam"]
    assert conv.input("Filter") == ["first.w_0"] and conv.output("Output") == ["first.tmp_0"] and conv.idx == 0
    assert (conv.attr("groups"), conv.attr("data_format"), conv.attr("paddings")) == (1, "NCHW", [1, 1])
    assert norm.input_names == ["X", "Scale", "Bias", "Mean", "Variance"] and norm.attr("is_test") is False
    assert norm.output("MeanOut") == norm.input("Mean")
    assert ops["elementwise_add"].attr("axis") == 1 and ops["elementwise_add"].input("Y") == ["first.b_0"]
    assert ops["conv2d_grad"].output("Filter@GRAD") == ["last.w_0@GRAD"]
    assert adam.input("Moment1")[0].endswith("moment1_0") and adam.output("ParamOut") == adam.input("Param")
    assert {"depthwise_conv2d", "relu_grad", "sum", "reduce_mean_grad"} <= ops.keys()


def test_channels_are_pruned_in_place():
    y = convolutions()
    exe, main, scope = started(), static.default_main_program(), static.global_scope()
    test = main.clone(for_test=True)
    full = {n: h.numpy() for n, h in scope.homes.items()}
    pruned = test.clone()
    block, keep = pruned.global_block(), {"first.w_0": 0, "first.b_0": 0, "deep.w_0": 0, "last.w_0": 1}
    norm = next(op for op in block.ops if op.type == "batch_norm")
    keep.update({n: 0 for slot in ("Scale", "Bias", "Mean", "Variance") for n in norm.input(slot)})
    for name, axis in keep.items():
        block.var(name).desc.set_shape([n // 2 if i == axis else n for i, n in enumerate(block.var(name).shape)])
        scope.var(name).get_tensor().set(np.take(full[name], range(4), axis), None)
    deep = next(op for op in block.ops if op.type == "depthwise_conv2d")
    deep._set_attr("groups", 4)
    for op in block.ops:
        op.desc.infer_shape(block.desc)
    assert block.var("first.w_0").shape == (4, 4, 3, 3) and block.var(deep.output("Output")[0]).shape == (-1, 4, 6, 6)
    assert [p.shape for p in main.all_parameters() if p.name == "first.w_0"] == [[8, 4, 3, 3]]
    again = pruned.clone()  # as it is described, so that it can be pruned once more
    assert (
        kinds(again) == kinds(pruned) == [op.type for op in block.ops]
        and again.global_block().ops[0] is not block.ops[0]
    )
    (found,) = exe.run(pruned, images(), [y])
    np.testing.assert_array_equal(exe.run(again, images(), [y])[0], found)
    again.global_block().change()
    np.testing.assert_allclose(exe.run(again, images(), [y])[0], found, rtol=1e-6, atol=1e-7)
    zeroed = {n: np.where(np.arange(8).reshape([-1 if i == axis else 1 for i in range(full[n].ndim)]) < 4, full[n], 0)
              for n, axis in keep.items()}  # fmt: skip
    for n, array in zeroed.items():
        scope.var(n).get_tensor().set(array.astype("float32"), None)
    np.testing.assert_allclose(found, exe.run(test, images(), [y])[0], rtol=1e-5, atol=1e-6)


def test_a_program_runs_with_the_shapes_of_its_scope():
    x = static.data("x", [None, 4, 6, 6])
    y = static.nn.fc(static.nn.fc(x, 6, bias_attr=False, name="a"), 3, bias_attr=False, name="b").mean()
    paddle.optimizer.SGD(0.1).minimize(y)
    exe, scope = started(), static.global_scope()
    exe.run(feed=images(), fetch_list=[y])
    a, b = (scope.homes[n].numpy() for n in ("a.w_0", "b.w_0"))
    scope.var("a.w_0").get_tensor().set(a[:, :2], None)
    scope.var("b.w_0").get_tensor().set(b[:2], None)
    (found,) = exe.run(feed=images(), fetch_list=[y])
    np.testing.assert_allclose(found, (images()["x"].reshape(2, -1) @ a[:, :2] @ b[:2]).mean(), rtol=1e-5)
    assert scope.homes["a.w_0"].shape == [144, 2] and abs(scope.homes["a.w_0"].numpy() - a[:, :2]).max() > 1e-4


def test_operators_are_inserted_and_removed():
    x = static.data("x", [None, 4, 6, 6])
    y = static.nn.fc(x, 3, bias_attr=False, name="a")
    z = F.relu(y) + 1.0
    exe, main, scope = started(), static.default_main_program(), static.global_scope()
    block = main.global_block()
    mask = block.create_var("mask", "float32", [144, 3], persistable=True)
    scope.var("mask").get_tensor().set(np.eye(144, 3, dtype="float32"), None)
    block._insert_op(0, "elementwise_mul", {"X": block.var("a.w_0"), "Y": mask}, {"Out": ["a.w_0"]}, {"axis": -1})
    weight = scope.homes["a.w_0"].numpy() * np.eye(144, 3)
    product = images()["x"].reshape(2, -1) @ weight
    np.testing.assert_allclose(exe.run(main, images(), [z])[0], product.clip(0) + 1, rtol=1e-5, atol=1e-5)
    assert not scope.homes["a.w_0"].numpy()[3:].any()
    relu = next(op for op in block.ops if op.type == "relu")
    block._remove_op(relu.idx)
    block.ops[-1]._rename_input(relu.output("Out")[0], relu.input("X")[0])
    (found,) = exe.run(main, images(), [z])
    np.testing.assert_allclose(found, product + 1, rtol=1e-5, atol=1e-5)
    more = block.var(z.name) * 2.0  # what is built afterwards reads the edited program
    np.testing.assert_allclose(exe.run(main, images(), [more])[0], found * 2, rtol=1e-6)
    assert [k for k in kinds(main) if k != "fill_constant"][:2] == ["elementwise_mul", "mul"]


def test_programs_are_merged():
    teacher = static.Program()
    with static.program_guard(teacher), paddle.utils.unique_name.guard("teacher_"):
        t = static.nn.fc(static.data("x", [None, 4, 6, 6]), 3, name="a")
    s = static.nn.fc(static.data("x", [None, 4, 6, 6]), 3, name="a")
    exe, student = started(), static.default_main_program()
    there, here = teacher.global_block(), student.global_block()
    n, scope = len(here.ops), static.global_scope()
    for variable in there.vars.values():
        if variable.name != "x":
            old = np.array(scope.var(variable.name).get_tensor())
            variable = there._rename_var(variable.name, f"of_{variable.name}")
            scope.var(variable.name).get_tensor().set(old, None)
        here._clone_variable(variable, force_persistable=False).stop_gradient = True
    for op in there.ops:
        slots = [{k: [there.var(v) for v in get(k)] for k in names} for get, names in (
            (op.input, op.input_names), (op.output, op.output_names))]  # fmt: skip
        here.append_op(type=op.type, inputs=slots[0], outputs=slots[1], attrs=op.all_attrs())
    assert len(here.ops) == n + len(there.ops)
    loss = F.square_error_cost(s, here.var(f"of_{t.name}")).mean()
    paddle.optimizer.SGD(0.1).minimize(loss, parameters=["a.w_0", "a.b_0"])
    exe.run(static.default_startup_program())
    (found, mine, theirs) = exe.run(student, images(), [loss, s, f"of_{t.name}"])
    np.testing.assert_allclose(found, ((mine - theirs) ** 2).mean(), rtol=1e-5)


def test_layers_append_operators_by_name():
    layer, x = nn.BatchNorm2D(4), static.data("x", [None, 4, 6, 6])
    helper = layer._helper
    out, mean, variance = (helper.create_variable_for_type_inference("float32") for _ in range(3))
    attrs = {"momentum": 0.5, "epsilon": 1e-5, "is_test": False, "data_layout": "NCHW"}
    state = {"Mean": [layer._mean], "Variance": [layer._variance]}
    inputs = {"X": [x], "Scale": [layer.weight], "Bias": [layer.bias], **state}
    outputs = {"Y": [out], "SavedMean": [mean], "SavedVariance": [variance],
               "MeanOut": state["Mean"], "VarianceOut": state["Variance"]}  # fmt: skip
    helper.append_op(type="batch_norm", inputs=inputs, outputs=outputs, attrs=attrs)
    assert out.shape == (-1, 4, 6, 6)
    exe = started()
    (found,) = exe.run(feed=images(), fetch_list=[out * 1.0])
    batch = images()["x"].mean((0, 2, 3))
    np.testing.assert_allclose(found.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(static.global_scope().homes[layer._mean.name].numpy(), batch / 2, rtol=1e-5)


def edits():
    x = static.data("x", [None, 4, 6, 6])
    y = static.nn.fc(x.logcumsumexp(axis=1), 3, name="a")
    paddle.optimizer.SGD(0.1).minimize(y.mean())
    return static.default_main_program().global_block()


def test_edits_that_cannot_be_say_why():
    block = edits()
    by_kind = {op.type: op for op in block.ops}
    with pytest.raises(ValueError, match=r"operator `mul` has no input 'W'; it has X, Y"):
        by_kind["mul"].input("W")
    with pytest.raises(ValueError, match=r"`mul` has no attribute 'groups'; it has x_num_col_dims"):
        by_kind["mul"].attr("groups")
    with pytest.raises(ValueError, match=r"no variable 'a.w_1'; did you mean 'a.w_0'"):
        block.var("a.w_1")
    with pytest.raises(NotImplementedError, match=r"`sgd` keeps the attributes.*\('rho' cannot be 2\)"):
        by_kind["sgd"]._set_attr("rho", 2)
    with pytest.raises(AttributeError, match="desc"):
        block.program.desc  # noqa: B018


UNFIT = {
    "an unknown kind": (lambda b: b.append_op("warp", {"X": "x"}, {"Out": "x"}), "not known here: `fluid.warp`"),
    "another shape": (lambda b: b.var("a.w_0").set_shape([7, 3]), r"`mul` cannot be built: .*size 144.*size 7"),
    "no maker": (lambda b: b._remove_op(0), "is read before anything has made it"),
    "half an update": (lambda b: b._remove_op(len(b.ops) - 1), "an optimizer updates 2 parameters .* 1 are left"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_is_told_at_the_next_use(name):
    block = edits()
    change, message = UNFIT[name]
    change(block)
    with pytest.raises(ModelFileError, match=message):
        started().run(feed=images())


def test_a_program_is_not_edited_from_within():
    block, x = edits(), static.data("y", [2])

    def branch():
        block.change()
        return x * 2.0

    with pytest.raises(RuntimeError, match="while a branch or loop of it is built; edit it before or after"):
        static.nn.cond(x.sum() > 0, branch, lambda: x)


def test_other_programs_have_no_slots():
    paddle.set_flags({"FLAGS_enable_pir_api": True})
    _ = static.data("x", [2]) + 1.0
    with pytest.raises(AttributeError, match="'idx' here.*FLAGS_enable_pir_api=0"):
        static.default_main_program().global_block().ops[0].idx  # noqa: B018
