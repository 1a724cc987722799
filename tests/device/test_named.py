"""paddle.device("cpu"): devices by name."""

import copy
import pickle

import pytest

import paddle_lite_py as paddle


@pytest.mark.parametrize(
    ("given", "name", "type_", "index"),
    [
        (("cpu",), "cpu", "cpu", None),
        (("cpu", 1), "cpu", "cpu", None),
        (("cuda",), "cuda:0", "cuda", 0),
        (("GPU:2",), "gpu:2", "gpu", 2),
        (("cuda", 1), "cuda:1", "cuda", 1),
        ((3,), "cuda:3", "cuda", 3),
        ((paddle.CPUPlace(),), "cpu", "cpu", None),
        ((paddle.device("cuda:1"),), "cuda:1", "cuda", 1),
    ],
)
def test_devices_by_name(given, name, type_, index):
    device = paddle.device(*given)
    assert device == name and str(device) == name and (device.type, device.index) == (type_, index)
    assert pickle.loads(pickle.dumps(device)) == copy.copy(device) == name


def test_a_device_goes_where_devices_are_given():
    cpu = paddle.device(type="cpu")
    assert paddle.zeros([2], device=cpu).place == paddle.CPUPlace() == paddle.ones([1]).to(cpu).place
    with cpu as held, paddle.device("cpu"):
        assert held is cpu and paddle.get_default_device() == "cpu"
    paddle.set_default_device(cpu)
    paddle.set_default_device(None)
    assert paddle.get_device_module("cuda") is paddle.cuda and paddle.get_device_module(cpu) is paddle.device


@pytest.mark.parametrize(("given", "error"), [("foo", ValueError), ("cpu:x", ValueError), (None, TypeError)])
def test_what_is_no_device(given, error):
    with pytest.raises(error, match="device is"):
        paddle.device(given)


def test_names_of_cuda():
    with paddle.cuda.amp.autocast(dtype="bfloat16"):
        assert paddle.amp.is_autocast_enabled() and paddle.get_autocast_gpu_dtype() == "bfloat16"
    assert paddle.get_autocast_gpu_dtype() == "float16"
    with paddle.cuda.amp.autocast_mode.autocast(False), paddle.cuda.stream(None):
        assert not paddle.amp.is_autocast_enabled()
    assert paddle.cuda.nvtx.range_push("x") is None and paddle.cuda.amp.GradScaler is paddle.amp.GradScaler
