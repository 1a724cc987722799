"""What the command line of the launcher means."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from . import served
from .elastic import run_elastic
from .job import Job, ranks, run
from .meeting import meet
from .terms import add_elastic, elastic_of, node_range

# Accepted for programs that give them, without a meaning for XLA: (flag, why).
_UNUSED = {
    "--log_level": "the launcher says what fails, and nothing else",
    "--sort_ip": "nodes are in the order in which they come, or as --rank says",
    "--start_port": "ports are those that are free",
    "--enable_gpu_log": "the launcher says what fails, and nothing else",
    "--log_overwrite": "logs of a new job take the place of those of the last",
    "--with_gloo": "XLA carries all exchanges",
}
_NODES = os.environ.get("PADDLE_NNODES") or os.environ.get("PADDLE_ELASTIC_NP") or "1"
_JOB = os.environ.get("PADDLE_JOB_ID") or os.environ.get("PADDLE_ELASTIC_JOB_ID") or "default"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(prog="python -m paddle_lite_py.distributed.launch", description=__doc__)
    found.add_argument(
        "--master",
        default=os.environ.get("PADDLE_ELASTIC_SERVER"),
        help="host:port where the launchers of several nodes meet",
    )
    found.add_argument("--nnodes", default=_NODES, help="how many nodes, as 4 or 2:4")
    found.add_argument("--rank", type=int, default=-1, help="the number of this node; by default as they come")
    found.add_argument("--nproc_per_node", type=int, help="processes of this node; by default one for each device")
    found.add_argument("--devices", "--gpus", "--xpus", "--npus", help="the devices of this node, as 0,1,2")
    found.add_argument("--ips", help="addresses of the nodes, instead of --nnodes; the first is the master's")
    found.add_argument("--host", default=os.environ.get("POD_IP"), help="the address of this node")
    found.add_argument("--log_dir", default=os.environ.get("PADDLE_LOG_DIR", "log"), help="a log for each process")
    found.add_argument("--job_id", default=_JOB, help="a name for the job")
    add_elastic(found)
    found.add_argument("--run_mode", choices=("collective", "ps"), help="ps: with servers that keep parameters")
    found.add_argument("--server_num", type=int, default=0, help="servers of this node")
    found.add_argument("--trainer_num", type=int, default=0, help="workers of this node, which train with servers")
    found.add_argument("--servers", default="", help="addresses of all servers, instead of --server_num")
    found.add_argument("--trainers", default="", help="addresses of all workers, instead of --trainer_num")
    for flag in _UNUSED:
        found.add_argument(flag, help=argparse.SUPPRESS)
    found.add_argument("-m", dest="module", action="store_true", help="the program is a module, as in python -m")
    found.add_argument("training_script", help="the program")
    found.add_argument("training_script_args", nargs=argparse.REMAINDER)
    return found


def launch(argv: Sequence[str] | None = None) -> NoReturn:
    """Start the program that the command line names in each process, and exit with its code.

    Arguments:
        argv: the command line; that of this process by default.
    """
    arguments = parser()
    given = arguments.parse_args(argv)
    for flag, why in _UNUSED.items():
        if getattr(given, flag[2:]) is not None:
            print(f"launch: {flag} has no effect: {why}", file=sys.stderr)
    ips = given.ips.split(",") if given.ips else []
    if ips:
        given.nnodes = str(len(ips))
    master = given.master or (f"{ips[0]}:6070" if ips else "")
    try:
        count, tasks = _tasks(given)
        elastic = elastic_of(given, master, count)
    except ValueError as e:
        arguments.error(str(e))
    job = Job(_command(given), tasks, given.log_dir, given.job_id, given.max_restart)
    if elastic is not None:
        sys.exit(run_elastic(job, elastic))
    nodes = node_range(given.nnodes)[1]
    sys.exit(run(job, lambda attempt: meet(master, nodes, given.rank, count, given.host, job.id, attempt)))


def _tasks(given: argparse.Namespace) -> tuple[int, Any]:
    """How many addresses this node needs, and what it runs.

    Raises:
        ValueError: if what is given does not go together.
    """
    asked = bool(given.server_num or given.trainer_num or given.servers or given.trainers)
    if given.run_mode == "ps" or (asked and given.run_mode is None):
        if given.elastic_level > 0 or ":" in given.nnodes:
            raise ValueError("nodes of a job with servers cannot come and go: give --nnodes as one number")
        if bool(given.servers) != bool(given.trainers):
            raise ValueError("give both --servers and --trainers, each as host:port,host:port, or numbers of them")
        if given.servers:
            return 1, served.tasks_at(given.servers.split(","), given.trainers.split(","), given.host)
        servers, trainers = given.server_num or 1, given.trainer_num or 1
        return servers + trainers, served.tasks(servers, trainers)
    if asked:
        raise ValueError("--run_mode is collective, but servers or trainers are given; say --run_mode ps")
    devices = given.devices.split(",") if given.devices else []
    count = given.nproc_per_node or len(devices) or 1
    if devices and len(devices) < count:
        raise ValueError(f"--nproc_per_node is {count}, but --devices names {len(devices)}")
    return count, ranks(count, devices)


def _command(given: argparse.Namespace) -> list[str]:
    script = [given.training_script, *given.training_script_args]
    is_program = given.module or given.training_script.endswith(".py")
    if not is_program and os.access(given.training_script, os.X_OK):
        return script
    return [sys.executable, "-u", "-m", "paddle_lite_py", "run", *["-m"] * given.module, *script]
