"""Jobs whose nodes come and go: who makes up a world, what programs ask, and real launchers that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import house
import paddle_lite_py as paddle
from elastic_job import ElasticJob
from paddle_lite_py.distributed import elastic
from paddle_lite_py.distributed.launch import job as jobs
from paddle_lite_py.distributed.launch import launch
from paddle_lite_py.distributed.launch.link import Link
from paddle_lite_py.distributed.launch.membership import LAST_CALL, Membership, Terms
from paddle_lite_py.distributed.spawning import free_ports

TIMEOUT, TTL = 30.0, 15.0


class Told:
    """A membership at a clock of its own, and what it has said to whom."""

    def __init__(self, least: int, most: int, max_restart: int = 1) -> None:
        self.terms = Terms(least, most, 1, max_restart, TIMEOUT, TTL)
        self.now, self.got = 0.0, {}
        self.membership = Membership(self.terms, self.now)

    def ready(self, *nodes: int, processes: int = 1, **more) -> Told:
        for who in nodes:
            terms = [self.terms.least, self.terms.most, processes]
            card = {"terms": terms, "rank": -1, "host": "h", "ports": [1, 100 + who]}
            card |= {"worlds": 0, "failures": 0, "number": -1, **more}
            self.membership.heard(who, {"say": "ready", "card": card}, self.now)
        return self.after(0.0)

    def say(self, what: str, *nodes: int) -> Told:
        for who in nodes:
            self.membership.heard(who, {"say": what}, self.now)
        return self.after(0.0)

    def lost(self, who: int) -> Told:
        self.membership.lost(who, self.now)
        return self.after(0.0)

    def after(self, seconds: float, *living: int) -> Told:
        """Let time go by, in which these nodes are heard of."""
        self.now += seconds
        self.say("here", *living) if living else None
        self.membership.tick(self.now)
        for who, word in self.membership.said:
            if word["say"] != "here":
                self.got.setdefault(who, []).append(word)
        self.membership.said.clear()
        return self

    def later(self, *living: int) -> Told:
        """As long as a job that begins waits for more nodes."""
        return [self.after(TIMEOUT / 3, *living) for _ in range(3)][-1]

    def heard(self, who: int) -> list[str]:
        return [w["say"] for w in self.got.get(who, [])]

    def last(self, who: int) -> dict:
        return self.got[who][-1]

    def sizes(self) -> set[int]:
        """The sizes of worlds that nodes were last told of."""
        return {w["place"][4] for words in self.got.values() for w in words[-1:] if w["say"] == "world"}


def test_a_full_world_begins_at_once_and_a_smaller_one_after_a_time():
    assert Told(2, 3).ready(1, 2, 3).sizes() == {3}
    found = Told(2, 3).ready(1, 2)
    assert found.after(14, 1, 2).after(14, 1, 2).sizes() == set()
    assert found.after(2, 1, 2).sizes() == {2}


def test_nodes_have_places_by_rank_then_as_before_then_as_they_came():
    found = Told(4, 4).ready(1).ready(2, number=0, worlds=3).ready(3, rank=0).ready(4)
    assert [found.last(who)["place"][3] for who in (3, 2, 1, 4)] == [0, 1, 2, 3]
    assert found.last(1)["worlds"] == 4 and found.last(1)["place"][0] == ["h:103", "h:102", "h:101", "h:104"]


def test_a_newcomer_lets_the_others_save_and_is_taken_in():
    found = Told(2, 4).ready(1, 2).later(1, 2)
    found.ready(3).after(LAST_CALL + 1, 1, 2, 3)
    assert found.heard(1) == found.heard(2) == ["world", "regroup"] and found.heard(3) == []
    assert found.ready(1, 2).after(LAST_CALL).sizes() == {3}


def test_a_node_that_is_gone_ends_the_world_and_is_no_failure():
    found = Told(2, 3, max_restart=0).ready(1, 2, 3).lost(2)
    assert found.heard(1) == ["world", "end"]
    found.say("failed", 3).ready(1, 3)
    found.after(LAST_CALL, 1, 3)
    assert found.last(1)["place"][4] == 2 and found.last(1)["failures"] == 0


def test_a_spare_takes_the_place_of_a_node_at_once():
    found = Told(2, 2).ready(1, 2, 3)
    assert found.heard(3) == []
    assert found.lost(1).ready(2).sizes() == {2} and found.heard(3) == ["world"]


def test_failures_are_counted_once_for_all_and_end_the_job():
    found = Told(2, 2).ready(1, 2).say("failed", 1, 2).ready(1, 2)
    assert found.last(1)["failures"] == 1
    found.say("failed", 1).ready(1, 2)
    assert found.last(2)["say"] == "over" and found.last(2)["code"] == 1
    assert found.last(2)["why"] == "the job has failed 2 times; --max_restart is 1"


def test_a_job_is_done_when_all_are():
    found = Told(2, 2).ready(1, 2).say("done", 1)
    assert found.heard(1) == ["world"]
    assert found.say("done", 2).last(1) == found.last(2) == {"say": "over", "code": 0, "why": ""}
    assert found.ready(3).heard(3) == ["over"]  # too late


def test_a_node_that_leaves_after_a_failure_is_waited_for():
    found = Told(2, 2, max_restart=0).ready(1, 2).say("failed", 2).say("leave", 2).ready(1)
    assert found.heard(1) == ["world", "end"]
    assert found.ready(3).sizes() == {2} and found.last(1)["failures"] == 0


def test_who_is_done_begins_again_with_one_that_has_failed():
    found = Told(2, 2).ready(1, 2).say("done", 1).say("failed", 2)
    assert found.heard(1) == ["world", "end"]
    assert found.ready(1, 2).sizes() == {2}


def test_too_few_nodes_are_waited_for_and_not_for_ever():
    found = Told(2, 3).ready(1)
    for _ in range(31):
        found.after(10, 1)
    assert "1 of at least 2 nodes are here, and no other has come for 300 s" in found.last(1)["why"]
    assert found.last(1)["code"] == 101


def test_a_silent_node_is_taken_for_dead():
    found = Told(1, 2).ready(1, 2)
    found.after(TTL - 1, 1).after(2, 1)
    assert found.heard(2) == ["world", "lost"] and found.heard(1) == ["world", "end"]


def test_launchers_agree_on_a_secret_that_they_do_not_send(monkeypatch):
    """Words between nodes are authenticated, and not encrypted."""
    monkeypatch.setenv("PADDLE_JOB_KEY", "a secret")
    told = Told(2, 2).ready(1, 2)
    one, two = (Link("127.0.0.1:1", "job", told.terms) for _ in range(2))
    assert told.last(1)["salt"] == told.last(2)["salt"]
    secret = one.secret_of(told.last(1)["salt"])
    assert secret == two.secret_of(told.last(2)["salt"]) and secret not in json.dumps(told.got)
    told.ready(1, 2).say("failed", 1, 2).ready(1, 2)
    assert one.secret_of(told.last(1)["salt"]) != secret


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"processes": 2}, "this node has --nproc_per_node 2, and those that are here have 1"),
        ({"terms": [1, 2, 1]}, "this node has --nnodes 1:2, and those that are here have 2:3"),
    ],
)
def test_launchers_that_want_something_else_are_told(other, message):
    found = Told(2, 3).ready(1, 2).ready(3, **other)
    assert found.last(3)["say"] == "no" and message in found.last(3)["why"]
    assert found.later(1, 2).sizes() == {2}


# -- what programs ask -------------------------------------------------------------------------------------------------
def test_a_batch_is_shared_equally_or_not_at_all(monkeypatch):
    assert elastic.local_batch(7) == 7 and elastic.learning_rate_scale() == 1.0
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "3")
    monkeypatch.setenv("PADDLE_MASTER", "127.0.0.1:1")
    monkeypatch.setenv("PADDLE_ELASTIC_NP", "2:4")
    monkeypatch.setenv("PADDLE_ELASTIC_FULL_SIZE", "4")
    assert elastic.local_batch(12) == 4 and elastic.learning_rate_scale() == 0.75
    with pytest.raises(
        ValueError, match="is 8, which 3 processes cannot share equally; choose one that .* 2:4 divides"
    ):
        elastic.local_batch(8)


SAVES = """
import os, signal, sys
import paddle_lite_py as paddle
from paddle_lite_py.distributed import elastic
for step in range(10**9):
    if step == 1: print("listening", flush=True); sys.stdin.readline()
    if elastic.should_stop(): print("saved", flush=True); sys.stdin.readline(); elastic.leave()
