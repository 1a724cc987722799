"""Second names of arguments."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle


def test_arguments_have_second_names():
    utils = paddle.utils.decorator_utils

    @utils.param_two_alias(["x", "input"], ["axis", "dim"])
    def ordered(x, axis=-1):
        return x, axis

    assert [ordered(1), ordered(input=1, dim=0), ordered(1, axis=2)] == [(1, -1), (1, 0), (1, 2)]
    assert utils.param_one_alias(["axis", "dim"])(lambda x, axis=-1: axis)(1, dim=3) == 3
    with pytest.raises(TypeError, match="axis is given twice"):
        ordered(1, axis=1, dim=2)
