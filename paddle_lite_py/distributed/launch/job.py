"""The processes of one node: started, watched, and ended together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..spawning import variables
from .meeting import NodePlace

# Seconds in which the others may notice that a process has failed, and say so in their logs.
NOTICE = 6.0
# Seconds between the word that a process is to end, and its end.
GRACE = 3.0
# Lines of the log of a process that failed.
SHOWN = 20


class ProcessPlan(NamedTuple):
    """One process of a job: what it is called, the name of its log, and what its environment has besides."""

    name: str
    log: str
    env: dict[str, str]


class Job(NamedTuple):
    """What each process runs, and which there are on this node, whose place and whose secret they are told."""

    command: list[str]
    tasks: Callable[[NodePlace, str], list[ProcessPlan]]
    log_dir: str
    id: str
    max_restart: int


class Worker(NamedTuple):
    """A process, and its log."""

    task: ProcessPlan
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def serves(self) -> bool:
        """Whether it is there for others, and ends after them."""
        return self.task.env["TRAINING_ROLE"] == "PSERVER"


def ranks(processes: int, devices: list[str]) -> Callable[[NodePlace, str], list[ProcessPlan]]:
    """The processes of a node that train together: what each is told."""

    def tasks(node: NodePlace, key: str) -> list[ProcessPlan]:
        made = []
        for local in range(processes):
            rank = node.first + local
            told = variables(rank, node.endpoints, node.master, local, processes, node.number, node.nodes)
            if node.nodes == 1:
                told["PADDLE_JOB_KEY"] = key
            if devices:
                told |= {"FLAGS_selected_gpus": devices[local], "CUDA_VISIBLE_DEVICES": devices[local]}
            made.append(ProcessPlan(f"rank {rank}", f"workerlog.{local}", told))
        return made

    return tasks


def run(job: Job, meet: Callable[[int], NodePlace]) -> int:
    """Run a job, again where it fails and may; its exit code.

    Arguments:
        job: what to run.
        meet: gives this node's place among all, for each attempt.
    """
    key = uuid.uuid4().hex
    for attempt in range(job.max_restart + 1):
        code = _attempt(job, meet(attempt), key)
        if code == 0 or attempt == job.max_restart:
            return code
        print(f"launch: attempt {attempt + 1} of {job.max_restart + 1} has failed; beginning again", file=sys.stderr)
    return code


def _attempt(job: Job, node: NodePlace, key: str) -> int:
    workers: list[Worker] = []
    before = signal.signal(signal.SIGTERM, _interrupted)
    try:
        for task in job.tasks(node, key):
            workers.append(_start(job, task))
        return _watch(workers)
    except KeyboardInterrupt:
        print("launch: interrupted; ending all processes", file=sys.stderr)
        return 130
    finally:
        _end(workers)
        signal.signal(signal.SIGTERM, before)


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def _start(job: Job, task: ProcessPlan) -> Worker:
    folder = Path(job.log_dir)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / task.log
    env = {**os.environ, **task.env, "PADDLE_JOB_ID": job.id}
    with log.open("wb") as out:
        process = subprocess.Popen(job.command, env=env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    return Worker(task, process, log)


def _watch(workers: list[Worker]) -> int:
    """Show the log of the first that trains until all have ended, or one has failed; the exit code.

    Servers that outlive all workers of a job are ended: a program need not tell them.
    """
    trained = [w for w in workers if not w.serves]
    alone = all(w.task.env.get("PADDLE_NNODES", "1") == "1" for w in workers)
    with (trained or workers)[0].log.open("rb") as log:
        while True:
            codes = [w.process.poll() for w in workers]
            _show(log.read())
            failed = [w for w, code in zip(workers, codes, strict=True) if code]
            if failed:
                _wait(workers, NOTICE)
                return _told(_culprit(failed))
            if trained and alone and all(w.process.poll() == 0 for w in trained):
                _wait(workers, NOTICE)
                codes = [w.process.poll() or 0 for w in workers]
            if all(code == 0 for code in codes):
                _show(log.read())
                return 0
            time.sleep(0.1)


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


def _told(worker: Worker) -> int:
    code = worker.process.returncode
    why = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    print(
        f"launch: {worker.task.name} has failed ({why}); the last lines of {worker.log}:\n{_tail(worker)}",
        file=sys.stderr,
        flush=True,
    )
    return code if code > 0 else 128 - code


def _end(workers: list[Worker]) -> None:
    """End all processes that still run, and what they have started."""
    running = [w for w in workers if w.process.poll() is None]
    for w in running:
        _signal(w, signal.SIGTERM)
    _wait(running, GRACE)
    for w in workers:
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
