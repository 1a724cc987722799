"""What tests of custom operators share: a fresh Python, and tensors that ask for a gradient."""

from __future__ import annotations

import subprocess
import sys

import house
import paddle_lite_py as paddle

SPEC = paddle.static.InputSpec


def fresh(code, *args):
    """Run code in a Python that knows nothing of this one; its output."""
    done = subprocess.run([sys.executable, "-c", code, *args], cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)
