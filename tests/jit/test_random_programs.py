"""Random programs of tensors: static code gives what eager code gives, for several inputs of one compiled program."""

from __future__ import annotations

import os

import pytest

import paddle_lite_py as paddle
from programs import compiled, programs

SEEDS = range(int(os.environ.get("STATIC_SEEDS", "20")))  # each stands for some programs
SETS = [(1, 2), (-3, 1), (7, 4)]


def helper(x, y):
    if x > y:
        return x - y
    y = y + 1 if x > 0 else y
    return y % 7


def numbers(result):
    return [int(v) for v in result]


@pytest.mark.parametrize("seed", SEEDS)
def test_static_is_eager(seed):
    for text in programs(seed, 6, tame=True, alike=True):
        print(text)
        f = compiled(text, helper=helper)
        static = paddle.jit.to_static(f)
        for a, b in SETS:
            expected = numbers(f(paddle.to_tensor(a), paddle.to_tensor(b)))
            assert numbers(static(paddle.to_tensor(a), paddle.to_tensor(b))) == expected, (a, b)