"""


@pytest.mark.parametrize(("again", "code"), [(False, 101), (True, -signal.SIGTERM)], ids=["once", "twice"])
def test_sigterm_lets_a_program_save_and_a_second_one_ends_it(again, code):
    env = {**os.environ, "PYTHONPATH": str(house.ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SAVES], text=True, env=env, **pipes) as running:
        assert running.stdout.readline() == "listening\n"
        running.send_signal(signal.SIGTERM)
        running.stdin.write("\n")
        running.stdin.flush()
        assert running.stdout.readline() == "saved\n"
        if again:
            running.send_signal(signal.SIGTERM)
        else:
            running.stdin.write("\n")
            running.stdin.flush()
        assert running.wait(60) == code
        assert "SIGTERM: stopping after this step" in running.stderr.read()


# -- command lines -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--nnodes", "4:2"], "--nnodes is '4:2'; expected the least number of nodes first, as in 2:4"),
        (["--nnodes", "two"], "--nnodes is 'two'; expected a number, or two as in 2:4"),
        (["--nnodes", "0"], "--nnodes is '0'"),
        (["--nnodes", "2:4"], "--nnodes is 2:4; give --master host:port"),
        (["--nnodes", "2", "--master", "host"], "--master is 'host'; give --master host:port"),
        (["--nnodes", "2:4", "--master", "etcd://h:1"], "launchers meet at host:port of one of them, without etcd"),
    ],
)
def test_command_lines_that_make_no_sense(capsys, words, message):
    with pytest.raises(SystemExit) as caught:
        launch([*words, "train.py"])
    assert caught.value.code == 2 and message in capsys.readouterr().err


@pytest.fixture
def job(tmp_path):
    made = []

    def one(*args, **options):
        made.append(ElasticJob(tmp_path / str(len(made)), *args, **options))
        return made[-1]

    yield one
    for each in made:
        each.close()


def script(tmp_path, text):
    """A program that takes no seconds to begin."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return [str(program)]


