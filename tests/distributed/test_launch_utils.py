"""Processes of a job, started by hand."""

import time

import pytest

from paddle_lite_py.distributed.utils import launch_utils as launch


def _watched(tmp_path, text, ranks=2):
    script = tmp_path / "train.py"
    script.write_text(text)
    ports = sorted(launch.find_free_ports(ranks))
    cluster, pod = launch.get_cluster(["127.0.0.1"], "127.0.0.1", [f"127.0.0.1:{p}" for p in ports], range(ranks))
    procs = launch.start_local_trainers(cluster, pod, str(script), ["x"], str(tmp_path / "log"))
    try:
        while launch.watch_local_trainers(procs, cluster.trainers_nranks()):
            time.sleep(0.05)
    finally:
        launch.terminate_local_procs(procs)
    return procs


def test_processes_know_their_places(tmp_path, capsys):
    procs = _watched(
        tmp_path, "import os, sys; print(os.environ['PADDLE_TRAINER_ID'], os.environ['PADDLE_TRAINERS_NUM'], sys.argv)"
    )
    logs = [(tmp_path / "log" / f"workerlog.{i}").read_text() for i in range(2)]
    assert [log.split(" ", 2)[:2] for log in logs] == [["0", "2"], ["1", "2"]] and "'x'" in logs[0]
    assert [p.rank for p in procs] == [0, 1]


def test_where_one_fails_all_end(tmp_path):
    text = "import os, sys, time\nif os.environ['PADDLE_TRAINER_ID'] == '1': sys.exit(3)\ntime.sleep(60)"
    began = time.monotonic()
    with pytest.raises(SystemExit):
        _watched(tmp_path, text)
    assert time.monotonic() - began < 30


def test_texts():
    assert launch.strtobool("Yes") is True and launch.strtobool("0") is False
    with pytest.raises(ValueError, match="'maybe'"):
        launch.strtobool("maybe")
