"""paddle.distributed in several real processes: exchanges, training, and what is said when one fails."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from launching import PROGRAMS, ROOT, launched
from paddle_lite_py.distributed.spawning import free_ports

GPT = ROOT / "tutorials" / "gpt.py"


def written(tmp_path, text):
    program = tmp_path / "program.py"
    program.write_text("import paddle\nimport paddle.distributed as dist\ndist.init_parallel_env()\n" + text)
    return program


def test_two_processes_exchange_and_train(tmp_path):
    said = launched(tmp_path, 2, PROGRAMS / "two_processes.py")
    assert said.count(" is well") == 14


def test_a_static_function_exchanges_in_rows_and_columns(tmp_path):
    said = launched(tmp_path, 4, PROGRAMS / "side_by_side.py")
    assert "rows and columns are well" in said


AXES = ["mp=2,static=1", "pp=2,vpp=2", "sep=2", "sharding=2", "dp=2"]  # "mp" and "pp" alone: in the pair of four
PRODUCTS = [
    "dp=2,mp=2",
    "dp=2,pp=2",
    "dp=2,sep=2",
    "sharding=2,mp=2",
    "sep=2,mp=2",
    "sharding=2,sep=2",
    "sharding=2,pp=2",
    "mp=2,sep=2,static=1",
]


def differences(said, meshes):
    found = dict(re.findall(r"^(.*): the losses differ by (\S+) ", said, re.MULTILINE))
    assert list(found) == ["one device", *meshes], said[-2000:]
    return {mesh: float(d) for mesh, d in found.items()}


@pytest.mark.parametrize(
    ("count", "meshes"),
    [
        (2, AXES),
        (4, ["pp=2,mp=2", "dp=2,mp=2,static=1"]),
        pytest.param(2, ["mp=2", "pp=2"], marks=pytest.mark.repeat),
        pytest.param(4, [*PRODUCTS, "pp=2,vpp=2,dp=2"], marks=pytest.mark.repeat),
    ],
    ids=["two", "four", "alone", "products"],
)
def test_parallel_is_serial(tmp_path, count, meshes):
    named = [word for mesh in meshes for word in ("--mesh", mesh)]
    picture = ["--picture", str(tmp_path / "mesh.png")] if importlib.util.find_spec("matplotlib") else []
    said = launched(tmp_path, count, GPT, "--steps", "3", *named, *picture)
    assert max(differences(said, meshes).values()) < 1e-5, said
    assert not picture or (tmp_path / "mesh.png").stat().st_size > 1000


def test_devices_of_one_process_are_serial():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    env = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)}
    meshes = ["dp=2,mp=2,sep=2", "sharding=4,mp=2"]
    command = [sys.executable, str(GPT), "--steps", "3", *[word for mesh in meshes for word in ("--mesh", mesh)]]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=480)
    assert max(differences(done.stdout, meshes).values()) < 1e-5, done.stderr[-2000:]


@pytest.mark.parametrize(
    ("rank", "end", "failed", "reason"),
    [
        (1, "raise ValueError('batch 3 is empty')", "rank 1 has failed", "ValueError: batch 3 is empty"),
        (0, "assert False, 'no data'", "rank 0 has failed", "AssertionError: no data"),
        pytest.param(0, "raise SystemExit(0)", "rank 1 has failed", "rank 0 has ended", marks=pytest.mark.repeat),
    ],
    ids=["last", "first", "in peace"],
)
def test_a_process_that_ends_before_an_exchange_ends_the_job(tmp_path, rank, end, failed, reason):
    text = f"if dist.get_rank() == {rank}: {end}\ndist.barrier()\n"
    said = launched(tmp_path, 2, written(tmp_path, text), code=1, seconds=60)
    assert f"{failed} (exit code 1)" in said and reason in said
    other = (tmp_path / "log" / f"workerlog.{1 - rank}").read_text()
    assert "in group 0 of ranks [0, 1]" in other and f"rank {rank} has ended" in other and reason in other


@pytest.mark.repeat
def test_a_process_that_waits_for_others_to_start_reports_it(tmp_path):
    ports = free_ports(3)
    endpoints = ",".join(f"127.0.0.1:{p}" for p in ports[1:])
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PADDLE_TRAINERS_NUM": "2", "PADDLE_TRAINER_ENDPOINTS": endpoints}
    env |= {"PADDLE_MASTER": f"127.0.0.1:{ports[0]}", "PADDLE_TRAINER_ID": "1"}
    command = [sys.executable, "-c", "import paddle_lite_py"]
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, env=env, stderr=log) as process:
        try:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(32)
        finally:
            process.kill()
    assert f"rank 0 does not listen at 127.0.0.1:{ports[0]}" in (tmp_path / "log").read_text()


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
    said = launched(tmp_path, 2, program, str(tmp_path), str(kills), options=options, seconds=400 + 20 * kills)
    assert f"rank 0 has seen {kills} kills" in said and said.count("signal SIGKILL") == kills


@pytest.mark.repeat
def test_the_launcher_under_its_other_name(tmp_path):
    program = written(tmp_path, "print('rank', dist.get_rank(), 'of', dist.get_world_size())\n")
    command = [
        sys.executable,
        "-m",
        "paddle_lite_py",
        "run",
        "-m",
        "paddle.distributed.launch",
        "--nproc_per_node",
        "2",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, str(program)], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=480)
    assert done.returncode == 0 and "rank 0 of 2" in done.stdout, done.stdout + done.stderr


def test_launchers_of_two_nodes_meet(tmp_path):
    program = written(tmp_path, "x = paddle.ones([1]) + dist.get_rank()\ndist.all_reduce(x)\nprint('sum', x.item())\n")
    options = ("--nnodes", "2", "--master", f"127.0.0.1:{free_ports(1)[0]}")
    with ThreadPoolExecutor(2) as pool:
        nodes = [pool.submit(launched, tmp_path / name, 1, program, options=options) for name in ("a", "b")]
        assert all("sum 3.0" in node.result() for node in nodes)


LISTENING = """
import os
dist.all_reduce(paddle.ones([2]))
own = set()
for number in os.listdir("/proc/self/fd"):
    try:
        own.add(os.readlink(f"/proc/self/fd/{number}"))
    except OSError:
        pass
