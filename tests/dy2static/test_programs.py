"""Random programs do the same converted, and the same with staged numbers."""

from __future__ import annotations

import contextlib
import os

from hypothesis import HealthCheck, Phase, given, settings

from conversions import same, staged
from programs import compiled, failure, programs

EXAMPLES = int(os.environ.get("DY2STATIC_EXAMPLES", "2000"))
SETS = [(0, 0), (1, 2), (-3, 1), (7, 4), (5, -2)]
common = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # a failing program is seldom made shorter in minutes
    suppress_health_check=list(HealthCheck),
)


def helper(x, y):
    if x > y:
        return x - y
    y = y + 1 if x > 0 else y
    return y % 7


@settings(common, max_examples=EXAMPLES)
@given(programs(tame=False))
def test_same(text):
    same(compiled(text, helper=helper, suppress=contextlib.suppress, failure=failure), *SETS)


@settings(common, max_examples=EXAMPLES // 10)
@given(programs(tame=True))
def test_staged(text):
    staged(compiled(text, helper=helper), *SETS)
