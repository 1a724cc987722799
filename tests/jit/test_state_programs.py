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

# (seed, with views); `make fuzz` has more of them.
PROGRAMS = [(s, False) for s in range(int(os.environ.get("STATE_PROGRAMS", "200")))]
PROGRAMS += [(s, True) for s in range(int(os.environ.get("VIEW_PROGRAMS", "60")))]
KNOWN: dict[tuple[int, bool], str] = {}  # programs that differ, and why
recorded = json.loads((Path(__file__).parents[1] / "golden" / "state_programs.json").read_text())


@pytest.mark.parametrize(("seed", "views"), [p for p in PROGRAMS if p not in KNOWN])
def test_static_is_eager(seed, views):
    text = state_programs.program(seed, views)
    print(text)
    f = state_programs.compiled(text)
    static, with_grad = to_static(f), state_programs.has_gradients(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataDependentWarning)
        for inputs in state_programs.INPUTS:
            expected = state_programs.outcome(paddle, f, inputs, with_grad)
            found = state_programs.outcome(paddle, static, inputs, with_grad)
            assert state_programs.close(found, expected), (inputs, found, expected)


def test_eager_is_the_reference():
    differ = []
    for name, expected in recorded.items():
        seed, _, views = name.partition(" ")
        f = state_programs.compiled(state_programs.program(int(seed), bool(views)))
        found = [state_programs.outcome(paddle, f, inputs) for inputs in state_programs.INPUTS]
        differ += [] if state_programs.close(json.loads(json.dumps(found)), expected) else [name]
    assert not differ
