"""Random programs of tensors: static code gives what eager code gives, for several inputs of one compiled program."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, given, settings

import paddle_lite_py as paddle
from programs import compiled, programs

EXAMPLES = int(os.environ.get("STATIC_EXAMPLES", "200"))
SETS = [(1, 2), (-3, 1), (7, 4)]


def helper(x, y):
    if x > y:
        return x - y
    y = y + 1 if x > 0 else y
    return y % 7


def numbers(result):
    return [int(v) for v in result]


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(programs(tame=True, alike=True))
def test_static_is_eager(text):
    f = compiled(text, helper=helper)
    static = paddle.jit.to_static(f)
    for a, b in SETS:
        expected = numbers(f(paddle.to_tensor(a), paddle.to_tensor(b)))
        assert numbers(static(paddle.to_tensor(a), paddle.to_tensor(b))) == expected, (a, b)
