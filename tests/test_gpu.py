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
        with jax.default_matmul_precision("float32"):  # TF32 has three decimal digits
            return [t.numpy() for t in function()]
    finally:
        paddle.set_device(before)


def trained():
    """Weights after three static steps of a net with convolutions, normalization and attention."""
    return steps(paddle.jit.to_static, "float32")


def steps(form, dtype):
    net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 8, 3), paddle.nn.BatchNorm2D(8), paddle.nn.ReLU())
    head = paddle.nn.MultiHeadAttention(8, 2)
    parameters = [*net.parameters(), *head.parameters()]
    for i, p in enumerate(parameters):
        p.set_value(np.random.RandomState(i).randn(*p.shape).astype("float32") * 0.1)
    optimizer = paddle.optimizer.AdamW(1e-2, parameters=parameters)
    scaler = paddle.amp.GradScaler(enable=dtype == "float16")

    @form
    def step(x):
        with paddle.amp.auto_cast(enable=dtype != "float32", dtype="float16"):
            loss = (head(net(x).flatten(2).transpose([0, 2, 1])) ** 2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        return loss

    x = paddle.to_tensor(np.random.RandomState(7).randn(2, 3, 8, 8).astype("float32"))
    return [*(step(x) for _ in range(3)), *parameters]


MULTIPLES = 41.0 * np.arange(1, 6, dtype=np.float32)
FUNCTIONS = {
    "training": trained,
    "eager training": lambda: steps(lambda f: f, "float32"),
    "mixed precision": lambda: steps(paddle.jit.to_static, "float16")[:3],
    "quotients": lambda: [(paddle.to_tensor(MULTIPLES) / 41).floor(), paddle.to_tensor(MULTIPLES) // 41.0],
    "recurrent layers": lambda: [
        paddle.nn.LSTM(4, 8)(paddle.ones([2, 5, 4]), sequence_length=paddle.to_tensor([5, 2]))[0]
    ],
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


def test_what_was_left_on_the_host_comes_to_the_gpu():
    here = paddle.to_tensor([1.0, 2.0], place=paddle.CPUPlace(), stop_gradient=False)
    there = paddle.to_tensor([3.0, 4.0], place=paddle.CUDAPlace(0))
    product = here * there
    product.sum().backward()
    assert product.place == there.place and product.tolist() == [3.0, 8.0]
    assert here.grad.place == here.place and here.grad.tolist() == [3.0, 4.0]
    assert (here * 3).place == here.place
    weight = paddle.nn.Linear(2, 2)
    assert weight(here.detach()).place == there.place and weight.weight.place == there.place


def test_a_move_has_a_gradient():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (x.cpu() ** 2).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0] and x.grad.place == x.place == paddle.CUDAPlace(0)


def test_arrays_of_others():
    torch = pytest.importorskip("torch")
    given = torch.arange(4.0, device="cuda")
    for form in (given, torch.utils.dlpack.to_dlpack(given)):
        taken = paddle.from_dlpack(form)
        assert taken.place == paddle.CUDAPlace(0) and taken.tolist() == [0, 1, 2, 3]
    assert torch.from_dlpack(taken * 2).tolist() == [0, 2, 4, 6]
    assert torch.utils.dlpack.from_dlpack(paddle.utils.dlpack.to_dlpack(taken)).tolist() == [0, 1, 2, 3]


def test_memory_is_the_gpus():
    with pytest.raises(MemoryError, match="GiB|memory"):
        paddle.ones([2**14, 2**15, 512]).numpy()  # 1 TiB
    assert paddle.device.cuda.memory_allocated() > 0 < paddle.device.cuda.max_memory_allocated()
