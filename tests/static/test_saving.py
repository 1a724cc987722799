"""Static programs and their values in files and bytes."""

from __future__ import annotations

import copy
import json
import random

import numpy as np
import pytest
from paddle_lite_py.jit.artifact import ArtifactError

import paddle_lite_py as paddle
from paddle_lite_py import nn, static
from paddle_lite_py.ir.serialize import FormatError

pytestmark = pytest.mark.usefixtures("static_mode")


X = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")


def model(train=False):
    x = static.data("x", [None, 3])
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Dropout(0.5), nn.Linear(4, 2))
    y = nn.functional.softmax(net(x))
    if train:
        label = static.data("label", [None, 1], "int64")
        paddle.optimizer.Adam(0.1).minimize(nn.functional.cross_entropy(y, label, use_softmax=False))
    exe = static.Executor()
    exe.run(static.default_startup_program())
    for _ in range(2 * train):
        exe.run(feed={"x": X, "label": np.array([[0], [1], [0], [1]])})
    return exe, x, y


def evaluated(exe, y):
    return exe.run(static.default_main_program().clone(for_test=True), feed={"x": X}, fetch_list=[y])[0]


def test_checkpoints_restore_training(tmp_path):
    exe, _, y = model(train=True)
    main, path = static.default_main_program(), str(tmp_path / "m")
    expected, state = evaluated(exe, y), {n: t.numpy() for n, t in main.state_dict().items()}
    static.save(main, path)
    exe.run(static.default_startup_program())
    assert not np.array_equal(evaluated(exe, y), expected)
    static.load(main, path, exe)
    np.testing.assert_array_equal(evaluated(exe, y), expected)
    for name, t in main.state_dict().items():
        np.testing.assert_array_equal(t.numpy(), state[name], err_msg=name)
    held = static.load_program_state(path)
    assert held["linear_0.w_0_beta1_pow_acc_0"].shape == (1,) and {n for n in state if "_of_" not in n} <= held.keys()
    assert set(static.load_program_state(path, ["linear_0.w_0"])) == {"linear_0.w_0"}
    static.set_program_state(main, held)
    with pytest.raises(ValueError, match="'other', a parameter of the program, is not in"):
        static.create_parameter([1], "float32", name="other") + 1
        static.load(main, path)


def test_inference_models_are_read_everywhere(tmp_path):
    exe, x, y = model(train=True)
    expected, path = evaluated(exe, y), str(tmp_path / "m")
    static.save_inference_model(path, [x], [y], exe)
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = static.load_inference_model(path, exe)
        assert feeds == ["x"] and len(fetches) == 1
        found = exe.run(program, feed={"x": X}, fetch_list=fetches)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert not {"grad", "dropout"} & {op.type for op in program.global_block().ops}
        by_name = exe.run(program, feed={"x": X[:1]}, fetch_list=[fetches[0].name])[0]
        np.testing.assert_allclose(by_name, expected[:1], rtol=1e-5)
        assert {p.name for p in program.all_parameters()} >= {"linear_0.w_0", "linear_0.b_0"}
    for mode in (paddle.enable_static, paddle.disable_static):
        mode()
        predictor = paddle.inference.create_predictor(paddle.inference.Config(path))
        predictor.get_input_handle("x").copy_from_cpu(X)
        predictor.run()
        found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    (out,) = predictor.run([X])
    np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-6)
    layer = paddle.jit.load(path)
    np.testing.assert_allclose(layer(paddle.to_tensor(X)).numpy(), expected, rtol=1e-6)
    assert len(layer.parameters()) >= 4
    paddle.enable_static()


def test_a_layer_saved_by_jit_is_loaded_as_a_program(tmp_path):
    paddle.disable_static()
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1D(2))
    net.eval()
    paddle.jit.save(net, str(tmp_path / "m"), input_spec=[static.InputSpec([None, 3], name="x")])
    expected = net(paddle.to_tensor(X)).numpy()
    paddle.enable_static()
    exe = static.Executor()
    program, feeds, fetches = static.load_inference_model(str(tmp_path / "m"), exe)
    np.testing.assert_allclose(exe.run(program, {feeds[0]: X}, fetches)[0], expected, rtol=1e-6)


def test_a_loaded_program_is_trained_further(tmp_path):
    exe, x, y = model()
    static.save_inference_model(str(tmp_path / "m"), [x], [y], exe)
    program, _, (out,) = static.load_inference_model(str(tmp_path / "m"), exe)
    startup = static.Program()
    with static.program_guard(program, startup):
        loss = (out[:, 0]).mean()
        paddle.optimizer.SGD(0.5).minimize(loss)
    exe.run(startup)
    losses = [float(exe.run(program, {"x": X}, [loss])[0]) for _ in range(3)]
    assert losses[2] < losses[0]


