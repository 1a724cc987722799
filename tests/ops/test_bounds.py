"""Indices that are out of range: the error of the reference in eager mode, NaN in programs."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F


def i(*values):
    return paddle.to_tensor(np.array(values))


X = np.arange(6, dtype="float32").reshape(2, 3)
CASES = [
    (IndexError, lambda x: x[5]),
    (IndexError, lambda x: x[-3]),
    (IndexError, lambda x: paddle.gather(x, i(5))),
    (IndexError, lambda x: paddle.take_along_axis(x, i([5]), 0)),
    (IndexError, lambda x: paddle.put_along_axis(x, i([5]), 1.0, 0)),
    (IndexError, lambda x: paddle.scatter(x, i(5), paddle.ones([1, 3]))),
    (IndexError, lambda x: F.cross_entropy(x, i(0, 7))),
    (ValueError, lambda x: paddle.index_select(x, i(5))),
    (ValueError, lambda x: paddle.gather_nd(x, i([0, 5]))),
    (ValueError, lambda x: paddle.take(x, i(9))),
    (ValueError, lambda x: paddle.index_sample(x, i([5], [0]))),
    (ValueError, lambda x: paddle.index_add(x, i(5), 0, paddle.ones([1, 3]))),
    (ValueError, lambda x: F.embedding(i(5), x)),
    (ValueError, lambda x: F.embedding(i(-2), x)),
    (ValueError, lambda x: F.one_hot(i(5), 3)),
    (ValueError, lambda x: F.nll_loss(x, i(0, 7))),
]


@pytest.mark.parametrize(("error", "call"), CASES)
def test_the_error_names_the_index(error, call):
    with pytest.raises(error, match=r"(holds|index) -?\d"):
        call(paddle.to_tensor(X))


def test_a_mask_needs_a_value_for_each_position():
    with pytest.raises(ValueError, match="True at 6 positions, but value has 2 elements"):
        paddle.masked_scatter(paddle.to_tensor(X), paddle.to_tensor([True]), paddle.ones([2]))


def test_what_is_in_range_passes():
    x = paddle.to_tensor(X)
    assert paddle.gather(x, i(-1)).tolist() == [X[1].tolist()]
    assert F.embedding(i(-1, 1), x).tolist() == [[0.0] * 3, X[1].tolist()]
    assert F.cross_entropy(x, i(0, -100)).item() > 0
    assert paddle.gather(x, paddle.zeros([0], "int64")).shape == [0, 3]


def test_a_program_reads_nan_by_an_index_that_it_computes():
    read = paddle.jit.to_static(lambda ids, x: F.embedding(ids + 4, x))
    assert np.isnan(read(i(1), paddle.to_tensor(X)).numpy()).all()


def test_an_index_that_is_gone_says_nothing_of_the_next_at_its_place():
    x = paddle.arange(8)
    for i in range(50):  # most of them where the one before was
        assert paddle.gather(x, paddle.to_tensor([i % 8])).item() == i % 8
        with pytest.raises(IndexError):
            paddle.gather(x, paddle.to_tensor([8 + i]))


@pytest.mark.parametrize(
    "divide", [operator.floordiv, operator.mod, lambda x, y: paddle.div(x, y, rounding_mode="trunc")]
)
def test_integers_are_not_divided_by_zero(divide):
    x = paddle.to_tensor([[4, 5]])
    with pytest.raises(ZeroDivisionError, match=r"y=int64\[1, 2\]\): y is 0 at \[0, 1\]; integers are not divided"):
        divide(x, paddle.to_tensor([[1, 0]]))
    for zero in (0, False, paddle.to_tensor(0)):
        with pytest.raises(ZeroDivisionError, match="y is 0; integers"):
            divide(x, zero)
    assert divide(x, 3).dtype == "int64" and divide(x, paddle.to_tensor([[0.5]])).shape == [1, 2]
    assert not divide(paddle.to_tensor([1.0]), 0).isfinite().any()


def test_a_float_is_no_row_of_bits():
    with pytest.raises(TypeError, match="a float number; expected an integer or a boolean"):
        paddle.to_tensor([True]) & 2.0


def test_what_does_not_broadcast_is_named():
    x, y = paddle.ones([2, 3]), paddle.ones([4])
    with pytest.raises(ValueError, match=r"x \[2, 3\] and y \[4\] do not broadcast: sizes 3 and 4 in axis -1"):
        x + y
    with pytest.raises(ValueError, match=r"condition \[2, 3\] and y \[4\] do not broadcast"):
        paddle.where(x > 0, x, y)
    with pytest.raises(ValueError, match=r"x \[2, 3\] and shape \[2, 1\] do not broadcast: sizes 3 and 1 in axis -1"):
        paddle.broadcast_to(x, [2, 1])
    with pytest.raises(ValueError, match=r"x \[2, 3\] and y \[4\] do not broadcast"):
        paddle.jit.to_static(lambda a, b: a * b)(x, y)


def test_minus_one_is_a_row_only_where_none_is_for_padding():
    weight = paddle.ones([3, 2])
    assert F.embedding(paddle.to_tensor([-1, 1]), weight).tolist() == [[0.0, 0.0], [1.0, 1.0]]
    with pytest.raises(ValueError, match=r"x holds -1 at \[1\]; expected 0 to 2"):
        F.embedding(paddle.to_tensor([0, -1]), weight, padding_idx=-1)


@pytest.mark.parametrize("draw", [paddle.multinomial, paddle.bernoulli, paddle.poisson, paddle.histogram])
def test_values_that_wait_are_not_read(draw):
    w = paddle.rand([64, 64])
    w.stop_gradient = False
    made = draw(paddle.nn.functional.softmax(paddle.matmul(paddle.rand([64, 64]), w), -1))
    assert made.shape[0] in (64, 100)
