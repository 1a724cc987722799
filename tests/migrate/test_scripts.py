"""Programs as users write them for PaddlePaddle, run unchanged: what they print is what PaddlePaddle prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from library_cases import prints_the_same

HERE = Path(__file__).parents[1]
SCRIPTS = sorted((HERE / "scripts").glob("*.py"))


@pytest.mark.parametrize("program", SCRIPTS, ids=[p.stem for p in SCRIPTS])
def test_it_prints_the_same(program: Path, tmp_path: Path):
    command = [sys.executable, "-m", "paddle_lite_py", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    expected = (HERE / "golden" / "scripts" / f"{program.stem}.txt").read_text()
    assert prints_the_same(done.stdout, expected), done.stdout
