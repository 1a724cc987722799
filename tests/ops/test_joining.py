"""Joining and repeating: what the op tables do not show."""

import pytest

import paddle_lite_py as paddle


@pytest.mark.parametrize("axis", [None, 0])
def test_one_count_for_all_elements_may_be_a_tensor(axis):
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)

    def repeated(count):
        return paddle.repeat_interleave(x, count, axis)

    for function in (repeated, paddle.jit.to_static(repeated)):
        for n in (2, 3):
            out = function(paddle.to_tensor(n))
            assert out.tolist() == repeated(n).tolist()
            (gradient,) = paddle.grad(out.sum(), [x])
            assert gradient.tolist() == [[n, n]]
    with pytest.raises(ValueError, match="output_size is 5"):
        paddle.repeat_interleave(x, paddle.to_tensor(2), axis, output_size=5)