def test_nobody_answers(capsys):
    master = f"localhost.invalid:{free_ports(1)[0]}"
    with pytest.raises(SystemExit) as caught:
        launch(["--nnodes", "2:2", "--master", master, "--elastic_timeout", "0.02", "train.py"])
    assert caught.value.code == 101 and f"no answer from --master {master}" in capsys.readouterr().err


def test_restarts_that_are_used_up(tmp_path, job):
    found = job("2:2", 1, max_restart=1)
    found.program = script(tmp_path, "echo batch 3 is empty; exit 3")
    found.start("a", "b")
    assert set(found.ended().values()) <= {1, 3}, found.everything()  # 1: ended because of the other node
    said = found.everything()
    assert "has failed (exit code 3); the last lines of" in said and "batch 3 is empty" in said
    assert said.count("the job has failed 2 times; --max_restart is 1") == 2


def test_launchers_that_do_not_fit(tmp_path, job):
    found = job("2:3", 1)
    found.program = script(tmp_path, "exec sleep 600")
    found.start("a")
    while not (found.folder / "alive.a").exists():
        assert found.running["a"].poll() is None, found.everything()
        time.sleep(0.02)
    found.start("b", options=("--nproc_per_node", "2"))
    found.start("c", options=("--job_id", "other"))
    assert found.running["b"].wait(60) == 2 and "this node has --nproc_per_node 2" in found.said("b")
    assert found.running["c"].wait(60) == 2 and "another job is led" in found.said("c")
    found.ask("a")
    assert found.running["a"].wait(60) == 101  # nothing runs that could be lost


