"""Modes: static and dynamic, and what is made in each."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from paddle_lite_py import static

pytestmark = pytest.mark.usefixtures("static_mode")


def test_modes():
    assert not paddle.in_dynamic_mode()
    paddle.disable_static()
    assert paddle.in_dynamic_mode() and paddle.ones([1]).item() == 1
    paddle.enable_static()
    assert isinstance(paddle.ones([1]), static.Variable)
    assert not isinstance(paddle.to_tensor([1.0]), static.Variable)


def test_data_outside_of_static_mode_is_explained():
    paddle.disable_static()
    with pytest.raises(RuntimeError, match=r"data 'x': .*paddle\.enable_static\(\)"):
        static.data("x", [1])
