"""Whole programs train to the losses of PaddlePaddle; see program_cases.py."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
import program_cases

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "programs.json").read_text())


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("case", program_cases.CASES)
def test_losses_of_fifty_steps(case: str, static: bool):
    losses = program_cases.run(paddle, case, static)
    np.testing.assert_allclose(losses, GOLDEN[case], atol=1e-4, rtol=0)
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
