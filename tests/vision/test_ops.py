"""Detection."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def test_the_loss_of_yolo_in_a_program_and_its_error():
    rs = np.random.RandomState(0)
    x = paddle.to_tensor(rs.randn(1, 14, 3, 3).astype("float32"))
    box, label = paddle.to_tensor([[[0.3, 0.3, 0.2, 0.2]]]), paddle.to_tensor([[1]])
    loss = paddle.vision.ops.yolo_loss
    static = paddle.jit.to_static(lambda x: loss(x, box, label, [3, 4, 5, 6], [0, 1], 2, 0.7, 8))
    np.testing.assert_allclose(
        static(x).numpy(), loss(x, box, label, [3, 4, 5, 6], [0, 1], 2, 0.7, 8).numpy(), rtol=1e-5
    )
    with pytest.raises(ValueError, match="x has 14 channels; expected 7 for 1 anchors"):
        loss(x, box, label, [3, 4], [0], 2, 0.7, 8)
