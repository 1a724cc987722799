"""paddle.onnx.export, verified in onnxruntime on models of the vision and text families."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn

F = nn.functional
S = paddle.static.InputSpec
jax2onnx = pytest.importorskip("jax2onnx")
ort = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.filterwarnings("ignore")  # those packages warn of their own


class Conv(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2, 2))
        self.head = nn.Linear(4 * 4 * 4, 3)

    def forward(self, x):
        y = self.body(x)
        y = y + F.sigmoid(F.adaptive_avg_pool2d(y, 1)) * y
        return F.softmax(self.head(paddle.flatten(F.dropout(y, 0.5, training=self.training), 1)))


class Bert(nn.Layer):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, activation="gelu")
        self.emb, self.body, self.head = nn.Embedding(20, 8), nn.TransformerEncoder(layer, 2), nn.Linear(8, 20)

    def forward(self, ids):
        return {"logits": self.head(self.body(self.emb(ids))), "pooled": self.emb(ids).mean(axis=1)}


class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.rnn(x)[0])


class Flow(nn.Layer):
    def forward(self, x):
        y = x * 2.0 if x.sum() > 0 else -x
        i = paddle.zeros([], "int64")
        while i < 3:
            y = y + 1.0
            i += 1
        return y


class Resized(nn.Layer):
    """Pictures resized to sizes of 1, below and above theirs."""

    def __init__(self, mode):
        super().__init__()
        self.mode = mode

    def forward(self, x):
        made = [F.interpolate(x, size=n, mode=self.mode) for n in ([1, 1], [3, 7])]
        return paddle.concat([y.flatten() for y in made])


class ResizedInManyWays(nn.Layer):
    """Pictures resized in ways of which each is exact alone; a factor times a size need not be whole."""

    WAYS = (
        *({"size": [7, 9], "mode": m} for m in ("nearest", "bilinear", "bicubic", "area")),
        *({"scale_factor": 2, "mode": m} for m in ("nearest", "bilinear", "bicubic", "area")),
        *({"scale_factor": [1.7, 0.6], "mode": m} for m in ("nearest", "bilinear", "bicubic", "area")),
        {"size": [3, 4], "mode": "bilinear", "align_corners": True},
        {"scale_factor": 1.3, "mode": "bilinear", "align_mode": 1},
        {"size": [5, 6], "mode": "nearest"},
    )

    def __init__(self, ways=WAYS):
        super().__init__()
        self.ways = ways

    def forward(self, x):
        return [F.interpolate(x, **way) for way in self.ways]


def argument_and_results(x):
    y = x * 2
    return [x, y, x, y + 1, y]


class Repeated(nn.Layer):
    def forward(self, x):
        line = F.interpolate(x[:, 0], size=[1], mode="linear", data_format="NCW")
        return paddle.repeat_interleave(line, paddle.to_tensor([1, 2, 3, 1, 2]), 1)


def floats(*shape):
    return np.random.RandomState(0).randn(*shape).astype("float32")


IDS = np.random.RandomState(0).randint(0, 20, (2, 6))
MODELS = {
    "mlp, any batch": (
        lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)),
        [S([None, 3])],
        [floats(5, 3)],
    ),
    "convolutions": (Conv, [S([2, 1, 8, 8])], [floats(2, 1, 8, 8)]),
    "transformer": (Bert, [S([2, 6], "int64")], [IDS]),
    "recurrent": (Recurrent, [S([2, 5, 3])], [floats(2, 5, 3)]),
    "branch and loop": (Flow, [S([4])], [floats(4)]),
    **{
        f"resized, {m}": (lambda m=m: Resized(m), [S([1, 2, 5, 5])], [floats(1, 2, 5, 5)])
        for m in ("bilinear", "bicubic", "nearest", "area")
    },
    **{
        f"resized in many ways, {of}": (ResizedInManyWays, [S(shape)], [floats(1, 2, 5, 6)])
        for of, shape in (("known", [1, 2, 5, 6]), ("any batch", [None, 2, 5, 6]), ("any size", [None, 2, None, None]))
    },
    **{
        f"resized, any size, {way}": (
            lambda way=way: ResizedInManyWays([way]),
            [S([None, 2, None, None])],
            [floats(1, 2, 5, 6)],
        )
        for way in ResizedInManyWays.WAYS[4:9]
    },
    "an argument and results, twice": (lambda: paddle.jit.to_static(argument_and_results), [S([2])], [floats(2)]),
    "the same, any size": (lambda: paddle.jit.to_static(argument_and_results), [S([None])], [floats(2)]),
    "repeated": (Repeated, [S([1, 2, 5, 5])], [floats(1, 2, 5, 5)]),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_the_same_in_onnxruntime(name, tmp_path):
    make, spec, inputs = MODELS[name]
    net = make()
    path = paddle.onnx.export(net, str(tmp_path / "model"), input_spec=spec)
    assert path.endswith("model.onnx")
    if isinstance(net, nn.Layer):
        assert net.training
        net.eval()
    session = ort.InferenceSession(path)
    found = session.run(None, {i.name: a for i, a in zip(session.get_inputs(), inputs, strict=True)})
    want = net(*[paddle.to_tensor(a) for a in inputs])
    want = [*want.values()] if isinstance(want, dict) else want if isinstance(want, list) else [want]
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-4, atol=1e-5)


def test_a_result_that_is_a_constant_is_refused(tmp_path):
    with pytest.raises(paddle.onnx.OnnxError, match="result 1 is a constant"):
        paddle.onnx.export(lambda x: [x + 1, paddle.ones([2])], str(tmp_path / "f"), input_spec=[S([2])])


def test_an_operator_without_a_form_is_named(tmp_path):
    def f(x):
        return paddle.linalg.svd(x + 1.0)[0]

    with pytest.raises(paddle.onnx.OnnxError, match=r"operator svd at test_exporter.py:\d+ has no form in ONNX"):
        paddle.onnx.export(f, str(tmp_path / "f"), input_spec=[S([3, 3])])


def test_state_and_checks_are_refused(tmp_path):
    count = paddle.zeros([1])

    def counting(x):
        count.add_(x)
        return x

    def checking(x):
        assert x.sum() > 0
        return x

    for f, what in ((counting, "it changes state"), (checking, "it holds asserts")):
        with pytest.raises(paddle.onnx.OnnxError, match=what):
            paddle.onnx.export(f, str(tmp_path / "f"), input_spec=[S([1])])


def test_old_opsets_are_raised(tmp_path):
    with pytest.warns(UserWarning, match="opset_version=11 is older than 21"):
        paddle.onnx.export(lambda x: x + 1.0, str(tmp_path / "f"), input_spec=[S([2])], opset_version=11)


def test_a_static_program_gives_the_same_in_onnxruntime(tmp_path):
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.static.scope_guard(paddle.static.Scope()):
        x = paddle.static.data("x", [None, 3])
        y = F.softmax(F.dropout(nn.Linear(3, 2)(x)))
        exe = paddle.static.Executor()
        exe.run(startup)
        path = paddle.onnx.export(main, str(tmp_path / "program"), input_spec=[x], output_spec=[y])
        expected = exe.run(main.clone(for_test=True), feed={"x": floats(5, 3)}, fetch_list=[y])[0]
    paddle.disable_static()
    (found,) = ort.InferenceSession(path).run(None, {"x": floats(5, 3)})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
