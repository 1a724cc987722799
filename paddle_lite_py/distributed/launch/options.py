"""The options of the launcher."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from typing import Any

from .terms import add_elastic

# Accepted for programs that give them, without a meaning for XLA: (flag, why).
_UNUSED = {
    "--log_level": "the launcher says what fails, and nothing else",
    "--sort_ip": "nodes are in the order in which they come, or as --rank says",
    "--start_port": "ports are those that are free",
    "--enable_gpu_log": "the launcher says what fails, and nothing else",
    "--log_overwrite": "logs of a new job take the place of those of the last",
    "--with_gloo": "XLA carries all exchanges",
    "--gloo_port": "XLA carries all exchanges",
    "--legacy": "there is one launcher",
    "--auto_parallel_config": "ranks have the order of the nodes and their processes; the program makes the mesh",
    "--auto_cluster_config": "auto_tuner takes the machine as an argument",
}
_NO_MODES = {"ps-heter": "workers of a job with servers all do the same; take ps"}


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    found = argparse.ArgumentParser(
        prog="python -m paddle_lite_py.distributed.launch",
        description="Start a program in several processes, and end them together.",
    )
    add = found.add_argument
    add("--master", help="host:port where the launchers of several nodes meet")
    add("--nnodes", default="1", help="how many nodes, as 4 or 2:4")
    add("--rank", type=int, default=-1, help="the number of this node; by default as they come")
    add("--nproc_per_node", type=int, help="processes of this node; by default one for each device")
    add("--devices", "--gpus", "--xpus", "--npus", help="the devices of this node, as 0,1,2")
    add("--ips", help="addresses of the nodes, instead of --nnodes; the first is the master's")
    add("--host", help="the address of this node")
    add("--log_dir", default="log", help="a log for each process")
    add("--job_id", default="default", help="a name for the job")
    add("--auto_tuner_json", help="a file that says which parallel settings to try, one after the other")
    add_elastic(found)
    add("--run_mode", help="collective, or ps: with servers that keep parameters")
    add("--server_num", type=int, default=0, help="servers of this node")
    add("--trainer_num", "--worker_num", type=int, default=0, help="workers of this node, which train with servers")
    add("--servers", default="", help="addresses of all servers, instead of --server_num")
    add("--trainers", "--workers", default="", help="addresses of all workers, instead of --trainer_num")
    for flag in _UNUSED:
        add(flag, help=argparse.SUPPRESS)
    add("-m", dest="module", action="store_true", help="the program is a module, as in python -m")
    add("training_script", help="the program")
    add("training_script_args", nargs=argparse.REMAINDER)
    return found


def parse(known: argparse.ArgumentParser, argv: Sequence[str] | None, defaults: dict[str, Any]) -> argparse.Namespace:
    """Parse the command line.

    Arguments:
        known: the options.
        argv: the command line; that of this process by default.
        defaults: what counts where it says nothing.

    Raises:
        ValueError: if an option is unknown, or its value.
    """
    known.set_defaults(**defaults)
    given, unknown = known.parse_known_args(argv)
    options = [f"--{name}" for name in vars(given) if name != "training_script_args"]
    if unknown:
        word = unknown[0].partition("=")[0]
        near = difflib.get_close_matches(word, options, 1)
        raise ValueError(
            f"{word} is no option of the launcher"
            + (f"; did you mean {near[0]}?" if near else "")
            + " Options of the program stand after its name"  # fmt: skip
        )
    if given.run_mode not in (None, "collective", "ps"):
        raise ValueError(f"--run_mode is {given.run_mode!r}: {_NO_MODES.get(given.run_mode, 'take collective or ps')}")
    for flag, why in _UNUSED.items():
        if getattr(given, flag[2:]) is not None:
            print(f"launch: {flag} has no effect: {why}", file=sys.stderr)
    return given
