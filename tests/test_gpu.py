"""On an NVIDIA GPU, for `make gpu`: what runs there gives what the CPU gives."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import paddle_lite_py as paddle

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True, scope="module")
def needs_a_gpu():
    if not any(d.platform == "gpu" for d in jax.local_devices()):
        pytest.fail("there is no GPU here; these tests are for a machine with one", pytrace=False)


def on(place, function):
    before = paddle.get_device()
    try:
        paddle.set_device(place)
        paddle.seed(0)
        return [t.numpy() for t in function()]
    finally:
        paddle.set_device(before)


def trained():
    """Weights after three static steps of a net with convolutions, normalization and attention."""
    net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 8, 3), paddle.nn.BatchNorm2D(8), paddle.nn.ReLU())
    head = paddle.nn.MultiHeadAttention(8, 2)
    parameters = [*net.parameters(), *head.parameters()]
    for i, p in enumerate(parameters):
        p.set_value(np.random.RandomState(i).randn(*p.shape).astype("float32") * 0.1)
    optimizer = paddle.optimizer.AdamW(1e-2, parameters=parameters)

    @paddle.jit.to_static
    def step(x):
        loss = (head(net(x).flatten(2).transpose([0, 2, 1])) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    x = paddle.to_tensor(np.random.RandomState(7).randn(2, 3, 8, 8).astype("float32"))
    return [*(step(x) for _ in range(3)), *parameters]


FUNCTIONS = {
    "training": trained,
    "random numbers": lambda: [paddle.rand([64]), paddle.randn([64]), paddle.randint(0, 99, [64])],
    "products": lambda: [
        paddle.linalg.svd(paddle.arange(12.0).reshape([4, 3]))[1],
        paddle.ones([8, 8]) @ paddle.eye(8),
    ],
    "float64 and int64": lambda: [paddle.arange(9, dtype="float64").exp(), paddle.arange(9).cumsum()],
    "grouped convolution": lambda: [
        paddle.nn.functional.conv2d(paddle.ones([1, 8, 5, 5]), paddle.ones([8, 2, 3, 3]), groups=4)
    ],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_gpu_gives_what_a_cpu_gives(name):
    for there, here in zip(on("gpu:0", FUNCTIONS[name]), on("cpu", FUNCTIONS[name]), strict=True):
        np.testing.assert_allclose(there, here, rtol=2e-2, atol=2e-3)  # products are in TF32 there


def test_a_saved_program_runs_on_a_gpu(tmp_path):
    net = paddle.nn.Conv2D(3, 6, 3, groups=3)
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([None, 3, 8, 8])])
    x = np.random.RandomState(0).randn(2, 3, 8, 8).astype("float32")
    expected = net(paddle.to_tensor(x)).numpy()

    def run():
        return [paddle.jit.load(str(tmp_path / "net"))(paddle.to_tensor(x))]

    np.testing.assert_allclose(on("gpu:0", run)[0], expected, rtol=2e-2, atol=2e-3)
