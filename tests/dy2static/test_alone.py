"""The page on dy2static runs as it stands, where neither the framework nor JAX can be imported."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "dy2static.md"
BLOCKED = "import sys; sys.modules.update(dict.fromkeys(['jax', 'jaxlib', 'numpy', 'paddle_lite_py'])); import runpy; "


def test_the_page_runs(tmp_path):
    code, output = re.findall(r"```(?:python|text)\n(.*?)```", PAGE.read_text(), re.S)
    script = tmp_path / "toy.py"
    script.write_text(code)
    command = [sys.executable, "-c", f"{BLOCKED}runpy.run_path({str(script)!r})"]
    done = subprocess.run(command, cwd=PAGE.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == output
