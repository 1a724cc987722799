"""The README's first example runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_first_example_trains_saves_and_loads(name, tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.S)
    script = tmp_path / "example.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loss, prediction = done.stdout.split("\n", 1)
    assert float(loss) < 0.01
    assert "shape=[1, 1], dtype=float32" in prediction
