"""Pipelines: an image file in, labels out; graphs of steps; what is wrong with one."""

from __future__ import annotations

import io
import urllib.request

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.serving import ModelPipeline, ServingError, Stage, TensorSpec
from served import Served

PIPELINE = """
import io
import numpy as np
from PIL import Image, UnidentifiedImageError
from paddle_lite_py.serving import ModelPipeline, Stage, TensorSpec

def decode(files):
    try:
        images = [Image.open(io.BytesIO(f)).convert("L").resize((28, 28)) for f in files]
    except UnidentifiedImageError as e:
        raise ValueError(f"this is no image: {e}")
    return np.stack([np.asarray(i, "float32")[None] / 255 for i in images])

def label(scores):
    return [f"digit {i}".encode() for i in scores.argmax(axis=1)]

blank = io.BytesIO()
Image.new("L", (4, 4)).save(blank, "PNG")
model = ModelPipeline(
    inputs=[TensorSpec("file", "BYTES", ("batch",))],
    outputs=[TensorSpec("label", "BYTES", ("batch",)), TensorSpec("scores", "FP32", ("batch", 10))],
    steps=[
        Stage(decode, ["file"], ["image"]),
        Stage("MODEL", ["image"], ["scores"]),
        Stage(label, ["scores"], ["label"]),
    ],
    example={"file": [blank.getvalue()]},
)
"""


def test_an_image_file_goes_in_and_labels_come_out(tmp_path):
    image = pytest.importorskip("PIL.Image")
    net = paddle.vision.models.LeNet()
    net.eval()
    spec = [paddle.static.InputSpec(["batch", 1, 28, 28], "float32", "image")]
    paddle.jit.save(net, str(tmp_path / "lenet"), input_spec=spec, platforms=["cpu"])
    (tmp_path / "digits.py").write_text(PIPELINE.replace("MODEL", str(tmp_path / "lenet")))
    pixels = np.random.RandomState(0).randint(0, 255, (28, 28)).astype("uint8")
    file = io.BytesIO()
    image.fromarray(pixels).save(file, "PNG")
    want = int(net(paddle.to_tensor(pixels[None, None] / np.float32(255))).argmax())
    server = Served(str(tmp_path / "digits.py"), "--workers", "1", "--max-batch", "4")
    try:
        client = pytest.importorskip("tritonclient.http", exc_type=ImportError)
        with client.InferenceServerClient(server.http) as c:
            given = client.InferInput("file", [2], "BYTES")
            given.set_data_from_numpy(np.array([file.getvalue()] * 2, object))
            found = c.infer("digits", [given], outputs=[client.InferRequestedOutput("label")])
            assert found.as_numpy("label").tolist() == [f"digit {want}".encode()] * 2
            bad = client.InferInput("file", [1], "BYTES")
            bad.set_data_from_numpy(np.array([b"text"], object))
            with pytest.raises(Exception, match="step decode: this is no image"):
                c.infer("digits", [bad])
        with urllib.request.urlopen(f"http://{server.http}/") as page:
            text = page.read().decode()
        assert "digits" in text and "up to 4" in text and "pipeline" in text
    finally:
        server.stop()


FLOATS = [TensorSpec("x", "FP32", ("n",))], [TensorSpec("y", "FP32", ("n",))]


def test_a_graph_runs_in_the_order_of_its_values():
    steps = [
        Stage(np.add, ["a", "b"], ["y"]),
        Stage(np.square, ["x"], ["a"]),
        Stage(lambda x: x + 1, ["x"], ["b"]),
    ]
    found = ModelPipeline(*FLOATS, steps).run({"x": np.array([2.0, 3.0], "float32")})
    assert found["y"].tolist() == [7.0, 13.0] and found["y"].dtype == np.float32


@pytest.mark.parametrize(("steps", "text"), [
    ([Stage(np.add, ["x", "z"], ["y"])], "no step gives z; the steps add cannot run"),
    ([Stage(np.add, ["x", "b"], ["a"]), Stage(np.negative, ["a"], ["b"])], "wait for each other in a circle"),
    ([Stage(np.negative, ["x"], ["y"]), Stage(np.square, ["x"], ["y"])], "y is given twice, by step square"),
    ([Stage(np.negative, ["x"], ["z"])], "no step gives the output y"),
])  # fmt: skip
def test_what_is_wrong_with_a_pipeline(steps, text):
    with pytest.raises(ServingError, match=text):
        ModelPipeline(*FLOATS, steps)
