"""What a user's log holds: no lines of JAX, unless they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import logging
logging.basicConfig(level=logging.DEBUG)
{before}
import paddle_lite_py as paddle
paddle.jit.to_static(lambda x: x * 3 + 1)(paddle.ones([7]))
logging.debug("mine")
"""


@pytest.mark.parametrize(("before", "has_lines"), [("", False), ("logging.getLogger('jax').setLevel('DEBUG')", True)])
def test_debug_lines_of_jax(before: str, has_lines: bool):
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(before=before)], capture_output=True, text=True)
    assert ("DEBUG:jax" in done.stderr) == has_lines and "DEBUG:root:mine" in done.stderr
