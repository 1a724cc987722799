"""Devices: what they are, have and are asked, under any name."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle


def test_a_device_answers_honestly():
    assert paddle.device.get_device() == paddle.get_device()
    assert paddle.is_compiled_with_cuda() is (paddle.device.cuda.device_count() > 0)
    assert not paddle.is_compiled_with_xpu() and paddle.get_cudnn_version() is None
    if not paddle.is_compiled_with_cuda():
        assert paddle.device.cuda.memory_allocated() == paddle.device.cuda.max_memory_reserved() == 0
    paddle.device.synchronize()
    paddle.device.cuda.empty_cache()
    with pytest.raises(ValueError, match="device 99 is not there"):
        paddle.device.get_device_name(99)
