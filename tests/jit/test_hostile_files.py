"""Files of strangers, read in processes of their own: each is read or refused, and nothing else happens.

`make fuzz-files` alters 10,000 of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import house

COUNT = int(os.environ.get("HOSTILE_FILES", "60"))
SHARE = {"artefacts": 0.4, "pickles": 0.4, "checkpoints": 0.1, "models": 0.1}


@pytest.mark.parametrize("kind", SHARE)
def test_files_are_read_or_refused(kind, tmp_path):
    program = str(house.ROOT / "tests" / "helpers" / "hostile_files.py")
    bad, first, end = [], 0, int(COUNT * SHARE[kind])
    while first < end:
        folder = tmp_path / str(first)
        folder.mkdir()
        command = [sys.executable, program, kind, str(folder), str(first), str(end - first)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert said, done.stderr
        bad += [s for s in said if "bad" in s]
        if "done" in said[-1]:
            break
        bad.append({"seed": said[-1]["seed"], "bad": f"the process ended ({done.returncode}): {done.stderr[-300:]}"})
        first = said[-1]["seed"] + 1
    assert not bad, "\n".join(f"{kind} {b['seed']}: {b['bad']}" for b in bad)
