"""paddle.distributed in several real processes: exchanges, training, and what is said when one fails."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from launching import PROGRAMS, ROOT, launched
from paddle_lite_py.distributed.spawning import free_ports


def written(tmp_path, text):
    program = tmp_path / "program.py"
    program.write_text("import paddle\nimport paddle.distributed as dist\ndist.init_parallel_env()\n" + text)
    return program


def test_two_processes_exchange_and_train(tmp_path):
    said = launched(tmp_path, 2, PROGRAMS / "two_processes.py")
    assert said.count(" is well") == 10


def _losses(tmp_path, count, degrees, *more):
    said = launched(tmp_path, count, PROGRAMS / "hybrid_parallel.py", json.dumps(degrees), *more)
    line = next(line for line in said.splitlines() if line.startswith("losses"))
    return json.loads(line.removeprefix("losses"))


@pytest.fixture(scope="module")
def losses_of_one(tmp_path_factory):
    return _losses(tmp_path_factory.mktemp("one"), 1, {})


@pytest.mark.parametrize(
    ("degrees", "more"),
    [
        ({"mp_degree": 2}, ()),
        ({"mp_degree": 2}, ("static",)),
        ({"pp_degree": 2}, ()),
        ({"sharding_degree": 2}, ()),
        *[
            pytest.param({a: 2, b: 2}, (), marks=pytest.mark.repeat)
            for a, b in (
                ("dp_degree", "mp_degree"),
                ("dp_degree", "pp_degree"),
                ("mp_degree", "pp_degree"),
                ("sharding_degree", "mp_degree"),
            )
        ],
    ],
    ids=str,
)
def test_parallel_is_serial(tmp_path, losses_of_one, degrees, more):
    found = _losses(tmp_path, 2 ** len(degrees), degrees, *more)
    np.testing.assert_allclose(found, losses_of_one, rtol=1e-5)


def test_a_process_that_fails_ends_the_job(tmp_path):
    text = "if dist.get_rank() == 1: raise ValueError('batch 3 is empty')\ndist.barrier()\n"
    said = launched(tmp_path, 2, written(tmp_path, text), code=1)
    assert "rank 1 has failed (exit code 1)" in said and "ValueError: batch 3 is empty" in said
    assert (tmp_path / "log" / "workerlog.1").exists()
    assert "in group 0 of ranks [0, 1]" in (tmp_path / "log" / "workerlog.0").read_text()


def test_a_job_that_fails_is_begun_again(tmp_path):
    text = "from pathlib import Path\nif dist.get_rank() == 0 and not Path('tried').exists():\n"
    text += "    Path('tried').touch(); raise SystemExit(7)\nprint('trained')\n"
    said = launched(tmp_path, 1, written(tmp_path, text), options=("--max_restart", "1"))
    assert "attempt 1 of 2 has failed" in said and said.endswith("trained\n")


def test_a_process_that_is_killed_is_named_by_the_other(tmp_path):
    text = "import os, signal, threading\nx = paddle.ones([4])\ndist.all_reduce(x)\n"
    text += "if dist.get_rank() == 1: threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()\n"
    text += "while True: dist.all_reduce(x)\n"
    said = launched(tmp_path, 2, written(tmp_path, text), code=137)
    assert "rank 1 has failed (signal SIGKILL)" in said
    assert "rank 1 has ended or cannot be reached" in (tmp_path / "log" / "workerlog.0").read_text()


@pytest.mark.parametrize("kills", [2, pytest.param(40, marks=pytest.mark.repeat)])
def test_kills_at_random_moments_lose_no_checkpoint(tmp_path, kills):
    program, options = PROGRAMS / "killed.py", ("--max_restart", str(kills))
    said = launched(tmp_path, 2, program, str(tmp_path), str(kills), options=options, seconds=100 + 20 * kills)
    assert f"rank 0 has seen {kills} kills" in said and said.count("signal SIGKILL") == kills


def test_launchers_of_two_nodes_meet(tmp_path):
    program = written(tmp_path, "x = paddle.ones([1]) + dist.get_rank()\ndist.all_reduce(x)\nprint('sum', x.item())\n")
    options = ("--nnodes", "2", "--master", f"127.0.0.1:{free_ports(1)[0]}")
    with ThreadPoolExecutor(2) as pool:
        nodes = [pool.submit(launched, tmp_path / name, 1, program, options=options) for name in ("a", "b")]
        assert all("sum 3.0" in node.result() for node in nodes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dist.all_reduce(paddle.ones([2 + dist.get_rank()]))", r"rank \d does all_reduce\(float32\[\d\], 0\) at this"),
        (
            "dist.recv(paddle.zeros([3]), 0) if dist.get_rank() else dist.send(paddle.ones([2]), 1)",
            r"has sent float32\[2",
        ),
    ],
)
def test_processes_that_differ_are_told(tmp_path, text, message):
    said = launched(tmp_path, 2, written(tmp_path, text), code=1)
    assert re.search(message, said), said[-2000:]


def test_spawn():
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(PROGRAMS / "spawned.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=env)
    assert done.returncode == 1 and "spawn: the process of rank 1 has failed (exit code 1)" in done.stderr
    assert "ValueError: the sum is 5" in done.stderr.split("spawn: the process of rank 1")[-1]