def test_bytes_go_there_and_back(tmp_path):
    exe, x, y = model()
    expected = evaluated(exe, y)
    program = static.serialize_program([x], [y])
    weights = static.serialize_persistables([x], [y], exe)
    static.save_to_file(str(tmp_path / "p"), program)
    assert static.load_from_file(str(tmp_path / "p")) == program
    with static.scope_guard(static.Scope()):
        made = static.deserialize_program(program)
        with pytest.raises(static.UninitializedError, match=r"'linear_\d.._0'|linear"):
            exe.run(made, feed={"x": X}, fetch_list=made.fetches)
        static.deserialize_persistables(made, weights, exe)
        np.testing.assert_allclose(exe.run(made, {"x": X}, made.fetches)[0], expected, rtol=1e-6)
        with pytest.raises(ArtifactError, match="the weights are damaged"):
            static.deserialize_persistables(made, weights[:-3])
        with pytest.raises(ArtifactError, match="is not among the weights given"):
            static.deserialize_persistables(made, static.serialize_persistables([x], [x * 2], exe))


def test_normalized_programs_hold_only_what_is_needed():
    exe, x, y = model(train=True)
    expected = evaluated(exe, y)
    program = static.normalize_program(static.default_main_program(), [x], [y])
    assert list(program.feeds) == ["x"] and len(program.fetches) == 1
    np.testing.assert_allclose(exe.run(program, {"x": X}, [y])[0], expected, rtol=1e-6)
    with pytest.raises(ValueError, match=r"depend on 'x', which is not among feed_vars \(label\)"):
        static.normalize_program(static.default_main_program(), ["label"], [y])
    with pytest.raises(ValueError, match="feed_vars: 'z' is no data of the program"):
        static.normalize_program(static.default_main_program(), ["z"], [y])


# -- bad input ---------------------------------------------------------------------------------------------------------
REFUSED = (ArtifactError, FormatError)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[1]", b"{}", b"\xff\x00", b"[" * 100000, b'{"format": "paddle_lite_py.artifact"}']
)
def test_foreign_bytes_are_refused(data):
    with pytest.raises(REFUSED):
        static.deserialize_program(data)


def serialized():
    _, x, y = model()
    return json.loads(static.serialize_program([x], [y]))


def forward(manifest):
    return manifest["methods"]["forward"]["eval"]


def damaged(manifest):
    """Name -> a change of a serialised program that makes it wrong."""

    def cyclic(m):
        ops = forward(m)["program"]["block"]["ops"]
        ops[0]["in"][0] = ops[-1]["out"][0]["id"]

    def ill_typed(m):
        forward(m)["program"]["block"]["ops"][0]["out"][0]["shape"] = [1, 1, 1]

    def unknown(m):
        forward(m)["program"]["block"]["ops"][0]["op"] = "os_system"

    def newer(m):
        m["version"] = 99

    def deep(m):
        block = forward(m)["program"]["block"]
        for _ in range(3000):
            block = {"inputs": [], "ops": [{"op": "grad", "in": [], "out": [], "attrs": {"block": {"block": block}}}],
                     "outputs": []}  # fmt: skip
        forward(m)["program"]["block"] = block

    def huge(m):
        forward(m)["program"]["block"]["inputs"][0]["shape"] = [1 << 70]

    def twice(m):
        ops = forward(m)["program"]["block"]["ops"]
        ops.append(copy.deepcopy(ops[0]))

    def weights(m):
        m["weights"][0]["name"] = {"a": 1}

    return {f.__name__: f for f in (cyclic, ill_typed, unknown, newer, deep, huge, twice, weights)}


def test_damaged_programs_are_refused():
    manifest = serialized()
    for name, change in damaged(manifest).items():
        bad = copy.deepcopy(manifest)
        change(bad)
        try:
            data = json.dumps(bad).encode()
        except RecursionError:
            continue
        with pytest.raises(REFUSED):
            static.deserialize_program(data)
            pytest.fail(name)


def test_a_fuzzed_program_is_loaded_or_refused():
    data = static_bytes = json.dumps(serialized()).encode()
    rng = random.Random(0)
    refused = 0
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(changed))
            kind = rng.random()
            if kind < 0.4:
                changed[at] = rng.randrange(32, 127)
            elif kind < 0.7:
                del changed[at : at + rng.randint(1, 30)]
            else:
                changed[at:at] = static_bytes[at // 2 : at // 2 + rng.randint(1, 30)]
        try:
            static.deserialize_program(bytes(changed))
        except REFUSED:
            refused += 1
    assert refused > 100
