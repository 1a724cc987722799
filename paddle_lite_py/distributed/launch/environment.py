"""The variables of the environment that stand for options of the launcher, where the command line says nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

# The environment variables of each process of a job.
INSIDE = "PADDLE_LAUNCH_INSIDE"

# By option: its environment variables, of which the first that is set counts, and their types.
# PADDLE_ELASTIC_* are those of ElasticManager; _TOLERANC_ is spelled so in the reference.
VARIABLES: dict[str, tuple[Callable[[str], Any], str]] = {
    "master": (str, "PADDLE_MASTER PADDLE_ELASTIC_SERVER"),
    "nnodes": (str, "PADDLE_NNODES PADDLE_ELASTIC_NP"),
    "rank": (int, "PADDLE_RANK PADDLE_TRAINER_ID"),
    "nproc_per_node": (int, "PADDLE_NPROC_PER_NODE"),
    "devices": (str, "PADDLE_DEVICES"),
    "ips": (str, "PADDLE_IPS"),
    "host": (str, "POD_IP"),
    "log_dir": (str, "PADDLE_LOG_DIR"),
    "job_id": (str, "PADDLE_JOB_ID PADDLE_ELASTIC_JOB_ID"),
    "max_restart": (int, "PADDLE_MAX_RESTART"),
    "elastic_level": (int, "PADDLE_ELASTIC_LEVEL PADDLE_ELASTIC_FAULT_TOLERANC_LEVEL"),
    "elastic_timeout": (float, "PADDLE_ELASTIC_TIMEOUT"),
    "run_mode": (str, "PADDLE_RUN_MODE"),
    "server_num": (int, "PADDLE_SERVER_NUM"),
    "trainer_num": (int, "PADDLE_TRAINER_NUM"),
    "servers": (str, "PADDLE_SERVERS_ENDPOINTS"),
    "trainers": (str, "PADDLE_TRAINERS_ENDPOINTS"),
}


def defaults(environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the options that the environment gives, by name.

    A process of a job that starts a launcher itself has the environment of that job: it says nothing of the new one.

    Arguments:
        environment: that of this process by default.

    Raises:
        ValueError: if a variable holds something else than its option takes.

    Examples:
        >>> defaults({"PADDLE_NNODES": "2", "PADDLE_ELASTIC_NP": "4", "PADDLE_RANK": "1", "PADDLE_IPS": ""})
        {'nnodes': '2', 'rank': 1}
        >>> defaults({"PADDLE_NNODES": "2", INSIDE: "1"})
        {}
    """
    known = os.environ if environment is None else environment
    if known.get(INSIDE):
        return {}
    found = {}
    for option, (kind, names) in VARIABLES.items():
        name = next((n for n in names.split() if known.get(n)), None)
        if name is None:
            continue
        try:
            found[option] = kind(known[name])
        except ValueError:
            raise ValueError(f"{name} is {known[name]!r}; expected a number, as --{option} takes it") from None
    return found
