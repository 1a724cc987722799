"""A child of os.fork() without XLA's threads: it refuses what XLA would compile, and says at which line it waits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, warnings
import paddle_lite_py as paddle
from paddle_lite_py.core import forks
forks.PERIOD = 0.4
x = paddle.ones([600, 600])
product = paddle.jit.to_static(lambda x: x @ x)
float({before})
child = os.fork()
if not child:
    signal.alarm(40)
    assert float((paddle.ones([3]) + 1).sum()) == 6
    print("small arrays are computed", flush=True)
    try:
        float({call}.sum())
    except Exception as error:
        print("refused:", error, flush=True)
    os._exit(0)  # XLA would wait for its threads
os.waitpid(child, 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="where XLA has threads is known on Linux")
@pytest.mark.parametrize("call", ["(x @ x)", "product(x)", "product(paddle.ones([3, 3]))"])
def test_a_child_refuses_what_it_cannot_compile(call, tmp_path):
    file = tmp_path / "forking.py"
    file.write_text(PROGRAM.format(call=call, before="0"))
    run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=100, check=False)
    assert "small arrays are computed\n" in run.stdout
    said = run.stdout.partition("refused: ")[2]
    assert "XLA cannot compile jit(" in said and "the process was forked" in said and "spawn" in said, run.stderr


@pytest.mark.parametrize("call", ["(x @ x)", "product(x)"])
def test_a_child_that_waits_for_ever_says_at_which_line(call, tmp_path):
    file = tmp_path / "forking.py"
    file.write_text(PROGRAM.format(call=call, before=f"{call}.sum()"))
    with subprocess.Popen(
        [sys.executable, "-W", "default", str(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True, env=os.environ | {"FLAGS_baseline_tier": "0"},  # the parent has it compiled
    ) as process:  # fmt: skip
        said = []
        for line in process.stdout:
            said.append(line)
            if "this line has waited for XLA" in line:
                break
        os.killpg(process.pid, signal.SIGKILL)
    if any("mutex.cc" in line for line in said):
        pytest.skip("the child did not wait: its copy of XLA's locks was held, which ends it")
    assert "small arrays are computed\n" in said and "forking.py:15: RuntimeWarning: this line" in said[-1], said
    assert "the process was forked" in said[-1] and "spawn" in said[-1]