for kind in ("tcp", "tcp6"):
    for line in open(f"/proc/self/net/{kind}").read().splitlines()[1:]:
        _, here, _, state, *_, inode = line.split()[:10]
        if state == "0A" and f"socket:[{inode}]" in own:
            print("listens at", here.partition(":")[0], flush=True)
dist.barrier()
"""


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="the system does not tell where a process listens")
def test_processes_of_one_node_are_reached_from_it_alone(tmp_path):
    """JAX's coordinator, the messenger and XLA's exchanges: 127.0.0.1, as the kernel writes it."""
    found = re.findall(r"listens at (\w+)", launched(tmp_path, 2, written(tmp_path, LISTENING)))
    assert len(found) >= 3 and set(found) <= {"0100007F", "0000000000000000FFFF00000100007F"}


def test_processes_that_differ_in_any_collective_are_told(tmp_path):
    assert "23 differences are told" in launched(tmp_path, 2, PROGRAMS / "different.py")


def test_a_message_that_does_not_fit_is_told(tmp_path):
    text = "dist.recv(paddle.zeros([3]), 0) if dist.get_rank() else dist.send(paddle.ones([2]), 1)"
    said = launched(tmp_path, 2, written(tmp_path, text), code=1)
    assert "rank 0 has sent float32[2]" in said, said[-2000:]


def test_spawn_in_a_program_that_imports_paddle():
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "paddle_lite_py", "run", str(PROGRAMS / "spawned.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=480, env=env)
    assert done.returncode == 1 and "spawn: the process of rank 1 has failed (exit code 1)" in done.stderr
    assert "ValueError: the sum is 5" in done.stderr.split("spawn: the process of rank 1")[-1]
