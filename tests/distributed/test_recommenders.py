"""Recommenders as users write them, in real processes: alone, and as servers and workers."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from launching import PROGRAMS, ROOT, launched
from served_job import ServedJob

FOLDER = PROGRAMS / "recommenders"
NETS = ["wide_deep", "deepfm", "dcn", "din", "ssr", "gru4rec"]
SERVED = ("--server_num", "2", "--trainer_num", "2")


@pytest.fixture(scope="module")
def clicks(tmp_path_factory):
    """A folder of click logs."""
    folder = tmp_path_factory.mktemp("clicks")
    subprocess.run([sys.executable, str(FOLDER / "data.py"), str(folder), "1600"], check=True)
    return folder


def auc(said):
    return float(re.findall(r"^auc (\S+) loss", said, re.MULTILINE)[-1])


def counted(said):
    """The instances that the metric of a worker has met."""
    return int(re.findall(r"^counted (\d+) instances", said, re.MULTILINE)[-1])


def alone(*arguments, env=None):
    command = [sys.executable, "-m", "paddle_lite_py", "run", str(FOLDER / "train.py"), *arguments]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def served(folder, *arguments, code=0, options=SERVED):
    return launched(folder, None, FOLDER / "train.py", *arguments, code=code, options=options, seconds=300)


@pytest.mark.repeat
def test_servers_and_workers_that_are_killed_come_back_and_nothing_is_lost(tmp_path, clicks):
    constant = {"RECOMMENDER_CONSTANT": "1"}
    arguments = [str(clicks), "--net", "deepfm", "--rate", "0.1"]
    options = [*SERVED, "--max_restart", "4"]
    kept = {"PADDLE_PS_FOLDER": str(tmp_path / "kept"), **constant}
    job = ServedJob(tmp_path, [str(FOLDER / "train.py"), *arguments], options, kept)
    try:
        job.kill_after(1, 8)
        job.kill_after(0, 12, "server")
        assert job.ended() == 0, job.said()
    finally:
        job.close()
    again = re.findall("launch: (.*) has failed .signal SIGKILL.; starting it again", job.said())
    assert sorted(again) == ["server 0", "worker 1"]
    whole = alone(*arguments, "--files", "whole", env=constant)
    assert abs(auc(whole) - auc(job.said())) < 0.002
    workers = [(tmp_path / "log" / f"workerlog.{i}").read_text() for i in range(2)]
    assert sum(map(counted, workers)) == counted(whole) == 2 * 1600  # its metric too is that of all that it has done


@pytest.mark.parametrize("net", [n if n == "deepfm" else pytest.param(n, marks=pytest.mark.repeat) for n in NETS])
def test_workers_in_step_learn_what_one_process_learns(tmp_path, clicks, monkeypatch, net):
    monkeypatch.setenv("RECOMMENDER_CONSTANT", "1")
    options = str(clicks), "--net", net, "--rate", "0.1"
    one = auc(alone(*options, "--files", "whole"))
    many = auc(served(tmp_path, *options, "--save", str(tmp_path / "saved")))
    # While all rows are equal, the gradient of DIN's attention is rounding alone, of which Adagrad makes steps.
    assert abs(one - many) < (0.006 if net == "din" else 0.002) and many > 0.52
    logs = {p.name for p in (tmp_path / "log").iterdir()}
    assert logs == {"serverlog.0", "serverlog.1", "workerlog.0", "workerlog.1"}
    assert (tmp_path / "saved" / "inference" / "model.json").exists()
    assert (tmp_path / "saved" / "persistables" / "tables.json").exists()


@pytest.mark.repeat
@pytest.mark.parametrize("mode", ["async", "half", "geo"])
def test_workers_out_of_step_learn_as_well(tmp_path, clicks, mode):
    assert auc(served(tmp_path, str(clicks), "--mode", mode, "--net", "din", "--rate", "0.1", "--epochs", "3")) > 0.55


def test_a_server_that_fails_ends_the_job(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import paddle.distributed.fleet as fleet\nfleet.init(fleet.PaddleCloudRoleMaker())\n"
        "if fleet.is_server():\n    raise ValueError('no room')\nfleet.barrier_worker()\n"
    )
    options = ("--servers", "127.0.0.1:0", "--trainers", "127.0.0.1:0", "--run_mode", "ps")
    said = launched(tmp_path, None, program, code=1, options=options)
    assert "server 0 has failed (exit code 1)" in said and "ValueError: no room" in said
