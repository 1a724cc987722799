"""Distances of sequences, against the textbook's table."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn.functional import loss


def by_hand(a: list[int], b: list[int]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


@pytest.mark.parametrize("ignored", [(), (0, 3)])
def test_distances(ignored: tuple[int, ...]):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, (6, 7)), rng.integers(0, 5, (6, 5))
    n, m = rng.integers(0, 8, 6), rng.integers(1, 6, 6)
    tensors = [paddle.to_tensor(v) for v in (a, b)]
    lengths = {"input_length": paddle.to_tensor(n), "label_length": paddle.to_tensor(m)}
    count, found = loss.edit_distance(*tensors, normalized=False, ignored_tokens=list(ignored), **lengths)
    left, right = ([[t for t in v[i, : k[i]] if t not in ignored] for i in range(6)] for v, k in ((a, n), (b, m)))
    assert count.tolist() == [6] and found.shape == [6, 1]
    assert found.flatten().tolist() == list(map(by_hand, left, right))


def test_distances_in_a_program():
    a, b = paddle.to_tensor([[1, 2, 3], [4, 4, 4]]), paddle.to_tensor([[1, 3, 4, 1], [7, 7, 7, 1]])
    run = paddle.jit.to_static(lambda x, y: loss.edit_distance(x, y)[1])
    assert run(a, b).tolist() == loss.edit_distance(a, b)[1].tolist() == [[0.75], [1.0]]
