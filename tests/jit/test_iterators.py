"""Iterators whose `__next__` ends where a tensor says so."""

from __future__ import annotations

import warnings

import pytest
from paddle_lite_py.jit import DataDependentWarning, InputSpec
from paddle_lite_py.jit.errors import StagingError

import paddle_lite_py as paddle


class Halves:
    """Half of a tensor, a quarter of it and so on, as long as it is large."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        if self.x.abs().sum() < 1:
            raise StopIteration
        self.x = self.x / 2
        return self.x


def loop(x):
    total = x * 0
    for half in Halves(x):
        total = total + half
    return total


def builtin(x):
    return sum(Halves(x)) + 0 * x


def by_hand(x):
    halves = Halves(x)
    return next(halves) + next(halves, x)


def in_a_branch(x):
    y = x
    if x.sum() > 3:
        for half in Halves(x):
            y = y + half
    return y


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("fn", [loop, builtin, by_hand, in_a_branch], ids=lambda f: f.__name__)
def test_it_ends_where_it_does_in_eager_code(fn, full_graph):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    for data in ([4.0, 5.0], [1.0, 1.0], [4.0, 5.0]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataDependentWarning)
            found = static(paddle.to_tensor(data))
        assert found.tolist() == fn(paddle.to_tensor(data)).tolist()


def test_a_program_for_a_file_is_refused_at_the_line(tmp_path):
    with pytest.raises(StagingError, match=r"`raise StopIteration` at test_iterators.py:\d+.* use `while`"):
        paddle.jit.save(loop, str(tmp_path / "f"), input_spec=[InputSpec([2])])
