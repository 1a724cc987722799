"""The processes of one node: started, watched, and ended together."""

from __future__ import annotations

import math
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..elastic import RESTART_CODE, SERVER_FOLDER, WORKER_FOLDER
from ..spawning import variables
from .asked import alive, catch_sigterm
from .environment import INSIDE
from .meeting import NodePlace

# Seconds in which the others may notice that a process has failed, and say so in their logs.
NOTICE = 6.0
# Seconds between the word that a process is to end, and its end.
GRACE = 3.0
# Lines of the log of a process that failed.
SHOWN = 20
# Seconds that processes have to save after SIGTERM; less than the 30 that Kubernetes gives a pod.
SAVING = float(os.environ.get("PADDLE_ELASTIC_GRACE") or 25)
# Ends a process with its launcher, which may be killed.
BOUND = Path(__file__).with_name("bound.py")


class Process(NamedTuple):
    """One process of a job: what it is called, the name of its log, and what its environment has besides."""

    name: str
    log: str
    env: dict[str, str]


class Job(NamedTuple):
    """The command of each process, and the processes of this node with their addresses and secret."""

    command: list[str]
    tasks: Callable[[NodePlace, str], list[Process]]
    log_dir: str
    id: str
    max_restart: int


class UnreapedProcess(subprocess.Popen[bytes]):
    """A process that poll() does not reap: until wait() does, the system gives its id, and its group's, to no other."""

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        if self.returncode is not None or not hasattr(os, "waitid"):
            return super().poll()
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


class Worker(NamedTuple):
    """A process, and its log."""

    task: Process
    process: UnreapedProcess
    log: Path

    @property
    def serves(self) -> bool:
        """Whether it is there for others, and ends after them."""
        return self.task.env.get("TRAINING_ROLE") == "PSERVER"

    @property
    def comes_back(self) -> bool:
        """Whether it is what it was when it is started again, and the others wait for it meanwhile.

        A worker whose program fails would fail again: only one that is killed comes back.
        """
        if self.serves:
            return bool(os.environ.get(SERVER_FOLDER))
        return WORKER_FOLDER in self.task.env and (self.process.poll() or 0) < 0


def ranks(processes: int, devices: list[str]) -> Callable[[NodePlace, str], list[Process]]:
    """Return the environment of each process of a node that trains together."""

    def tasks(node: NodePlace, key: str) -> list[Process]:
        made = []
        for local in range(processes):
            rank = node.first + local
            told = variables(rank, node.endpoints, node.master, local, processes, node.number, node.nodes)
            if node.nodes == 1:
                told["PADDLE_JOB_KEY"] = key
            if devices:
                told |= {"FLAGS_selected_gpus": devices[local], "CUDA_VISIBLE_DEVICES": devices[local]}
            made.append(Process(f"rank {rank}", f"workerlog.{local}", told))
        return made

    return tasks


def run(job: Job, meet: Callable[[int], NodePlace]) -> int:
    """Run a job, again where it fails and may; its exit code.

    Arguments:
        job: what to run.
        meet: gives this node's place among all, for each attempt.
    """
    key = secrets.token_hex(32)
    for attempt in range(job.max_restart + 1):
        place = meet(attempt)
        with catch_sigterm() as asked:
            code = run_once(job, job.tasks(place, key), asked)
        if code == 0 or asked() or attempt == job.max_restart:
            return code
        print(f"launch: attempt {attempt + 1} of {job.max_restart + 1} has failed; beginning again", file=sys.stderr)
    return code


def run_once(job: Job, tasks: list[Process], asked: Callable[[], str]) -> int:
    """Run the processes of this node once; the exit code.

    Arguments:
        tasks: which they are.
        asked: "stop" if they are to save and stop, "end" if they are to end at once.
    """
    with tempfile.TemporaryDirectory(prefix="workers-") as folder:
        return _run_tasks(job, [_noting(t, folder) for t in tasks] if job.max_restart else tasks, asked)


def _run_tasks(job: Job, tasks: list[Process], asked: Callable[[], str]) -> int:
    workers: list[Worker] = []
    try:
        for task in tasks:
            workers.append(_start(job, task))
        return _watch(job, workers, asked)
    except KeyboardInterrupt:
        print("launch: interrupted; ending all processes", file=sys.stderr)
        return 130
    finally:
        _end(workers, 0.0 if asked() else GRACE)


def _noting(task: Process, folder: str) -> Process:
    """Give a worker of parameter servers its log folder; other processes are unchanged."""
    if task.env.get("TRAINING_ROLE") != "TRAINER" or "PADDLE_PSERVERS_IP_PORT_LIST" not in task.env:
        return task
    return task._replace(env={**task.env, WORKER_FOLDER: folder})


