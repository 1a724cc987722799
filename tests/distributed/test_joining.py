"""Processes that are started by hand, of which one does not come."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from launching import ROOT, launched
from paddle_lite_py.core.joining import patience
from paddle_lite_py.distributed.spawning import free_ports, variables


def started(rank, ports, seconds, text="import paddle_lite_py"):
    at = [f"127.0.0.1:{p}" for p in ports[1:]]
    env = {**os.environ, **variables(rank, at, f"127.0.0.1:{ports[0]}"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", text]
    return subprocess.Popen(
        command,
        env={**env, "FLAGS_stop_check_timeout": seconds},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_who_waits_says_who_does_not_come_and_ends():
    ports = free_ports(4)
    both = [started(rank, ports, seconds) for rank, seconds in ((0, "8"), (1, "4"))]
    for rank, process in enumerate(both):
        _, said = process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL, said
        assert f"rank {rank} of 3 ends, since the others have not joined it in {8 - 4 * rank} s" in said, said
        assert f"rank 2 does not listen at 127.0.0.1:{ports[3]}" in said and "Aborted" not in said, said
        assert rank == 0 or "rank 0 does not listen" not in said, said


def test_the_first_one_does_not_come():
    ports = free_ports(3)
    process = started(1, ports, "2")
    _, said = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL and f"rank 0 does not listen at 127.0.0.1:{ports[0]}" in said, said


@pytest.mark.parametrize("text", ["soon", "0", "-3", "inf"])
def test_seconds_that_are_none(monkeypatch, text):
    monkeypatch.setenv("FLAGS_stop_check_timeout", text)
    with pytest.raises(ValueError, match="FLAGS_stop_check_timeout is .*; expected the seconds"):
        patience()


EXITS = """
import sys
import paddle
import paddle.distributed as dist
x = paddle.ones([2])
for step in range(3): dist.all_reduce(x)
if dist.get_rank() == 0: sys.exit(3)
for step in range(3): dist.all_reduce(x)
print(x.numpy())
"""


@pytest.mark.repeat
def test_nobody_waits_for_the_first_one_that_exits_with_a_code(tmp_path):
    (tmp_path / "exits.py").write_text(EXITS)
    launched(tmp_path, 2, tmp_path / "exits.py", code=3, seconds=90)
