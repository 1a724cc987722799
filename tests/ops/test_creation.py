"""What makes tensors."""

from __future__ import annotations

import paddle_lite_py as paddle


def test_values_are_assigned_to_parameters():
    w, x = paddle.create_parameter([2], "float32"), paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert paddle.assign(paddle.ones([2]), w) is w and w.is_leaf and not w.stop_gradient
    (w * 3).sum().backward()
    assert w.tolist() == [1.0, 1.0] and w.grad.tolist() == [3.0, 3.0]
    (paddle.assign(x * 2, w) * 3).sum().backward()
    assert not w.is_leaf and x.grad.tolist() == [6.0, 6.0]
