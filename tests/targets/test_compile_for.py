"""compile_for: what is told of programs for machines that are not here; here for the CPU, whose compiler is there."""

from __future__ import annotations

import json

import jax
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.__main__ import main
from paddle_lite_py.targets import Report, TargetError, compile_all, has_compiler, portable, target_of
from paddle_lite_py.targets.compiler import work_on_a_cpu

Spec = paddle.static.InputSpec
FLOATS = jax.ShapeDtypeStruct((4, 8, 16, 16), np.float32)


def step_of(net, optimizer):
    @paddle.jit.to_static
    def step(x, y):
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


@pytest.fixture(scope="module")
def of_a_step():
    net = paddle.nn.Sequential(paddle.nn.Linear(64, 256), paddle.nn.ReLU(), paddle.nn.Linear(256, 8))
    step = step_of(net, paddle.optimizer.Adam(parameters=net.parameters()))
    return step.compile_for("cpu", Spec([32, 64]), Spec([32, 8]))


def test_a_step_writes_its_state_over_what_it_was_given(of_a_step):
    states = 3 * 4 * (64 * 256 + 256 + 256 * 8 + 8)  # parameters and two moments
    m = of_a_step.memory
    assert of_a_step.compiles and of_a_step.fits and not of_a_step.findings
    assert states <= m.aliased <= m.outputs <= m.aliased + 1024
    assert m.peak == m.arguments + m.outputs - m.aliased + m.temporaries + m.code
    assert of_a_step.flops > 2 * 3 * 32 * 64 * 256 * 0.8


def test_buffers_have_names_and_lines(of_a_step):
    given = {b.what: b.shape for b in of_a_step.buffers if b.argument}
    assert "f32[64,256]" in given.values() and any(name.endswith("moment1_0") for name in given)
    lines = [b.where for b in of_a_step.buffers if b.what.endswith("linear")]
    assert lines and all(where.startswith("test_compile_for.py:") for where in lines)


def test_the_report_as_text_json_and_picture(of_a_step, tmp_path):
    assert "compiles, and fits" in str(of_a_step) and "GFLOP" in str(of_a_step)
    of_a_step.to_json(tmp_path / "r.json")
    held = json.loads((tmp_path / "r.json").read_text())
    assert held["memory"]["peak"] == of_a_step.memory.peak and held["buffers"][0]["bytes"] > 0
    of_a_step.picture(tmp_path / "r.png")
    assert (tmp_path / "r.png").stat().st_size > 5000
    with pytest.raises(ValueError, match="does not compile"):
        Report("v5e", "f", False, "no").picture(tmp_path / "none.png")


def test_nothing_has_run(of_a_step):
    net = paddle.nn.Linear(2, 2)
    before = net.weight.numpy()
    step_of(net, paddle.optimizer.SGD(1.0, parameters=net.parameters())).compile_for("cpu", Spec([1, 2]), Spec([1, 2]))
    assert (net.weight.numpy() == before).all()


def test_with_and_without_what_backward_needs():
    net = paddle.nn.Sequential(paddle.nn.Linear(8, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 2))
    forward = paddle.jit.to_static(net.forward)
    trained = forward.compile_for("cpu", Spec([16, 8]))
    with paddle.no_grad():
        plain = forward.compile_for("cpu", Spec([16, 8]))
    assert trained.compiles and trained.memory.outputs > plain.memory.outputs == 16 * 2 * 4


def test_a_loaded_model_and_the_command(tmp_path, capsys):
    prefix = str(tmp_path / "net")
    paddle.jit.save(paddle.nn.Linear(8, 4), prefix, input_spec=[Spec([None, 8], name="rows")])
    loaded = paddle.jit.load(prefix)
    report = loaded.compile_for("cpu", Spec([16, 8]))
    assert report.memory.outputs == 16 * 4 * 4 and "rows" in [b.what for b in report.buffers]
    with pytest.raises(ValueError, match="give size="):
        loaded.compile_for("cpu")
    with pytest.raises(ValueError, match="rows"):
        loaded.compile_for("cpu", Spec([16, 9]))
    main(["inspect", prefix, "--for", "cpu", "--size", "3", "--json", f"{prefix}.report"])
    assert "`forward` for cpu: compiles, and fits" in capsys.readouterr().out
    assert json.loads((tmp_path / "net.report").read_text())["memory"]["outputs"] == 3 * 4 * 4


@pytest.mark.parametrize("wrong", ["v5e:two", "v99", "nothing.txt"])
def test_a_target_that_is_none(wrong, tmp_path, capsys):
    with pytest.raises(TargetError, match="is no target"):
        paddle.jit.to_static(lambda x: x).compile_for(wrong, Spec([1]))
    prefix = str(tmp_path / "net")
    paddle.jit.save(paddle.nn.Linear(2, 1), prefix, input_spec=[Spec([None, 2])])
    with pytest.raises(SystemExit):
        main(["inspect", prefix, "--for", wrong])
    assert "is no target" in capsys.readouterr().err


