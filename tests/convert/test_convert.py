"""Saved programs for other runtimes, run by those."""

from __future__ import annotations

import json

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.convert import ConvertError, SavedProgram, to_onnx, to_stablehlo, to_tflite, to_web
from paddle_lite_py.convert.command import main
from paddle_lite_py.convert.source import compare
from paddle_lite_py.convert.to_tflite import without_form

S = paddle.static.InputSpec
pytestmark = pytest.mark.filterwarnings("ignore")  # the other packages warn of their own


class Net(nn.Layer):
    """What edge runtimes meet first: convolutions (a depthwise one too), pooling of both kinds, a head."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(3, 2, 1),
            nn.Conv2D(4, 4, 3, padding=1, groups=4), nn.Hardswish(), nn.AvgPool2D(2),
        )  # fmt: skip
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return nn.functional.softmax(self.head(self.body(x).flatten(1)))


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    paddle.seed(0)
    path = str(tmp_path_factory.mktemp("saved") / "net")
    paddle.jit.save(Net().eval(), path, input_spec=[S(["batch", 1, 8, 8], "float32", "x")], platforms=["cpu"])
    return path


def needs_onnx():
    pytest.importorskip("jax2onnx", reason="the extra `onnx` is not installed")
    return pytest.importorskip("onnxruntime")


def test_onnx_with_plain_operators(prefix, tmp_path):
    ort = needs_onnx()
    import onnx

    text = to_onnx(SavedProgram(prefix), str(tmp_path / "net"), sizes={"batch": 3})
    assert "net.onnx" in text and "off by" in text
    graph = onnx.load(str(tmp_path / "net.onnx")).graph
    sizes = {n.op_type: len(a.ints) for n in graph.node for a in n.attribute if a.name in ("kernel_shape", "strides")}
    assert sizes == {"Conv": 2, "MaxPool": 2, "AveragePool": 2}
    assert "Transpose" not in {n.op_type for n in graph.node}
    used = {name for n in graph.node for name in n.input}
    assert {i.name for i in graph.initializer} <= used
    x = np.random.RandomState(0).rand(5, 1, 8, 8).astype("float32")
    (found,) = ort.InferenceSession(str(tmp_path / "net.onnx")).run(None, {"x": x})
    np.testing.assert_allclose(found, paddle.jit.load(prefix)(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5)


def test_8_bit_integers(prefix, tmp_path, capsys):
    ort = needs_onnx()
    x = np.random.RandomState(0).rand(32, 1, 8, 8).astype("float32")
    np.savez(tmp_path / "examples.npz", x=x)
    arguments = ["--to", "onnx", "-o", str(tmp_path / "q"), "--int8", str(tmp_path / "examples.npz")]
    main([prefix, *arguments])
    assert "with 8-bit integers, the same class for" in capsys.readouterr().out
    a, b = (ort.InferenceSession(str(tmp_path / n)).run(None, {"x": x})[0] for n in ("q.onnx", "q.int8.onnx"))
    assert 0 < np.abs(a - b).max() < 0.05
    np.savez(tmp_path / "wrong.npz", y=x)
    with pytest.raises(SystemExit, match="examples for calibration are of y; the program takes x"):
        main([prefix, *arguments[:-1], str(tmp_path / "wrong.npz")])


def test_an_operator_without_a_form_is_named(tmp_path):
    needs_onnx()
    net = paddle.jit.to_static(lambda x: paddle.linalg.svd(x + 1.0)[0])
    paddle.jit.save(net, str(tmp_path / "svd"), input_spec=[S([3, 3], "float32", "x")], platforms=["cpu"])
    with pytest.raises(SystemExit, match=r"operator svd at test_convert.py:\d+ has no form in ONNX"):
        main([str(tmp_path / "svd"), "--to", "onnx", "-o", str(tmp_path / "svd")])


def test_a_page_for_browsers(prefix, tmp_path):
    needs_onnx()
    to_web(SavedProgram(prefix), str(tmp_path / "page"), install=False)
    files = {f.name for f in (tmp_path / "page").iterdir()}
    assert files == {"index.html", "main.mjs", "model.json", "model.onnx", "package.json"}
    said = json.loads((tmp_path / "page" / "model.json").read_text())
    assert said == {"name": "net", "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 1, 8, 8]}]}
    assert "<title>net</title>" in (tmp_path / "page" / "index.html").read_text()


def test_stablehlo_has_the_weights_in_it(prefix, tmp_path, capsys):
    main([prefix, "--to", "stablehlo", "-o", str(tmp_path / "net")])
    text = (tmp_path / "net.mlir").read_text()
    assert "stablehlo.convolution" in text and "tensor<?x1x8x8xf32>" in text and "feature_group_count = 4" in text
    assert (tmp_path / "net.mlirbc").read_bytes().startswith(b"ML\xefR")
    to_stablehlo(SavedProgram(prefix), str(tmp_path / "fixed"), [(2, 1, 8, 8)])
    assert "%arg0: tensor<2x1x8x8xf32>" in (tmp_path / "fixed.mlir").read_text()


def test_tensorflow_lite(prefix, tmp_path):
    pytest.importorskip("tensorflow")
    pytest.importorskip("ai_edge_litert")
    assert "in LiteRT" in to_tflite(SavedProgram(prefix), str(tmp_path / "net"))
    assert (tmp_path / "net.tflite").read_bytes()[4:8] == b"TFL3"


def test_operators_that_a_converter_speaks_of_are_named(prefix):
    source = SavedProgram(prefix)
    op = next(op for op in source.program.ops() if op.name == "hardswish")
    text = without_form(
        source, f"loc(\"jit(run)/{op.name}@{op.where}/mul\"): 'stablehlo.foo' op is neither custom nor flex"
    )
    assert text.startswith("net: operator hardswish at ") and "(stablehlo.foo)" in text


def test_what_only_this_framework_can_run(tmp_path):
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", paddle.zeros([1]))

        def forward(self, x):
            self.count.add_(paddle.ones([1]))
            return x

    paddle.jit.save(Counting().eval(), str(tmp_path / "c"), input_spec=[S([1])], platforms=["cpu"])
    with pytest.raises(SystemExit, match="its method forward changes state"):
        main([str(tmp_path / "c"), "--to", "stablehlo"])


@pytest.mark.parametrize(("arguments", "text"), [
    (["no/such", "--to", "onnx"], "no saved program at 'no/such'"),
    (["no/such", "--to", "onnx", "--size", "n"], "no saved program"),
])  # fmt: skip
def test_the_command_line_says_what_is_wrong(arguments, text):
    with pytest.raises(SystemExit, match=text):
        main(arguments)


def test_other_numbers_are_found():
    with pytest.raises(ConvertError, match="differ by 0.5 of the largest"):
        compare([np.array([1.0])], [np.array([2.0])], "it")
    with pytest.raises(ConvertError, match=r"gives shape \[1\], the program \[2\]"):
        compare([np.zeros(1)], [np.zeros(2)], "it")
    with pytest.raises(ConvertError, match="differ by nan"):
        compare([np.array([np.nan]), np.zeros(1)], [np.array([1.0]), np.zeros(1)], "it")
