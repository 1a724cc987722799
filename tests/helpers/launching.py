"""Starting programs in several processes, as tests need it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "distributed" / "programs"


def launched(folder, count, program, *arguments, code=0, options=(), seconds=480):
    """What the launcher prints. Without a count, `options` say what it starts; code None: any but 0."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "paddle_lite_py.distributed.launch"]
    command += [] if count is None else ["--nproc_per_node", str(count)]
    command += ["--log_dir", str(folder / "log"), *options, str(program), *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == code if code is not None else done.returncode, done.stdout[-4000:]
    return done.stdout
