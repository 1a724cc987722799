"""Programs as users write them for PaddlePaddle, run unchanged: what they print is what PaddlePaddle prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "scripts").glob("*.py"))
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


@pytest.mark.parametrize("program", SCRIPTS, ids=[p.stem for p in SCRIPTS])
def test_it_prints_the_same(program: Path, tmp_path: Path):
    command = [sys.executable, "-m", "paddle_lite_py", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    expected = (HERE / "golden" / "scripts" / f"{program.stem}.txt").read_text()
    assert NUMBER.sub("#", done.stdout) == NUMBER.sub("#", expected)
    numbers = [[float(n) for n in NUMBER.findall(text)] for text in (done.stdout, expected)]
    assert numbers[0] == pytest.approx(numbers[1], rel=2e-3, abs=2e-4)  # they print three or four digits
