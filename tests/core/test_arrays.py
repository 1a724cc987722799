"""Tensors as text."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle

# shape -> what PaddlePaddle prints of its elements
EMPTY = {
    (0,): "[]",
    (0, 2): "[]",
    (2, 0): "[[],\n        []]",
    (2, 1, 0): "[[[]],\n\n        [[]]]",
    (2, 0, 1): "[[],\n\n        []]",
}


@pytest.mark.parametrize("shape", EMPTY, ids=str)
def test_brackets_without_elements(shape: tuple[int, ...]):
    assert str(paddle.ones(shape)).endswith(f"stop_gradient=True,\n       {EMPTY[shape]})")