def _start(job: Job, task: Process, again: bool = False) -> Worker:
    folder = Path(job.log_dir)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / task.log
    env = {**os.environ, **task.env, "PADDLE_JOB_ID": job.id, INSIDE: "1"}
    command = [sys.executable, "-S", "-E", str(BOUND), str(os.getpid()), *job.command]
    with log.open("ab" if again else "wb") as out:
        process = UnreapedProcess(command, env=env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    return Worker(task, process, log)


def _watch(job: Job, workers: list[Worker], asked: Callable[[], str]) -> int:
    """Show the log of the first that trains until all have ended, or one has failed; the exit code.

    Servers that outlive all workers of a job are ended: a program need not tell them. What fails and comes back is
    started again, as often as a job may fail.
    """
    limit, spare = math.inf, job.max_restart
    alone = all(w.task.env.get("PADDLE_NNODES", "1") == "1" for w in workers)
    with next((w for w in workers if not w.serves), workers[0]).log.open("rb") as log:
        while True:
            trained = [w for w in workers if not w.serves]
            codes = [w.process.poll() for w in workers]
            _show(log.read())
            allowed = (None, 0, RESTART_CODE) if limit == math.inf else (None, 0, RESTART_CODE, -signal.SIGTERM)
            failed = [w for w, code in zip(workers, codes, strict=True) if code not in allowed]
            if failed and not asked() and len(failed) <= spare and _come_back(failed, workers):
                spare -= len(failed)
                workers[:] = [_again(job, w) if w in failed else w for w in workers]
                continue
            if failed:
                _wait(workers, 0.0 if asked() == "end" else NOTICE)
                return _report_failure(_culprit([w for w in workers if w.process.poll() not in allowed]))
            if asked() == "end":
                return 128 + signal.SIGTERM
            if len(trained) < len(workers) and alone and trained and all(w.process.poll() == 0 for w in trained):
                _wait(workers, NOTICE)
                codes = [w.process.poll() or 0 for w in workers]
            if None not in codes:
                _show(log.read())
                return next((c if c > 0 else 128 - c for c in codes if c), 0)
            if asked() and limit == math.inf:
                limit = time.monotonic() + SAVING
                _ask(workers)
            if time.monotonic() > limit:
                return _too_late(workers)
            alive()
            time.sleep(0.1)


def _come_back(failed: list[Worker], workers: list[Worker]) -> bool:
    """Whether those that have failed go on when they are started again; workers do while all servers of theirs run."""
    ended = any(w.serves and w.process.poll() == 0 for w in workers)
    return all(w.comes_back and (w.serves or not ended) for w in failed)


def _again(job: Job, worker: Worker) -> Worker:
    print(f"launch: {worker.task.name} has failed ({_why(worker)}); starting it again", file=sys.stderr, flush=True)
    _end([worker], 0.0)
    return _start(job, worker.task, again=True)


def _ask(workers: list[Worker]) -> None:
    """Ask processes to save and leave; not what they have started, which they need to do so."""
    for w in workers:
        if w.process.poll() is None:
            w.process.send_signal(signal.SIGTERM)


def _too_late(workers: list[Worker]) -> int:
    late = [w.task.name for w in workers if w.process.poll() is None]
    print(
        f"launch: {', '.join(late)} told to stop, still running after {SAVING:g} s (PADDLE_ELASTIC_GRACE); "
        "ending them, what was saved before stays",
        file=sys.stderr,
    )
    return 128 + signal.SIGKILL


def _show(text: bytes) -> None:
    if text:
        sys.stdout.write(text.decode(errors="replace"))
        sys.stdout.flush()


def _culprit(failed: list[Worker]) -> Worker:
    """Of those that failed, one whose log does not speak of another's end."""
    return next((w for w in failed if "has ended" not in _tail(w)), failed[0])


def _tail(worker: Worker) -> str:
    lines = worker.log.read_text(errors="replace").splitlines()
    return "\n".join(lines[-SHOWN:])


def _why(worker: Worker) -> str:
    code = _code(worker)
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _code(worker: Worker) -> int:
    """Return the exit code of a worker that has ended."""
    return worker.process.poll() or 0


def _report_failure(worker: Worker) -> int:
    code = _code(worker)
    print(
        f"launch: {worker.task.name} has failed ({_why(worker)}); the last lines of {worker.log}:\n{_tail(worker)}",
        file=sys.stderr,
        flush=True,
    )
    return code if code > 0 else 128 - code


def _end(workers: list[Worker], grace: float) -> None:
    """End all processes that still run, and what they have started."""
    running = [w for w in workers if w.process.poll() is None]
    for w in running if grace else ():
        _signal(w, signal.SIGTERM)
    _wait(running, grace)
    for w in workers:
        if w.process.returncode is None:  # not reaped, so that the group is its own
            _signal(w, signal.SIGKILL)
            w.process.wait()


def _wait(workers: list[Worker], seconds: float) -> None:
    """Until all have ended, and no longer than so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(w.process.poll() is None for w in workers):
        time.sleep(0.05)


def _signal(worker: Worker, number: int) -> None:
    try:
        os.killpg(worker.process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass
