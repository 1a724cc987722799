"""Recommenders as users write them, in real processes: alone, and as servers and workers."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from launching import PROGRAMS, ROOT, launched

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


def alone(*arguments):
    command = [sys.executable, "-m", "paddle_lite_py", "run", str(FOLDER / "train.py"), *arguments]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def served(folder, *arguments, code=0, options=SERVED):
    return launched(folder, None, FOLDER / "train.py", *arguments, code=code, options=options, seconds=300)


def killed(kept, job, after):
    """Kill each server of a job once, when so many bytes are in its log; gives the thread that does."""

    def process_of(number):
        for place in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                told = dict(
                    v.split("=", 1) for v in place.read_bytes().decode(errors="replace").split("\0") if "=" in v
                )
                servers = told.get("PADDLE_PSERVERS_IP_PORT_LIST", "").split(",")
                mine = told.get("PADDLE_JOB_ID") == job and told.get("TRAINING_ROLE") == "PSERVER"
                if mine and told["PADDLE_CURRENT_ENDPOINT"] == servers[number]:
                    return int(place.parent.name)
        return None

    def work():
        for number, size in enumerate(after):
            end = time.monotonic() + 120
            while sum(p.stat().st_size for p in kept.glob(f"server-{number}/log-*")) < size and time.monotonic() < end:
                time.sleep(0.02)
            if (pid := process_of(number)) is not None:
                os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_servers_that_are_killed_come_back_and_nothing_is_lost(tmp_path, clicks, monkeypatch):
    monkeypatch.setenv("RECOMMENDER_CONSTANT", "1")
    monkeypatch.setenv("PADDLE_PS_FOLDER", str(tmp_path / "kept"))
    options = str(clicks), "--net", "deepfm", "--rate", "0.1"
    one = auc(alone(*options, "--files", "whole"))
    job = f"killed-{os.getpid()}"
    killing = killed(tmp_path / "kept", job, [60_000, 120_000])
    said = served(tmp_path, *options, options=(*SERVED, "--max_restart", "2", "--job_id", job))
    killing.join()
    assert re.findall("launch: (.*) has failed .signal SIGKILL.; starting it again", said) == ["server 0", "server 1"]
    assert abs(one - auc(said)) < 0.002


@pytest.mark.parametrize("net", [n if n == "deepfm" else pytest.param(n, marks=pytest.mark.repeat) for n in NETS])
def test_workers_in_step_learn_what_one_process_learns(tmp_path, clicks, monkeypatch, net):
    monkeypatch.setenv("RECOMMENDER_CONSTANT", "1")
    options = str(clicks), "--net", net, "--rate", "0.1"
    one = auc(alone(*options, "--files", "whole"))
    many = auc(served(tmp_path, *options, "--save", str(tmp_path / "saved")))
    assert abs(one - many) < 0.002 and many > 0.52
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
