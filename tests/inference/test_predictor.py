"""paddle.inference: configurations, predictors, handles, threads, and the command line."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings

import jax
import numpy as np
import pytest
from paddle_lite_py.jit import ArtifactError, InputSpec

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.core.no_effect import NoEffectWarning
from paddle_lite_py.cpu_compiler import inline_device
from paddle_lite_py.inference import (
    Config,
    DataType,
    PlaceType,
    PrecisionType,
    PredictorPool,
    create_predictor,
    get_version,
)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x, scale):
        return self.fc(x) * scale, x.sum(axis=1)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    net = Net()
    prefix = str(tmp_path_factory.mktemp("model") / "net")
    spec = [InputSpec([None, 3], "float32", "x"), InputSpec([1], "float32", "scale")]
    paddle.jit.save(net, prefix, input_spec=spec)
    return net, prefix


X, SCALE = np.arange(12, dtype="float32").reshape(4, 3), np.array([2.0], "float32")


def expected(net, x=X, scale=SCALE):
    return [t.numpy() for t in net(paddle.to_tensor(x), paddle.to_tensor(scale))]


def test_handles(saved):
    net, prefix = saved
    predictor = create_predictor(Config(prefix + ".json", prefix + ".pdiparams"))
    assert predictor.get_input_names() == ["x", "scale"]
    for name, value in (("x", X), ("scale", SCALE)):
        handle = predictor.get_input_handle(name)
        handle.reshape(value.shape)
        handle.copy_from_cpu(value)
    assert predictor.run() is True
    outputs = [predictor.get_output_handle(n) for n in predictor.get_output_names()]
    for handle, want in zip(outputs, expected(net), strict=True):
        np.testing.assert_allclose(handle.copy_to_cpu(), want, rtol=1e-5)
        assert handle.shape() == list(want.shape) and handle.type() is DataType.FLOAT32
    predictor.get_input_handle("x").share_external_data(paddle.to_tensor(X[:1]))
    predictor.run()
    assert outputs[1].copy_to_cpu().shape == (1,)


def test_a_shared_array_may_be_refilled(tmp_path):
    net = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64))
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 64], "float32", "x")])
    x = np.zeros([2**15 * 64 + 64], "float32")
    x = x[-x.ctypes.data // 4 % 16 :][: 2**15 * 64].reshape(-1, 64)  # at an address that XLA reads from
    predictor = create_predictor(Config(str(tmp_path / "net")))
    predictor.get_input_handle("x").share_external_data(x)
    out = predictor.get_output_handle(predictor.get_output_names()[0])
    for n in range(3):
        x[:] = n
        predictor.run()
        x[:] = -1  # while it computes
        np.testing.assert_array_equal(out.copy_to_cpu(), np.tile(out.copy_to_cpu()[:1], (2**15, 1)))
        np.testing.assert_allclose(out.copy_to_cpu()[0], net(paddle.full([64], n, "float32")).numpy(), 1e-5, 1e-5)


def test_inputs_as_a_list(saved):
    net, prefix = saved
    seen = []
    predictor = create_predictor(Config(prefix))
    predictor.register_output_hook(lambda name, tensor: seen.append(name))
    for found, want in zip(predictor.run([X, paddle.to_tensor(SCALE)]), expected(net), strict=True):
        np.testing.assert_allclose(found.numpy(), want, rtol=1e-5)
    assert seen == predictor.get_output_names()


def test_what_is_wrong_is_named(saved, tmp_path):
    predictor = create_predictor(Config(saved[1]))
    with pytest.raises(ValueError, match="no input `y`; it has x, scale"):
        predictor.get_input_handle("y")
    with pytest.raises(ValueError, match="no output `y`"):
        predictor.get_output_handle("y")
    with pytest.raises(RuntimeError, match="input `x` has no data: call copy_from_cpu"):
        predictor.run()
    with pytest.raises(RuntimeError, match="has no data yet"):
        predictor.get_output_handle("out0").copy_to_cpu()
    with pytest.raises(ValueError, match=r"argument `x` is float32\[4, 2\]"):
        predictor.run([X[:, :2], SCALE])
    handle = predictor.get_input_handle("x")
    handle.reshape([2, 3])
    with pytest.raises(ValueError, match=r"reshaped to \[2, 3\], and is given data of shape \[4, 3\]"):
        handle.copy_from_cpu(X)
    with pytest.raises(ArtifactError, match="no saved program"):
        create_predictor(Config(str(tmp_path / "nothing")))
    with pytest.raises(ValueError, match="must hold one saved program"):
        Config(str(tmp_path))
    with pytest.raises(NotImplementedError, match="CPU, GPU and TPU"):
        Config().enable_xpu()
    with pytest.raises(NotImplementedError, match="read from files"):
        Config().set_model_buffer(b"", 0)


def test_settings_are_accepted_and_summed_up(saved):
    config = Config()
    config.set_model(saved[1])
    config.disable_gpu()
    config.switch_ir_optim(True)
    config.enable_memory_optim()
    config.disable_glog_info()
    config.switch_use_feed_fetch_ops(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEffectWarning)
        config.enable_mkldnn()
        config.set_cpu_math_library_num_threads(4)
        config.enable_tensorrt_engine(workspace_size=1 << 30, precision_mode=PrecisionType.Float32)
        config.pass_builder().delete_pass("conv_bn_fuse_pass")
    assert config.cpu_math_library_num_threads() == 4 and config.glog_info_disabled()
    assert config.ir_optim() and not config.tensorrt_engine_enabled() and not config.use_gpu()
    assert "noted, no effect: enable_mkldnn()" in config.summary() and "device: cpu:0" in config.summary()
    config.enable_use_gpu(100, 1)
    assert config.use_gpu() and config.gpu_device_id() == 1 and config.memory_pool_init_size_mb() == 100
    assert Config.Half is PrecisionType.Half and PlaceType.CPU.value == 0 and "version" in get_version()


def test_a_folder_with_one_program(saved):
    from pathlib import Path

    assert Config(str(Path(saved[1]).parent)).prog_file() == saved[1] + ".json"


def test_a_folder_and_the_name_of_a_program(saved, tmp_path):
    for name in ("one", "two"):
        paddle.jit.save(paddle.nn.Linear(3, 2), str(tmp_path / name), input_spec=[InputSpec([None, 3])])
    config = Config(str(tmp_path), "two")
    assert config.prog_file() == str(tmp_path / "two.json") and config.model_dir() == str(tmp_path)
    assert create_predictor(config).run([paddle.ones([4, 3])])[0].shape == [4, 2]
    config.set_model(str(tmp_path), "one")
    assert create_predictor(config).run([paddle.ones([4, 3])])[0].shape == [4, 2]
    with pytest.raises(ArtifactError, match="no saved program"):
        create_predictor(Config(str(tmp_path), "three"))


def test_one_clone_a_thread(saved):
    net, prefix = saved
    pool = PredictorPool(Config(prefix), 4)
    failures = []

    def work(i):
        predictor = pool.retrieve(i)
        for k in range(20):
            x = np.full((2, 3), float(i * 100 + k), "float32")
            predictor.get_input_handle("x").copy_from_cpu(x)
            predictor.get_input_handle("scale").copy_from_cpu(SCALE)
            predictor.run()
            if predictor.get_output_handle("out1").copy_to_cpu().tolist() != x.sum(axis=1).tolist():
                failures.append((i, k))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_the_command_line(saved, tmp_path, capsys):
    from paddle_lite_py.inference.__main__ import main

    net, prefix = saved
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "s.npy", SCALE)
    inputs = ["--input", str(tmp_path / "x.npy"), "--input", f"scale={tmp_path / 's.npy'}"]
    assert main([prefix, *inputs, "--benchmark", "--repeat", "5", "--output", str(tmp_path / "y.npz")]) == 0
    out = capsys.readouterr().out
    assert "out0: float32[4, 2]" in out and "latency over 5 calls: p50" in out and "examples/s" in out
    with np.load(tmp_path / "y.npz") as found:
        np.testing.assert_allclose(found["out0"], expected(net)[0], rtol=1e-5)
    assert main([prefix, "--batch", "2"]) == 0 and "out0: float32[2, 2]" in capsys.readouterr().out
    assert main([prefix, "--input", "y=x.npy"]) == 1 and "the program takes x, scale" in capsys.readouterr().err
    assert main([str(tmp_path / "none")]) == 1 and "no saved program" in capsys.readouterr().err


def test_it_is_a_module_that_runs(saved):
    command = [sys.executable, "-m", "paddle_lite_py.inference", saved[1]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "out1" in done.stdout, done.stderr


def test_runs_on_arrays_like_the_last_ones_give_what_the_first_would(saved):
    net, prefix = saved
    predictor = create_predictor(Config(prefix))
    given = X.copy()
    for k in range(3):
        given[:] = X + k
        found = predictor.run([given, SCALE])
        given[:] = -1  # what XLA reads is its own
        for a, b in zip(found, expected(net, X + k), strict=True):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-5)
    for a, b in zip(predictor.run([X[:2], SCALE]), expected(net, X[:2]), strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-5)
    with pytest.raises(ValueError, match="`x`"):
        predictor.run([X[:, :2], SCALE])


@pytest.mark.parametrize(("width", "tier"), [(2, np.ndarray), (64, jax.Array)])
def test_a_program_runs_on_the_thread_that_waits_for_it(width, tier, tmp_path):
    net = paddle.nn.Sequential(paddle.nn.Linear(3, width * 64), paddle.nn.Tanh(), paddle.nn.Linear(width * 64, width))
    paddle.jit.save(net, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([None, 3], name="x")])
    predictor = create_predictor(Config(str(tmp_path / "m")))
    predictor.get_input_handle("x").copy_from_cpu(X)
    predictor.run()
    handle = predictor.get_output_handle(predictor.get_output_names()[0])
    assert isinstance(handle._data, tier)
    assert tier is np.ndarray or handle._data.devices() == {inline_device()}
    (found,) = predictor.run([X])
    np.testing.assert_array_equal(found.numpy(), handle.copy_to_cpu())
    # What it gives lies where all other tensors do.
    np.testing.assert_allclose((found + paddle.ones([1])).numpy(), (net(paddle.to_tensor(X)) + 1).numpy(), 1e-5)


def test_a_predictor_compiles_for_a_shape_once(saved):
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compiled.append(event))
    predictor = create_predictor(Config(saved[1]))
    predictor.run([X[:3], SCALE])
    first = len(compiled)
    for given in (X[:3], X[:3], paddle.to_tensor(X[:3])):
        predictor.run([given, SCALE])
    for name, given in (("x", X[:3]), ("scale", SCALE)):
        predictor.get_input_handle(name).copy_from_cpu(given)
    predictor.run()
    assert first and not [e for e in compiled[first:] if "compile" in e]


@pytest.mark.parametrize("form", ["artifact", "paddle"])
def test_normalization_is_folded_unless_it_is_switched_off(form, tmp_path):
    net = nn.Sequential(nn.Conv2D(2, 3, 3), nn.BatchNorm2D(3), nn.ReLU(), nn.Dropout(0.5))
    net[1]._mean.set_value(paddle.to_tensor([0.5, -1.0, 2.0]))
    net.eval()
    spec = [InputSpec([None, 2, 6, 6], "float32", "x")]
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=spec, format=form)
    x = np.random.default_rng(0).standard_normal((2, 2, 6, 6)).astype("float32")
    for folds in (True, False):
        config = Config(str(tmp_path / "net"))
        assert config.ir_optim()
        config.switch_ir_optim(folds)
        predictor = create_predictor(config)
        names = [op.name for op in predictor._method.program.ops()]
        assert ("batch_norm" in names) is not folds and "conv2d" in names
        assert predictor.get_input_names() == ["x"]
        np.testing.assert_allclose(predictor.run([x])[0], net(paddle.to_tensor(x)), atol=1e-5)
    loaded = paddle.jit.load(str(tmp_path / "net"))  # to be trained further
    assert "batch_norm" in [op.name for op in loaded.program().ops()]


class ReturnsWhatItHas(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = self.create_parameter([2], default_initializer=paddle.nn.initializer.Constant(3.0))

    def forward(self, x):
        y = x + 1
        return self.scale, y, x, y * 2


def test_arguments_and_weights_returned_as_they_are_are_outputs(tmp_path):
    spec = [paddle.static.InputSpec([None, 2], "float32", name="x")]
    x = np.zeros([1, 2], "float32")
    for layer, wanted in ((paddle.nn.Identity(), [x]), (ReturnsWhatItHas(), [[3, 3], x + 1, x, x + 2])):
        paddle.jit.save(layer, str(tmp_path / "m"), input_spec=spec)
        predictor = paddle.inference.create_predictor(paddle.inference.Config(str(tmp_path / "m")))
        assert predictor.get_output_names() == [f"out{k}" for k in range(len(wanted))]
        predictor.get_input_handle("x").copy_from_cpu(x)
        predictor.run()
        for name, value in zip(predictor.get_output_names(), wanted, strict=True):
            np.testing.assert_array_equal(predictor.get_output_handle(name).copy_to_cpu(), value)


def test_one_result_fetched_twice_is_one_output(static_mode, tmp_path):
    x = paddle.static.data("x", [None, 2])
    y = x + 1
    paddle.static.save_inference_model(str(tmp_path / "m"), [x], [y, y, y * 2], paddle.static.Executor())
    predictor = paddle.inference.create_predictor(paddle.inference.Config(str(tmp_path / "m")))
    predictor.get_input_handle("x").copy_from_cpu(np.zeros([1, 2], "float32"))
    predictor.run()
    found = [predictor.get_output_handle(name).copy_to_cpu().tolist() for name in predictor.get_output_names()]
    assert found == [[[1, 1]], [[2, 2]]]