def test_at_level_0_a_node_that_fails_ends_and_another_takes_its_place(tmp_path, job, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = job("2:2", 1, elastic_level=0)
    fails = "[ $PADDLE_TRAINER_ID = 1 ] && mkdir tried && exit 3"
    found.program = script(tmp_path, f"{fails}\n[ $PADDLE_ELASTIC_RESTARTS = 1 ] || exec sleep 600")
    found.start("a", "b")
    while 3 not in (codes := {n: p.poll() for n, p in found.running.items()}).values():
        assert set(codes.values()) == {None}, found.everything()
        time.sleep(0.02)
    ended = next(name for name, code in codes.items() if code == 3)
    found.start("c")
    assert set(found.ended().values()) == {0, 3} and found.running[ended].returncode == 3, found.everything()
    assert "--elastic_level is 0: this node ends" in found.said(ended)


def test_elastic_jobs_by_the_names_of_fleet(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    fleet = paddle.distributed.fleet.elastic
    program = script(tmp_path, "echo trained in $PADDLE_TRAINERS_NUM; exit 0")
    args = SimpleNamespace(elastic_server="127.0.0.1:1", job_id="digits", np=None, training_script=program[0])
    with pytest.raises(ValueError, match="elastic_server, job_id and np are needed"):
        fleet.launch_elastic(args, None)
    monkeypatch.setenv("PADDLE_ELASTIC_NP", "1")
    assert fleet.ElasticManager(args).elastic_level == fleet.ElasticLevel.FAULT_TOLERANCE
    with pytest.raises(SystemExit) as caught:
        fleet.launch_elastic(args, None)
    assert caught.value.code == 0 and "trained in 1" in capsys.readouterr().out
    assert fleet.ELASTIC_EXIT_CODE == elastic.RESTART_CODE == 101


NOTED = "echo $$ > pid.tmp; mv pid.tmp pid;"


def when_noted(folder, then):
    """Call a function with the process id that a program has noted."""

    def wait():
        while not (folder / "pid").exists():
            time.sleep(0.02)
        then(int((folder / "pid").read_text()))

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    return waiting


def test_a_program_that_does_not_heed_the_signal_is_ended_after_the_grace(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jobs, "SAVING", 0.2)
    program = script(tmp_path, f"trap '' TERM; {NOTED} while true; do sleep 0.1; done")
    when_noted(tmp_path, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(SystemExit) as caught:
        launch(program)
    assert caught.value.code == 137
    assert "rank 0 told to stop, still running after 0.2 s (PADDLE_ELASTIC_GRACE)" in capsys.readouterr().err


def test_processes_do_not_outlive_a_launcher_that_is_killed(tmp_path, job, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, pids = job("1", 1), []
    found.program = script(tmp_path, f"{NOTED} exec sleep 600")
    found.start("a")
    when_noted(tmp_path, pids.append).join(60)
    found.kill("a")
    end = time.monotonic() + 60
    while running(pids[0]):
        assert time.monotonic() < end
        time.sleep(0.02)


def running(pid):
    """Whether a process does something; one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# -- real training -----------------------------------------------------------------------------------------------------
@pytest.mark.repeat
def test_a_job_goes_on_without_its_first_node_and_with_a_new_one(job):
    found = job("1:2", 100, 0.3)
    found.start("a", "b")
    found.until(size=2, step=2)
    when = found.kill(found.launcher_of_rank(0))
    found.until(size=1, step=0, after=when)
    found.start("c")
    found.until(size=2, step=0, after=when)
    found.hurry()
    assert set(found.ended().values()) == {0}, found.everything()
    assert {e["restarts"]: e["size"] for e in found.events("begun")} == {0: 2, 1: 1, 2: 2}
    assert found.events("begun")[-1]["step"] == found.events("left")[0]["step"] + 1  # the late one has cost no step
    assert sorted(found.losses()) == list(range(100))


def test_model_fit_saves_when_it_is_asked_to_end(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(house.ROOT)}
    command = [sys.executable, str(house.ROOT / "tests" / "helpers" / "resumed_training.py"), str(tmp_path), "fit"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as running:
        while not list(tmp_path.glob("checkpoint-*")):
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 101, running.stderr.read()
    assert paddle.hapi.Checkpoints(tmp_path).restore()["batches"] > 0


def test_a_folder_that_cannot_be_written_is_told_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    net = paddle.nn.Linear(1, 1)
    model = paddle.Model(net)
    model.prepare(paddle.optimizer.SGD(0.1, parameters=net.parameters()), paddle.nn.MSELoss())
    with pytest.raises(OSError, match="no checkpoint can be written into the folder .*give another one"):
        model.fit([(paddle.ones([1]), paddle.ones([1]))], verbose=0, resume=tmp_path / "file" / "kept")
