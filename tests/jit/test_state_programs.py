"""Random programs that change state under conditions: a static function does what eager code does, and what the
reference does."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import pytest
from paddle_lite_py.jit import DataDependentWarning, to_static

import paddle_lite_py as paddle
import state_programs

# How many programs of each kind; the others that are recorded are repeats, and `make fuzz` has more of them.
COUNTS = {
    kind: int(os.environ.get(f"{kind.upper()}_PROGRAMS", count)) for kind, count in state_programs.TRIED_STATIC.items()
}
recorded = json.loads((Path(__file__).parents[1] / "golden" / "state_programs.json").read_text())


EACH = [
    pytest.param(kind, seed, marks=[pytest.mark.repeat] * (seed >= COUNTS[kind]))
    for count, kind in state_programs.RECORDED
    for seed in range(max(count, COUNTS[kind]))
]


@pytest.mark.parametrize(("kind", "seed"), EACH)
def test_static_is_eager(kind, seed):
    text = state_programs.program(seed, kind)
    print(text)
    eager, with_grad = state_programs.compiled(text, paddle), state_programs.has_gradients(text)
    static = to_static(state_programs.compiled(text, paddle))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataDependentWarning)
        for inputs in state_programs.INPUTS:
            expected = state_programs.outcome(paddle, eager, inputs, with_grad)
            found = state_programs.outcome(paddle, static, inputs, with_grad)
            assert state_programs.close(found, expected), (inputs, found, expected)


def test_eager_is_the_reference():
    differ = []
    for name, expected in recorded.items():
        kind, seed = name.split()
        f = state_programs.compiled(state_programs.program(int(seed), kind), paddle)
        found = [state_programs.outcome(paddle, f, inputs) for inputs in state_programs.INPUTS]
        differ += [] if state_programs.close(json.loads(json.dumps(found)), expected) else [name]
    assert not differ
