"""Devices by name."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle


def test_the_cpu_is_there():
    assert paddle.set_device("cpu") == paddle.CPUPlace() and paddle.get_device() == "cpu"
    assert paddle.ones([1]).place == paddle.CPUPlace()


def test_a_device_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(ValueError, match=r"device 'tpu:7' is not there; this machine has .*cpu"):
        paddle.set_device("tpu:7")
    assert paddle.get_device() == "cpu"


@pytest.mark.parametrize("name", ["banana", "gpu:x", "", "cpu:0:1"])
def test_a_name_that_is_none_says_what_names_look_like(name):
    with pytest.raises(ValueError, match=r"expected 'cpu', 'gpu', 'gpu:0'"):
        paddle.set_device(name)


def test_a_place_as_text():
    assert str(paddle.CPUPlace()) == repr(paddle.CPUPlace()) == "Place(cpu)" and paddle.ones([1]).device == "cpu"
    assert f"{paddle.CUDAPlace(1)}" == "Place(gpu:1)" and paddle.CUDAPlace(1) != paddle.CUDAPlace(0)


def test_questions_to_places():
    cpu = paddle.CPUPlace()
    assert not (cpu.is_xpu_place() or cpu.is_custom_place() or cpu.is_ipu_place() or cpu.is_cuda_pinned_place())
    assert paddle.CUDAPlace(2).gpu_device_id() == 2 and paddle.CUDAPinnedPlace().is_cuda_pinned_place()
    assert paddle.TPUPlace(0).custom_device_type() == "tpu" and cpu.custom_device_type() == ""
    assert paddle.XPUPinnedPlace().is_xpu_pinned_place() and paddle.XPUPlace(1).xpu_device_id() == 1


def test_an_empty_place_becomes_another():
    place = paddle.framework.core.Place()
    place.set_place(paddle.CUDAPlace(1))
    assert place == paddle.CUDAPlace(1) and place.is_gpu_place() and hash(place) == hash(paddle.CUDAPlace(1))
    place.set_place(paddle.CPUPlace())
    assert paddle.static.Executor(place).place == paddle.CPUPlace() == paddle.framework.core.Place()
