"""Random programs as engineers write them: static functions do what eager code does, and that does what the reference
does. See tests/tables/whole_programs.py."""

from __future__ import annotations

import functools
import json
import os
import warnings
from pathlib import Path

import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
import whole_program_runs as runs
from whole_programs import program

COUNT = int(os.environ.get("WHOLE_PROGRAMS", 20))
# Programs of one test, of which one in a hundred may be refused.
CHUNK = max(10, COUNT // 12)
recorded = json.loads((Path(__file__).parents[1] / "golden" / "whole_programs.json").read_text())
MODES = {"default": to_static, "full graph": functools.partial(to_static, full_graph=True)}


def outcomes(text, static=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of statements that run as Python, and of programs for each outcome
        return runs.Compiled(text, paddle, static).outcomes()


def on_xla(text):
    """The outcomes of eager code by XLA: where they are others than by NumPy, rounding decides, and nothing is told."""
    paddle.set_flags({"FLAGS_host_tier": False})
    try:
        return outcomes(text)
    finally:
        paddle.set_flags({"FLAGS_host_tier": True})


def is_refused(found, expected):
    """Whether a call raises an error of ours that eager code does not raise."""
    return any(f.get("own") and not e.get("own") for f, e in zip(found, expected, strict=True))


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_static_is_eager(first):
    differ, refused = {}, {}
    for seed in range(first, min(first + CHUNK, COUNT)):
        text = program(seed)
        mode = list(MODES)[seed % 2]
        expected, found = outcomes(text), outcomes(text, MODES[mode])
        if is_refused(found, expected):
            refused[seed] = next(f"{f['error']}: {f['message']}" for f in found if f.get("own"))
        elif (different := runs.differences(found, expected)) and not runs.differences(on_xla(text), expected):
            differ[seed] = [mode, *different[:3]]
    assert not differ
    assert len(refused) <= CHUNK // 100, refused


def test_eager_is_the_reference():
    differ = []
    for seed, expected in recorded.items():
        found = [runs.summary(o) for o in outcomes(program(int(seed)))]
        differ += [] if all(map(runs.agree, found, expected)) else [seed]
    assert not differ


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_loaded_layers_are_eager(first, tmp_path):
    differ, spec = {}, [paddle.static.InputSpec([4, 3], "float32")]
    for seed in range(first, min(first + CHUNK, COUNT), 5):
        if runs.is_saveable(text := program(seed)):
            compiled = runs.Compiled(text, paddle)
            net = compiled.names["watched"]()["net"]
            net.eval()
            expected = runs.layer_outcomes(compiled, net)
            paddle.jit.save(net, str(tmp_path / str(seed)), input_spec=spec)
            found = runs.layer_outcomes(compiled, paddle.jit.load(str(tmp_path / str(seed))))
            if different := runs.differences(found, expected):
                differ[seed] = different[:3]
    assert not differ
