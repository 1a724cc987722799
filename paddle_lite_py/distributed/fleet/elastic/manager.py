"""Elastic jobs by the names of fleet: what arguments and environment say, and the launcher that runs them."""

from __future__ import annotations

import os
from typing import Any, NoReturn

from ....core.no_effect import Immaterial, no_effect
from ...elastic import RESTART_CODE
from ...launch import launch

ELASTIC_EXIT_CODE = RESTART_CODE
# Seconds that a job which begins waits for more nodes than it needs.
ELASTIC_TIMEOUT = 120


class ElasticLevel:
    """The behaviour of a job that loses a node.

    Examples:
        >>> ElasticLevel.ELASTIC
        2
    """

    FAULT_TOLERANCE = 1
    ELASTIC = 2


class ElasticStatus:
    """How far a job is.

    Examples:
        >>> ElasticStatus.RESTART
        'restart'
    """

    COMPLETED = "completed"
    ERROR = "error"
    HOLD = "hold"
    RESTART = "restart"
    EXIT = "exit"


class ElasticManager:
    """A job whose nodes come and go, as the arguments or PADDLE_ELASTIC_* say.

    Launchers meet at the address of `elastic_server` themselves: the first one there leads, and no etcd is needed.

    Args:
        args: with elastic_server, job_id, np (as 4 or 2:4), host, training_script and training_script_args.
        etcd_client: see docs/differences.md.

    Examples:
        >>> from types import SimpleNamespace
        >>> args = SimpleNamespace(elastic_server="10.0.0.1:6070", job_id="digits", np="2:4", training_script="a.py")
        >>> manager = ElasticManager(args)
        >>> manager.enable, manager.min_np, manager.max_np, manager.elastic_level
        (True, 2, 4, 2)
    """

    @no_effect(etcd_client=Immaterial("launchers meet without it"))
    def __init__(self, args: Any, etcd_client: Any = None) -> None:
        self.args = args
        self.server, self.name, self.np = (_read_setting(args, n) for n in ("elastic_server", "job_id", "np"))
        self.min_np, self.max_np = _parsed(self.np)
        self.host = getattr(args, "host", None) or os.environ.get("POD_IP")
        self.elastic_timeout = int(os.environ.get("PADDLE_ELASTIC_TIMEOUT") or ELASTIC_TIMEOUT)
        self.elastic_level = ElasticLevel.ELASTIC if self.max_np > self.min_np else ElasticLevel.FAULT_TOLERANCE
        self.enable = enable_elastic(args, None)

    def command(self) -> list[str]:
        """Return the command line of the launcher that runs this job."""
        words = ["--master", self.server, "--nnodes", f"{self.min_np}:{self.max_np}", "--job_id", self.name]
        words += ["--elastic_level", str(self.elastic_level), "--elastic_timeout", str(self.elastic_timeout)]
        words += ["--host", self.host] if self.host else []
        return [*words, self.args.training_script, *getattr(self.args, "training_script_args", [])]

    def run(self) -> NoReturn:
        """Run the job through all its worlds, and exit with its code."""
        launch(self.command())


@no_effect(distribute_mode=Immaterial("the program says how it shares work"))
def enable_elastic(args: Any, distribute_mode: Any) -> bool:
    """Whether arguments, or PADDLE_ELASTIC_SERVER, _JOB_ID and _NP, say all that an elastic job needs.

    Args:
        args: with elastic_server, job_id and np.
        distribute_mode: see docs/differences.md.

    Examples:
        >>> from types import SimpleNamespace
        >>> enable_elastic(SimpleNamespace(elastic_server="10.0.0.1:6070", job_id="digits", np=None), None)
        False
    """
    return all(_read_setting(args, name) for name in ("elastic_server", "job_id", "np"))


@no_effect(distribute_mode=Immaterial("the program says how it shares work"))
def launch_elastic(args: Any, distribute_mode: Any) -> NoReturn:
    """Run an elastic job, and exit with its code.

    Args:
        args: as for ElasticManager.
        distribute_mode: see docs/differences.md.

    Raises:
        ValueError: if they do not say all that it needs.
    """
    if not enable_elastic(args, distribute_mode):
        raise ValueError(
            "launch_elastic: elastic_server, job_id and np are needed, as arguments or by PADDLE_ELASTIC_SERVER, "
            "PADDLE_ELASTIC_JOB_ID and PADDLE_ELASTIC_NP"
        )
    ElasticManager(args).run()


def _read_setting(args: Any, name: str) -> str:
    variable = f"PADDLE_ELASTIC_{name.removeprefix('elastic_').upper()}"
    return str(getattr(args, name, None) or os.environ.get(variable) or "")


def _parsed(np: str) -> tuple[int, int]:
    least, _, most = np.partition(":")
    return int(least or 0), int(most or least or 0)
