"""Which of the processes this one is, where servers keep parameters: read from the environment, or given."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

WORKER, SERVER = 1, 2
_ROLES = {"TRAINER": WORKER, "PSERVER": SERVER}
_START = "start the program by `python -m paddle_lite_py.distributed.launch --server_num N --trainer_num M`, or set it"


class ServedPlace(NamedTuple):
    """A process among servers and the workers that train with them.

    Examples:
        >>> ServedPlace(SERVER, 1, 2, ("10.0.0.1:80", "10.0.0.2:80")).endpoint
        '10.0.0.2:80'
    """

    role: int
    number: int
    workers: int
    servers: tuple[str, ...]
    worker_endpoints: tuple[str, ...] = ()

    @property
    def endpoint(self) -> str:
        """Its own address; "" for a worker that has none."""
        listed = self.servers if self.role == SERVER else self.worker_endpoints
        return listed[self.number] if self.number < len(listed) else ""

    @property
    def is_server(self) -> bool:
        """Whether it keeps parameters."""
        return self.role == SERVER


def from_environment(env: Mapping[str, str] | None = None) -> ServedPlace | None:
    """Read the environment set by the reference's launcher; None if it names no servers.

    Raises:
        ValueError: naming the variable that is missing, or does not fit.
    """
    env = os.environ if env is None else env
    if not env.get("PADDLE_PSERVERS_IP_PORT_LIST"):
        return None
    servers = _endpoints(env, "PADDLE_PSERVERS_IP_PORT_LIST")
    workers = _number(env, "PADDLE_TRAINERS_NUM", "how many workers there are")
    name = _text(env, "TRAINING_ROLE", "TRAINER or PSERVER")
    if name not in _ROLES:
        raise ValueError(f"TRAINING_ROLE is {name!r}; expected TRAINER or PSERVER")
    others = _endpoints(env, "PADDLE_TRAINER_ENDPOINTS") if env.get("PADDLE_TRAINER_ENDPOINTS") else ()
    if _ROLES[name] == WORKER:
        index = _number(env, "PADDLE_TRAINER_ID", "the number of this worker")
        return _checked(ServedPlace(WORKER, index, workers, servers, others))
    own = (
        f"{_text(env, 'POD_IP', 'the address of this server')}:{_number(env, 'PADDLE_PORT', 'the port of this server')}"
    )
    if own not in servers:
        raise ValueError(
            f"POD_IP and PADDLE_PORT say that this server is {own}, which PADDLE_PSERVERS_IP_PORT_LIST does not have; "
            f"it has {', '.join(servers)}"
        )
    return _checked(ServedPlace(SERVER, servers.index(own), workers, servers, others))


def given(current_id: Any, role: Any, worker_num: Any, server_endpoints: Any, worker_endpoints: Any) -> ServedPlace:
    """Return a place as a program names it.

    Raises:
        ValueError: if what it says does not fit together.
    """
    others = tuple(worker_endpoints or ())
    servers = tuple(server_endpoints or ())
    if role not in (WORKER, SERVER):
        raise ValueError(f"UserDefinedRoleMaker: role is {role!r}; expected Role.WORKER or Role.SERVER")
    return _checked(ServedPlace(role, int(current_id or 0), int(worker_num or len(others)), servers, others))


def _checked(place: ServedPlace) -> ServedPlace:
    kind, count = ("server", len(place.servers)) if place.is_server else ("worker", place.workers)
    if place.workers < 1:
        raise ValueError("there are no workers: PADDLE_TRAINERS_NUM, or worker_num, must be at least 1")
    if not 0 <= place.number < count:
        raise ValueError(f"this is {kind} {place.number} of {count}; expected a number from 0 to {count - 1}")
    if place.worker_endpoints and len(place.worker_endpoints) != place.workers:
        raise ValueError(
            f"there are {place.workers} workers (PADDLE_TRAINERS_NUM, or worker_num), but "
            f"{len(place.worker_endpoints)} addresses of workers (PADDLE_TRAINER_ENDPOINTS, or worker_endpoints)"
        )
    return place


def _text(env: Mapping[str, str], name: str, what: str) -> str:
    if not env.get(name):
        raise ValueError(f"{name} is not set, which says {what}; {_START}")
    return env[name]


def _number(env: Mapping[str, str], name: str, what: str) -> int:
    text = _text(env, name, what)
    if not text.isdigit():
        raise ValueError(f"{name} is {text!r}; expected a number: {what}")
    return int(text)


def _endpoints(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in env[name].split(","))
    for part in found:
        host, _, port = part.rpartition(":")
        if not host or not port.isdigit():
            raise ValueError(f"{name} names {part!r}; expected addresses as host:port,host:port")
    return found
