"""The processes that train together: the launcher's environment for this one, and JAX's distributed runtime."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from .joining import JoiningWait, patience

# Environment that a process that has joined passes to its children.
JOINED = "PADDLE_LITE_JOINED"
# Seconds of silence after which a process is considered dead.
HEARTBEAT = 30
# Installed by the exchanges for layers below them: gathers the rows that the processes have of a tensor.
gathered_rows: list[Callable[[Any], Any]] = []
# Gathers the whole of an XLA array that may span several processes; empty in a process that trains alone.
gathered_arrays: list[Callable[[Any], Any]] = []
# Names the process to blame when a program of several processes fails, from its arguments.
blamed_process: list[Callable[[Any], str]] = []
# Meshes that this process is not in: arrays over them have no part here.
other_meshes: list[Any] = []
# Compares a program, by its function and arguments, with those of other processes; empty unless that is switched on.
compared_program: list[Callable[[Any, Any], None]] = []
# Computes an op in parts where its arguments are split, given the op and what runs it; empty for a process alone.
divided_ops: list[Callable[[Any, Callable[..., Any]], Callable[..., Any]]] = []

_here: list[World] = []  # once this process has joined
_waiting: list[JoiningWait] = []  # for the others


class World(NamedTuple):
    """The place of this process among all that train together.

    Examples:
        >>> World(1, 2, ("10.0.0.1:8000", "10.0.0.2:8000")).host
        '10.0.0.2'
    """

    rank: int = 0
    size: int = 1
    endpoints: tuple[str, ...] = ("",)
    local_rank: int = 0
    local_size: int = 1
    node: int = 0
    nodes: int = 1

    @property
    def host(self) -> str:
        """The address under which others reach this process."""
        return self.endpoints[self.rank].rpartition(":")[0] or "127.0.0.1"

    @property
    def coordinator(self) -> str:
        """Where JAX's runtime of the first process listens."""
        return os.environ.get("PADDLE_MASTER") or self.endpoints[0]


def has_joined() -> bool:
    """Whether this process has joined others."""
    return bool(_here)


def world() -> World:
    """Read the environment set by the reference's launcher.

    Raises:
        ValueError: if what it says does not fit together.
    """
    if _here:
        return _here[0]
    size, rank = _number("PADDLE_TRAINERS_NUM", 1), _number("PADDLE_TRAINER_ID", 0)
    given = os.environ.get("PADDLE_TRAINER_ENDPOINTS", "")
    endpoints = tuple(given.split(",")) if given else ("",) * size
    if size > 1 and not (os.environ.get("PADDLE_MASTER") or given):
        raise ValueError(
            f"PADDLE_TRAINERS_NUM is {size}, but neither PADDLE_MASTER nor PADDLE_TRAINER_ENDPOINTS says where the "
            "processes find each other; start them by `python -m paddle_lite_py.distributed.launch`, or unset the first"
        )
    if not (0 <= rank < size == len(endpoints)):
        raise ValueError(
            f"PADDLE_TRAINER_ID is {rank} of PADDLE_TRAINERS_NUM={size} with {len(endpoints)} "
            "PADDLE_TRAINER_ENDPOINTS; expected a rank below the number of processes, and an endpoint for each"
        )
    local, locals_ = _number("PADDLE_LOCAL_RANK", rank), _number("PADDLE_LOCAL_SIZE", size)
    return World(
        rank, size, endpoints, local, locals_, _number("PADDLE_NODE_RANK", 0), _number("PADDLE_NNODES", 1)
    )  # fmt: skip


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    try:
        return int(text) if text else default
    except ValueError:
        raise ValueError(f"{name} is {text!r}; expected a number") from None


def join() -> bool:
    """Join the other processes, if the environment tells of some: before anything asks JAX for its devices.

    What a process of them starts itself, such as a worker that loads data, inherits its environment, and stays alone.
    So does one of those that share parameters through servers: workers come and go.

    Returns:
        Whether there are others.

    Raises:
        ValueError: if the environment makes no sense.
    """
    served = os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST") and os.environ.get("TRAINING_ROLE")
    if served or _number("PADDLE_TRAINERS_NUM", 1) <= 1 or os.environ.get(JOINED) == _read_environment():
        return False
    here = world()
    if os.environ.get("JAX_PLATFORMS", "cpu") == "cpu":
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    # A process whose peer has died lives on to say so.
    jax.config.update("jax_enable_recoverability", True)
    jax.config.update("jax_enable_preemption_service", False)  # SIGTERM is the program's
    _waiting[:] = [JoiningWait(here)]
    jax.distributed.initialize(
        here.coordinator,
        here.size,
        here.rank,
        initialization_timeout=math.ceil(patience()) + 60,  # the wait itself ends before, and says for whom it was
        coordinator_bind_address=here.coordinator if _is_loopback(here.coordinator) else None,
        heartbeat_timeout_seconds=HEARTBEAT,
    )
    os.environ[JOINED] = _read_environment()
    _here.append(here)
    return True


def all_have_joined() -> None:
    """Note that the others have joined, and that none of them is late any more."""
    while _waiting:
        _waiting.pop().over()


def _is_loopback(endpoint: str) -> bool:
    """Whether only processes of this machine reach an address: JAX would listen for all others, too."""
    return endpoint.rpartition(":")[0] in ("127.0.0.1", "localhost")


def _read_environment() -> str:
    return f"{os.environ.get('PADDLE_TRAINER_ID')} {os.environ.get('PADDLE_MASTER')}"


class ServerJob:
    """This process's part in a job with parameter servers; None: there are none."""

    session: Any = None  # a fleet.served.session.Session


job = ServerJob()
