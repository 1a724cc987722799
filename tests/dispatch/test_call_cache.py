"""A cached call is the call that was made."""

import paddle_lite_py as paddle


def test_what_a_new_tensor_is_to_be_counts_in_each_call():
    x = paddle.ones([2, 3])
    made = [paddle.ones_like(x, requires_grad=True) for _ in range(4)]
    assert not any(t.stop_gradient for t in made) and paddle.ones_like(x).stop_gradient
