"""Random programs do the same converted, and the same with staged numbers."""

from __future__ import annotations

import contextlib
import os

from helpers import same, staged
from hypothesis import HealthCheck, given, settings
from programs import compiled, failure, programs

EXAMPLES = int(os.environ.get("DY2STATIC_EXAMPLES", "200"))
SETS = [(0, 0), (1, 2), (-3, 1), (7, 4), (5, -2)]
common = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def helper(x, y):
    if x > y:
        return x - y
    y = y + 1 if x > 0 else y
    return y % 7


@common
@given(programs(tame=False))
def test_same(text):
    same(compiled(text, helper=helper, suppress=contextlib.suppress, failure=failure), *SETS)


@common
@given(programs(tame=True))
def test_staged(text):
    staged(compiled(text, helper=helper), *SETS)