def test_a_gpu_from_a_file(tmp_path):
    file = tmp_path / "small.txt"
    file.write_text('gpu_device_info { device_memory_size: 1024 } platform_name: "CUDA"')
    assert target_of(str(file)).memory == 1024 and target_of(file).platform == "cuda"
    file.write_text("nothing of the kind")
    with pytest.raises(TargetError, match="no device_memory_size"):
        target_of(file)


@pytest.mark.parametrize(("target", "package"), [("v5e", "libtpu"), ("h200", "jax-cuda12-plugin")])
def test_a_missing_compiler_says_what_to_install(target, package):
    if has_compiler(target_of(target).platform):
        pytest.skip("the compiler is installed")
    with pytest.raises(TargetError, match=f"the package {package}.*pip install"):
        paddle.jit.to_static(lambda x: x).compile_for(target, Spec([1]))


def test_a_static_program_needs_no_values():
    paddle.enable_static()
    main_program = paddle.static.Program()
    with paddle.static.program_guard(main_program, paddle.static.Program()):
        x = paddle.static.data("x", [None, 1024])
        loss = paddle.static.nn.fc(x, 1 << 20).mean()  # 4 GiB of weights, which nobody makes
        paddle.optimizer.SGD(0.1).minimize(loss)
    report = paddle.static.Executor().compile_for("cpu", main_program, {"x": [2, 1024]}, [loss])
    assert report.memory.aliased > 4 << 30
    with pytest.raises(ValueError, match="'x' has unknown dimensions"):
        paddle.static.Executor().compile_for("cpu", main_program, {}, [loss])


def test_abstract_layers_take_no_memory():
    with paddle.targets.abstract():
        net = paddle.nn.Linear(1 << 16, 1 << 16)
        net.to(dtype="bfloat16")
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters(), multi_precision=True)
    report = step_of(net, optimizer).compile_for("cpu", Spec([2, 1 << 16], "bfloat16"), Spec([2, 1 << 16], "bfloat16"))
    assert report.memory.aliased > (2 + 4 + 4 + 4) << 32  # the parameter, what is trained in its place, two moments
    assert not report.fits


# -- the platform that a program is made for decides, not the one that traces ------------------------------------------
def convolution(groups):
    def run(x, w):
        return paddle.nn.functional.conv2d(x, w, padding=1, groups=groups)

    step = paddle.jit.to_static(run)
    x, w = paddle.zeros([4, 8, 16, 16]), paddle.zeros([8, 8 // groups, 3, 3])
    step(x, w)  # traced, and compiled, for this machine first
    return step.program_cache[-1].executable.function_for([], False)


@pytest.mark.parametrize("groups", [1, 2, 8])
@pytest.mark.parametrize("platform", ["tpu", "cuda"])
def test_convolutions_for_accelerators_are_convolutions(groups, platform):
    specs = [FLOATS, jax.ShapeDtypeStruct((8, 8 // groups, 3, 3), np.float32)]
    made = portable(convolution(groups), specs, platform)
    text = jax.export.deserialize(bytearray(made.data)).mlir_module()
    assert text.count("stablehlo.convolution") == 1 and f"feature_group_count = {groups}" in text


def test_convolutions_for_a_cpu_have_the_forms_for_cpus():
    specs = [FLOATS, jax.ShapeDtypeStruct((8, 1, 3, 3), np.float32)]
    text = jax.export.deserialize(bytearray(portable(convolution(8), specs, "cpu").data)).mlir_module()
    assert "stablehlo.convolution" not in text


# -- what cannot be ----------------------------------------------------------------------------------------------------
def test_an_op_that_a_platform_does_not_have_is_named_with_its_line():
    f = paddle.jit.to_static(lambda x: paddle.linalg.eig(x.tanh())[0])
    f(paddle.eye(3))
    executable = f.program_cache[-1].executable
    specs = [jax.ShapeDtypeStruct((3, 3), np.float32)]
    made = portable(executable.function_for(specs, False), specs, "tpu", program=executable.traced.program)
    assert made.error and made.where.startswith("eig, test_compile_for.py:")


def test_python_in_the_middle_is_named_with_its_line():
    def twice(x):
        return jax.pure_callback(lambda a: 2 * a, jax.ShapeDtypeStruct((2,), np.float32), x)

    made = portable(twice, [jax.ShapeDtypeStruct((2,), np.float32)], "cpu")
    assert made.error and [f.kind for f in made.found] == ["host callback"]


def test_operations_of_a_loop_count_each_time():
    looped = portable(
        lambda x: jax.lax.scan(lambda x, _: (x @ x, None), x, length=9)[0],
        [jax.ShapeDtypeStruct((64, 64), np.float32)],
        "cpu",
    )
    (report,) = compile_all([looped], target_of("cpu"))
    assert 9 * 2 * 64**3 <= report.flops < 10 * 2 * 64**3


def test_the_work_of_a_program_that_was_saved_for_any_sizes():
    sizes = jax.export.symbolic_shape("n, 3")
    anyone = jax.export.export(jax.jit(lambda x: x - x.mean(0)))(jax.ShapeDtypeStruct(sizes, np.float32))
    program = jax.export.export(jax.jit(anyone.call))(jax.ShapeDtypeStruct((4, 3), np.float32))
    assert program.uses_global_constants
    assert work_on_a_cpu(program)["flops"] >= 24
