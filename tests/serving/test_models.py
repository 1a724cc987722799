"""Saved programs as models: arrays in and out, what is joined, and what the host's own arrays give."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.serving import ServedModel, ServingError, TensorSpec, load_model
from paddle_lite_py.serving.host import ModelHost

S = paddle.static.InputSpec


def saved(net, tmp_path, *specs, **options):
    net.eval()
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=list(specs), platforms=["cpu"], **options)
    return load_model(str(tmp_path / "net"))


@pytest.mark.parametrize("width", [4, 300], ids=["by NumPy", "by XLA"])
def test_a_program_gives_what_the_net_gives(tmp_path, width):
    net = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2))
    model = saved(net, tmp_path, S(["n", width], "float32", "x"))
    for rows in (1, 3):
        x = np.random.RandomState(rows).randn(rows, width).astype("float32")
        want = net(paddle.to_tensor(x)).numpy()
        np.testing.assert_allclose(model.run({"x": x})["out0"], want, rtol=1e-4, atol=1e-5)


def test_constraints_and_asserts_are_the_clients_fault(tmp_path):
    model = saved(nn.ReLU(), tmp_path, S(["n", 2], "float32", "x"), constraints=["n <= 2"])
    assert model.run({"x": np.ones((2, 2), "float32")})["out0"].shape == (2, 2)
    with pytest.raises(ServingError, match="was saved for n <= 2") as error:
        model.run({"x": np.ones((3, 2), "float32")})
    assert error.value.http == 400


def test_batches_are_as_large_as_a_constraint_allows(tmp_path):
    saved(nn.ReLU(), tmp_path, S(["n", 2], "float32", "x"), constraints=["n <= 4"])
    assert ModelHost().load("k", str(tmp_path / "net"), 16, {}).rows.sizes == (1, 2, 4)


def test_state_goes_on(tmp_path):
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", paddle.zeros([1]))

        def forward(self, x):
            self.count.add_(paddle.ones([1]))
            return x + self.count

    model = saved(Counting(), tmp_path, S([1], "float32", "x"))
    assert [float(model.run({"x": np.zeros(1, "float32")})["out0"][0]) for _ in range(3)] == [1.0, 2.0, 3.0]


def test_programs_of_static_mode(tmp_path, static_mode):
    x = paddle.static.data("x", [None, 3])
    y = nn.Linear(3, 2)(x)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    paddle.static.save_inference_model(str(tmp_path / "program"), [x], [y], exe)
    given = np.ones((2, 3), "float32")
    (want,) = exe.run(feed={"x": given}, fetch_list=[y])
    np.testing.assert_allclose(load_model(str(tmp_path / "program")).run({"x": given})[y.name], want, rtol=1e-5)


def test_onnx_files(tmp_path):
    onnx = pytest.importorskip("onnx", reason="the extra `onnx` is not installed")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", 2]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "relu.onnx"
    )
    model = load_model(str(tmp_path / "relu"))
    assert model.inputs == [TensorSpec("x", "FP32", ("batch", 2))]
    assert model.run({"x": np.array([[-1, 2]], "float32")})["y"].tolist() == [[0.0, 2.0]]
    (tmp_path / "bad.onnx").write_bytes(b"x")
    with pytest.raises(ServingError, match="onnxruntime cannot read it"):
        load_model(str(tmp_path / "bad.onnx"))


class Rows(ServedModel):
    """Gives what it is told to."""

    platform, inputs = "python", [TensorSpec("x", "FP32", ("n",))]

    def __init__(self, function, dims=("n",)):
        self.function, self.outputs = function, [TensorSpec("y", "FP32", dims)]

    def run(self, arrays):
        return {"y": self.function(arrays["x"])}


@pytest.mark.parametrize(("model", "objection"), [
    (Rows(lambda x: x * 2), ""),
    (Rows(lambda x: x - x.mean()), "its output `y` for one row depends on the other rows"),
    (Rows(lambda x: x.sum(), ()), "its outputs do not have the rows of its inputs"),
    (Rows(lambda x: 1 / 0), "a trial with x[1] failed: division by zero"),
])  # fmt: skip
def test_requests_are_joined_where_rows_are_alone(model, objection):
    rows = ModelHost().add("k", model, 4, {}).rows
    assert rows.objection.startswith(objection) and rows.sizes == (() if objection else (1, 2, 4))
