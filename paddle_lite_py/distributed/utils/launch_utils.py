"""Starting the processes of a job by hand, as older launchers and tests of packages do; see `distributed.launch`."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    *(
        "Cluster",
        "Pod",
        "Trainer",
        "TrainerProc",
        "add_arguments",
        "find_free_ports",
        "get_cluster",
        "get_host_name_ip",
    ),
    *("get_logger", "logger", "pull_worker_log", "start_local_trainers", "strtobool", "terminate_local_procs"),
    "watch_local_trainers",
]

logger = logging.getLogger("paddle.distributed")


def get_logger(log_level: Any = 20, name: str = "root") -> logging.Logger:
    """Return the logger of that name, at a level."""
    found = logging.getLogger(name)
    found.setLevel(log_level)
    return found


def strtobool(val: str) -> bool:
    """Convert a text such as "yes" or "0" to a boolean.

    Raises:
        ValueError: it says neither.

    Examples:
        >>> strtobool("On"), strtobool("0")
        (True, False)
    """
    if val.lower() in ("y", "yes", "t", "true", "on", "1"):
        return True
    if val.lower() in ("n", "no", "f", "false", "off", "0"):
        return False
    raise ValueError(f"strtobool: {val!r}; expected yes or no, true or false, on or off, 1 or 0")


def add_arguments(argname: str, type: Any, default: Any, help: str, argparser: Any, **kwargs: Any) -> None:
    """Give a parser an option `--argname`."""
    kind = strtobool if type is bool else type
    argparser.add_argument(f"--{argname}", default=default, type=kind, help=f"{help} Default: %(default)s.", **kwargs)


def find_free_ports(num: int) -> set[int]:
    """Ports of this machine that nothing listens at now.

    Examples:
        >>> len(find_free_ports(3))
        3
    """
    held = [socket.socket() for _ in range(num)]
    try:
        for s in held:
            s.bind(("", 0))
        return {s.getsockname()[1] for s in held}
    finally:
        for s in held:
            s.close()


def get_host_name_ip() -> tuple[str, str] | None:
    """Return the name and the address of this machine; None if it knows none."""
    try:
        name = socket.gethostname()
        return name, socket.gethostbyname(name)
    except OSError:
        return None


@dataclass
class Trainer:
    """A process of a job."""

    gpus: list[Any] = field(default_factory=list)
    endpoint: str = ""
    rank: int | None = None

    accelerators = property(lambda self: self.gpus)


@dataclass
class Pod:
    """The processes of one machine."""

    rank: int | None = None
    addr: str = ""
    trainers: list[Trainer] = field(default_factory=list)
    gpus: list[Any] = field(default_factory=list)

    id = property(lambda self: self.rank)


@dataclass
class Cluster:
    """The machines of a job.

    Examples:
        >>> cluster, pod = get_cluster(["a", "b"], "b", ["a:1", "a:2", "b:1", "b:2"], [0, 1])
        >>> cluster.trainers_nranks(), pod.rank, [t.rank for t in pod.trainers], cluster.pods_endpoints()
        (4, 1, [2, 3], ['a:None', 'b:None'])
    """

    hdfs: Any = None
    pods: list[Pod] = field(default_factory=list)

    def trainers_nranks(self) -> int:
        """Return the number of processes."""
        return len(self.trainers_endpoints())

    def pods_nranks(self) -> int:
        """Return the number of machines."""
        return len(self.pods)

    def trainers_endpoints(self) -> list[str]:
        """Where all processes listen."""
        return [t.endpoint for pod in self.pods for t in pod.trainers]

    def pods_endpoints(self) -> list[str]:
        """Return the machines, by address."""
        return [f"{pod.addr}:None" for pod in self.pods]

    def get_pod_by_id(self, pod_id: Any) -> Pod | None:
        """Return the machine of a number."""
        return next((pod for pod in self.pods if str(pod_id) == str(pod.id)), None)


def get_cluster(
    node_ips: Sequence[str], node_ip: str, trainer_endpoints: Sequence[Any], selected_gpus: Sequence[Any]
) -> tuple[Cluster, Pod]:
    """Return the processes of a job, one for each device of each machine, and this machine's.

    Arguments:
        node_ips: the machines.
        node_ip: this one.
        trainer_endpoints: "address:port" of all processes, or a list of them for each machine.
        selected_gpus: the devices of a machine, one for each of its processes.
    """
    flat = [e for part in trainer_endpoints for e in ([part] if isinstance(part, str) else part)]
    each, cluster = len(selected_gpus), Cluster()
    for rank, ip in enumerate(node_ips):
        own = flat[rank * each : (rank + 1) * each]
        trainers = [
            Trainer([device], endpoint, rank * each + i)
            for i, (device, endpoint) in enumerate(zip(selected_gpus, own, strict=True))
        ]
        cluster.pods.append(Pod(rank, ip, trainers, list(selected_gpus)))
    return cluster, cluster.pods[list(node_ips).index(node_ip)]


@dataclass
class TrainerProc:
    """A process that was started, and its log."""

    proc: Any = None
    log_fn: Any = None
    log_offset: int | None = None
    rank: int | None = None
    local_rank: int | None = None
    cmd: Any = None


def start_local_trainers(
    cluster: Cluster,
    pod: Pod,
    training_script: str,
    training_script_args: Sequence[str],
    log_dir: str | None = None,
    envs: dict[str, str] | None = None,
) -> list[TrainerProc]:
    """Start the processes of this machine."""
    started = []
    for local, trainer in enumerate(pod.trainers):
        told = {
            "PADDLE_TRAINER_ID": str(trainer.rank),
            "PADDLE_CURRENT_ENDPOINT": trainer.endpoint,
            "PADDLE_TRAINERS_NUM": str(cluster.trainers_nranks()),
            "PADDLE_TRAINER_ENDPOINTS": ",".join(cluster.trainers_endpoints()),
        }
        if log_dir is not None:
            os.makedirs(log_dir, exist_ok=True)
        log = None if log_dir is None else open(os.path.join(log_dir, f"workerlog.{local}"), "w")  # noqa: SIM115
        cmd = [sys.executable, "-u", training_script, *training_script_args]
        proc = subprocess.Popen(cmd, env={**os.environ, **(envs or {}), **told}, stdout=log, stderr=log)
        started.append(TrainerProc(proc, log, 0 if log else None, trainer.rank, local, cmd))
    return started


def pull_worker_log(tp: TrainerProc) -> None:
    """Print what a process has written to its log since the last time."""
    if tp.log_fn:
        with open(tp.log_fn.name) as log:
            log.seek(tp.log_offset or 0)
            sys.stdout.write(log.read())
            tp.log_offset = log.tell()


def watch_local_trainers(procs: Sequence[TrainerProc], nranks: int) -> bool:
    """Whether some of the processes run still; where one has failed, the others are ended and this one exits.

    Raises:
        SystemExit: a process has failed.
    """
    for p in procs:
        if p.log_fn and p.local_rank == 0:
            pull_worker_log(p)
    codes = [p.proc.poll() for p in procs]
    if failed := [p.rank for p, code in zip(procs, codes, strict=True) if code]:
        logger.error("processes %s of %s have failed", failed, nranks)
        terminate_local_procs(procs)
        sys.exit(1)
    return None in codes


def terminate_local_procs(procs: Iterable[TrainerProc]) -> None:
    """End the processes: by SIGTERM first, and killed after three seconds."""
    alive = [p for p in procs if p.proc.poll() is None]
    for p in alive:
        p.proc.terminate()
    end = time.monotonic() + 3
    for p in alive:
        try:
            p.proc.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.kill(p.proc.pid, signal.SIGKILL)
            p.proc.wait()
    for p in procs:
        if p.log_fn:
            p.log_fn.close()
