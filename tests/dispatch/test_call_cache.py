"""A cached call is the call that was made."""

import paddle_lite_py as paddle
from paddle_lite_py.dispatch.call_cache import call_cached


def test_what_a_new_tensor_is_to_be_counts_in_each_call():
    x = paddle.ones([2, 3])
    made = [paddle.ones_like(x, requires_grad=True) for _ in range(4)]
    assert not any(t.stop_gradient for t in made) and paddle.ones_like(x).stop_gradient


def test_one_tensor_in_two_places_says_nothing_of_two():
    @call_cached("x", "y")
    def reversed_difference(x, y):
        return paddle.subtract(y, x)

    one, two = paddle.to_tensor([1.0]), paddle.to_tensor([3.0])
    for _ in range(3):
        assert reversed_difference(one, one).item() == 0
    for _ in range(3):
        assert reversed_difference(one, two).item() == 2


def test_numbers_in_tuples_are_told_by_kind():
    @call_cached("x")
    def first_of(x, numbers):
        return x * numbers[0]

    x = paddle.to_tensor([1.0])
    for _ in range(3):
        for number in (0.0, -0.0, 1.0):
            assert str(first_of(x, (number,)).item()) == str(number)
