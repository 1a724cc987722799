"""Whole programs train to the losses of PaddlePaddle; see program_cases.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
import program_cases

ROOT = Path(__file__).parents[2]
GOLDEN = json.loads((ROOT / "tests" / "golden" / "programs.json").read_text())


def of_users(case: str, static: bool) -> list[float]:
    """The losses with the kernels that users get: fifty steps of a deep net multiply how those of the tests round."""
    losses = f"list(c.run(p, {case!r}, {static}))"
    code = f"import json, paddle_lite_py as p, program_cases as c; print(json.dumps({losses}))"
    path = os.pathsep.join([*map(str, (ROOT, ROOT / "tests" / "tables")), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "XLA_FLAGS": "", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("case", program_cases.CASES)
def test_losses_of_fifty_steps(case: str, static: bool):
    losses = of_users(case, static) if case == "resnet" else program_cases.run(paddle, case, static)
    np.testing.assert_allclose(losses, GOLDEN[case], atol=1e-4, rtol=0)
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
