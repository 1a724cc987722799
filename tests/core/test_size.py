"""Sizes: lists that equal tuples, and what is made of them."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core.size import Size

SHAPE = paddle.ones([2, 3, 4]).shape


def test_a_size_equals_lists_and_tuples():
    assert SHAPE == [2, 3, 4] and SHAPE == (2, 3, 4) and (2, 3, 4) == SHAPE and [2, 3, 4] == SHAPE
    assert SHAPE != [2, 3] and SHAPE != (2, 3, 5) and not SHAPE != (2, 3, 4) and SHAPE != "234" and SHAPE is not None
    assert isinstance(SHAPE, list) and paddle.Size is Size and Size() == [] and Size() == ()


# what is done with a shape -> what comes of it; all but the last of them are sizes
DERIVED = {
    "slice": (lambda s: s[1:], [3, 4]),
    "reversed": (lambda s: s[::-1], [4, 3, 2]),
    "and a list": (lambda s: s + [5], [2, 3, 4, 5]),
    "and a tuple": (lambda s: s + (5,), [2, 3, 4, 5]),
    "after a list": (lambda s: [1] + s, [1, 2, 3, 4]),
    "after a tuple": (lambda s: (1,) + s, [1, 2, 3, 4]),
    "twice": (lambda s: s * 2, [2, 3, 4, 2, 3, 4]),
    "twice from the right": (lambda s: 2 * s[:1], [2, 2]),
    "a number of NumPy times": (lambda s: s[:1] * np.int64(2), [2, 2]),
    "times a number of NumPy": (lambda s: np.int64(2) * s[:1], [2, 2]),
}

# arrays add and multiply element by element, whichever side they are on
ARRAY = np.array([1, 4, 1])
WITH_ARRAYS = {
    "array after": (lambda s: s * ARRAY, [2, 12, 4]),
    "array before": (lambda s: ARRAY * s, [2, 12, 4]),
    "array without dimensions": (lambda s: s * np.array(2), [4, 6, 8]),
    "sum": (lambda s: s + ARRAY, [3, 7, 5]),
    "sum from the right": (lambda s: ARRAY + s, [3, 7, 5]),
}


@pytest.mark.parametrize("name", DERIVED)
def test_what_is_made_of_a_size_is_one(name):
    make, wanted = DERIVED[name]
    found = make(SHAPE)
    assert type(found) is Size and found == wanted and SHAPE == [2, 3, 4]


@pytest.mark.parametrize("name", WITH_ARRAYS)
def test_arrays_are_not_appended(name):
    make, wanted = WITH_ARRAYS[name]
    found = make(SHAPE)
    assert type(found) is np.ndarray and found.tolist() == wanted


@pytest.mark.parametrize("other", [1, range(2), "ab", None])
def test_only_lists_and_tuples_are_appended(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        SHAPE + other
    with pytest.raises(TypeError):
        other + SHAPE


def test_a_size_and_a_tensor_are_not_added():
    with pytest.raises(TypeError, match=r"append or add by element: write size \+ tensor.tolist\(\)"):
        SHAPE + paddle.to_tensor([1, 2, 3])


def test_elements_and_copies():
    assert SHAPE[0] == 2 and SHAPE[-1] == 4 and type(SHAPE[0]) is int and SHAPE.numel() == 24 and Size().numel() == 1
    assert repr(SHAPE) == "paddle.Size([2, 3, 4])" and json.dumps(SHAPE) == "[2, 3, 4]"
    for again in (copy.deepcopy(SHAPE), copy.copy(SHAPE), pickle.loads(pickle.dumps(SHAPE))):
        assert type(again) is Size and again == SHAPE and again is not SHAPE
    with pytest.raises(TypeError, match="unhashable"):
        hash(SHAPE)
    changed = paddle.ones([2, 3]).shape
    changed.append(1)
    changed[0] = 7
    assert changed == [7, 3, 1] and paddle.reshape(paddle.ones([6]), SHAPE[:2]).shape == [2, 3]


def test_arrays_are_compared_item_by_item():
    shape = paddle.ones([2, 3]).shape
    assert (shape == np.array([2, 4])).tolist() == [True, False] == (np.array([2, 4]) == shape).tolist()
    assert (shape != np.array([2, 4])).tolist() == [False, True]
    assert shape != 5 and not shape == 5 and shape == (2, 3) and [2, 3] == shape
