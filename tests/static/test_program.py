"""Static programs: what they list, their guards, names and clones."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
import static_nets
from paddle_lite_py import nn, static
from paddle_lite_py.ir.verify import verify
from static_nets import batch, network, started

pytestmark = pytest.mark.usefixtures("static_mode")


def test_a_program_lists_its_operators_and_variables():
    _, loss = network()
    main = static.default_main_program()
    assert [op.type for op in main.global_block().ops] == ["linear", "tanh", "linear", "mse_loss"]
    names = [p.name for p in main.all_parameters()]
    assert names == ["linear_0.w_0", "linear_0.b_0", "linear_1.w_0", "linear_1.b_0"]
    block = main.global_block()
    inner = ["linear_0.tmp_0", "tanh_0.tmp_0", "linear_1.tmp_0", loss.name]
    assert {"x", "y", *inner, *names} == set(block.vars) == {v.name for v in main.list_vars()}
    assert block.var("x").shape[1] == 4 and block.has_var("y") and not block.has_var("z")
    with pytest.raises(ValueError, match="no variable 'linear_0.w'; did you mean 'linear_0.w_0'"):
        block.var("linear_0.w")
    first = block.ops[0]
    assert (
        first.input_arg_names == ["x", "linear_0.w_0", "linear_0.b_0"] and first.where.filename == static_nets.__file__
    )
    with pytest.raises(AttributeError, match="'input_names' here: operands have no slots.*prune or quantize the layer"):
        first.input_names  # noqa: B018
    text = str(main)
    assert "%linear_0.w_0: float32[4, 8]" in text and "static_nets.py:" in text
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
