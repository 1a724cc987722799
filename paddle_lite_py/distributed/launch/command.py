"""The command line of the launcher."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import served, tuning
from .asked import catch_sigterm
from .elastic import run_elastic
from .environment import defaults
from .job import Job, ranks, run, run_once
from .meeting import meet
from .options import parse, parser
from .terms import elastic_of, node_range


def launch(argv: Sequence[str] | None = None) -> NoReturn:
    """Start the program that the command line names in each process, and exit with its code.

    Arguments:
        argv: the command line; that of this process by default.
    """
    arguments = parser()
    try:
        asked = _choose_action(parse(arguments, argv, defaults()))
    except ValueError as e:
        arguments.error(str(e))
    sys.exit(asked())


def _choose_action(given: argparse.Namespace) -> Callable[[], int]:
    """Return the requested action: a function that runs it and returns the exit code.

    Raises:
        ValueError: if what is given does not go together.
    """
    ips = given.ips.split(",") if given.ips else []
    if ips:
        given.nnodes = str(len(ips))
    master = given.master or (f"{ips[0]}:6070" if ips else "")
    count, tasks = _tasks(given)
    elastic = elastic_of(given, master, count)
    nodes = node_range(given.nnodes)[1]
    if given.auto_tuner_json:
        return _tuning(given, count, tasks, nodes)
    job = Job(_command(given, given.training_script_args), tasks, given.log_dir, given.job_id, given.max_restart)
    if elastic is not None:
        return lambda: run_elastic(job, elastic)
    return lambda: run(job, lambda attempt: meet(master, nodes, given.rank, count, given.host, job.id, attempt))


def _tuning(given: argparse.Namespace, count: int, tasks: Any, nodes: int) -> Callable[[], int]:
    """Return the trials of --auto_tuner_json, each a job of its own."""
    if nodes > 1 or _has_servers(given):
        raise ValueError("--auto_tuner_json: trials run on one node without servers; leave --nnodes and servers away")
    plan = tuning.read(Path(given.auto_tuner_json), _warn)

    def start(words: list[str], logs: Path, name: str, asked: Callable[[], str]) -> int:
        place = meet("", 1, 0, count, given.host, name, 0)
        return run_once(
            Job(_command(given, words), tasks, str(logs), name, 0), tasks(place, secrets.token_hex(32)), asked
        )

    search = tuning.Search(plan, count, given.training_script_args, start)

    def tuned() -> int:
        with catch_sigterm() as asked:
            return search.run(asked)

    return tuned


def _warn(text: str) -> None:
    print(f"launch: {text}", file=sys.stderr)


def _has_servers(given: argparse.Namespace) -> bool:
    asked = bool(given.server_num or given.trainer_num or given.servers or given.trainers)
    if given.run_mode == "collective" and asked:
        raise ValueError("--run_mode is collective, but servers or trainers are given; say --run_mode ps")
    return given.run_mode == "ps" or asked


def _tasks(given: argparse.Namespace) -> tuple[int, Any]:
    """Return the number of addresses that this node needs, and what it runs.

    Raises:
        ValueError: if what is given does not go together.
    """
    if _has_servers(given):
        if given.elastic_level > 0 or ":" in given.nnodes:
            raise ValueError("nodes of a job with servers cannot come and go: give --nnodes as one number")
        if bool(given.servers) != bool(given.trainers):
            raise ValueError("give both --servers and --trainers, each as host:port,host:port, or numbers of them")
        if given.servers:
            return 1, served.tasks_at(given.servers.split(","), given.trainers.split(","), given.host)
        servers, trainers = given.server_num or 1, given.trainer_num or 1
        return servers + trainers, served.tasks(servers, trainers)
    devices = given.devices.split(",") if given.devices else []
    count = given.nproc_per_node or len(devices) or 1
    if devices and len(devices) < count:
        raise ValueError(f"--nproc_per_node is {count}, but --devices names {len(devices)}")
    return count, ranks(count, devices)


def _command(given: argparse.Namespace, arguments: list[str]) -> list[str]:
    script = [given.training_script, *arguments]
    is_program = given.module or given.training_script.endswith(".py")
    if not is_program and os.access(given.training_script, os.X_OK):
        return script
    return [sys.executable, "-u", "-m", "paddle_lite_py", "run", *["-m"] * given.module, *script]
