"""Draws among the most probable."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle

ROWS = 4000


def drawn(ps: float, **kwargs) -> dict[int, float]:
    """How often each choice is drawn of the probabilities 0.1, 0.4, 0.2, 0.3."""
    x = paddle.to_tensor([[0.1, 0.4, 0.2, 0.3]]).tile([ROWS, 1])
    value, index = paddle.tensor.top_p_sampling(x, paddle.full([ROWS], ps), **kwargs)
    assert value.shape == index.shape == [ROWS, 1] and (paddle.take_along_axis(x, index, 1) == value).all()
    return {int(i): round(float((index == i).astype("float32").mean()), 1) for i in np.unique(index.numpy())}


def test_the_most_probable_that_reach_a_part():
    assert drawn(0.0) == drawn(0.4) == {1: 1.0}
    assert drawn(0.5) == drawn(0.7) == {1: 0.6, 3: 0.4}
    assert drawn(1.0) == drawn(0.1, mode="non-truncated") == {0: 0.1, 1: 0.4, 2: 0.2, 3: 0.3}
    assert drawn(1.0, threshold=paddle.full([ROWS], 0.25)) == {1: 0.6, 3: 0.4}


def test_seeds_and_the_greatest():
    x = paddle.nn.functional.softmax(paddle.arange(12, dtype="float32").reshape([2, 6]))
    ps = paddle.to_tensor([0.9, 0.9])
    value, index, top, where = x.top_p_sampling(ps, seed=3, k=2, return_top=True)
    assert index.tolist() == x.top_p_sampling(ps, seed=3)[1].tolist() and where.tolist() == [[5, 4], [5, 4]]
    with pytest.raises(ValueError, match="mode is 'other'"):
        x.top_p_sampling(ps, mode="other")
    with pytest.raises(NotImplementedError, match="topp_seed"):
        x.top_p_sampling(ps, topp_seed=paddle.to_tensor([1, 2]))
