"""Random programs do the same converted, and the same with staged numbers."""

from __future__ import annotations

import contextlib
import os

import pytest

from conversions import same, staged
from programs import compiled, failure, programs

# Each stands for some programs.
SEEDS = [
    pytest.param(seed, marks=[pytest.mark.repeat] * (seed >= 10 and "DY2STATIC_SEEDS" not in os.environ))
    for seed in range(int(os.environ.get("DY2STATIC_SEEDS", "20")))
]
SETS = [(0, 0), (1, 2), (-3, 1), (7, 4), (5, -2)]


def helper(x, y):
    if x > y:
        return x - y
    y = y + 1 if x > 0 else y
    return y % 7


@pytest.mark.parametrize("seed", SEEDS)
def test_same(seed):
    for text in programs(seed, 50, tame=False):
        print(text)
        same(compiled(text, helper=helper, suppress=contextlib.suppress, failure=failure), *SETS)


@pytest.mark.parametrize("seed", SEEDS)
def test_staged(seed):
    for text in programs(seed, 5, tame=True):
        print(text)
        staged(compiled(text, helper=helper), *SETS)
