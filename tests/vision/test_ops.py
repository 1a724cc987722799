"""Detection."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.vision.kernels import multiclass_nms3


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


def test_boxes_without_area_that_meet_suppress_each_other():
    # As recorded from PaddlePaddle 3.3.1, whose overlap of such boxes is 0 / 0.
    boxes = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 4, 0], [2, 0, 6, 0], [5, 5, 5, 5], [0, 0, 4, 4], [0, 0, 4, 3.9]]
    scores = [[[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]]]
    given = paddle.to_tensor([boxes], dtype="float32"), paddle.to_tensor(scores)
    _, index, count = multiclass_nms3(*given, None, 0.05, -1, -1, 0.5, True, 1.0, -1)
    assert index.tolist() == [[0], [3], [4], [5]] and count.tolist() == [4]


@pytest.mark.parametrize("offset", [False, True])
def test_a_picture_without_proposals_has_one_of_zeros(offset):
    anchors, sizes = paddle.to_tensor([[[[0.0, 0.0, 4.0, 4.0]]]]), paddle.to_tensor([[8.0, 8.0], [200.0, 200.0]])
    codes = paddle.to_tensor([[0.0] * 4, [0.0, 0.0, 4.0, 4.0]]).reshape([2, 4, 1, 1])
    given = paddle.ones([2, 1, 1, 1]), codes, sizes, anchors, paddle.ones([1, 1, 1, 4])
    boxes, scores, counts = paddle.vision.ops.generate_proposals(
        *given, min_size=50.0, pixel_offset=offset, return_rois_num=True
    )
    assert counts.tolist() == [1, 1] and scores.tolist() == [[0.0], [1.0]]
    assert boxes[0].tolist() == [0.0] * 4 and boxes[1].max() > 50


def test_offsets_of_zero_move_padded_taps_nowhere():
    x, offset = paddle.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), paddle.zeros([1, 18, 2, 2])
    offset.stop_gradient = False
    paddle.vision.ops.deform_conv2d(x, offset, paddle.ones([1, 1, 3, 3]), padding=1).sum().backward()
    rows, columns = offset.grad.reshape([3, 3, 2, 2, 2]).unbind(2)  # as PaddlePaddle has them
    assert (rows[0, :, 0] == 0).all() and (columns[:, 0, :, 0] == 0).all()  # at -1, outside of the picture
    assert rows[1, 1].tolist() == [[2.0, 2.0], [-3.0, -4.0]] and columns[1, 1].tolist() == [[1.0, -2.0], [1.0, -4.0]]
