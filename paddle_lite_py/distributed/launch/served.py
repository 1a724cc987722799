"""Jobs of servers, which keep parameters, and of workers, which train with them."""

from __future__ import annotations

import socket
from collections.abc import Callable

from .job import Process
from .meeting import NodePlace


def tasks(servers: int, trainers: int) -> Callable[[NodePlace, str], list[Process]]:
    """So many servers and workers on each node."""

    def made(node: NodePlace, key: str) -> list[Process]:
        each = servers + trainers
        nodes = [node.endpoints[i : i + each] for i in range(0, len(node.endpoints), each)]
        first = node.first // each
        return _tasks(
            [e for n in nodes for e in n[:servers]], range(first * servers, (first + 1) * servers),
            [e for n in nodes for e in n[servers:]], range(first * trainers, (first + 1) * trainers),
            node.nodes, key,
        )  # fmt: skip

    return made


def tasks_at(servers: list[str], trainers: list[str], host: str | None) -> Callable[[NodePlace, str], list[Process]]:
    """Servers and workers at known addresses, of which this node runs those that are its own.

    Arguments:
        host: the address of this node; by default that which the addresses and the machine share.

    Raises:
        ValueError: if none of the addresses is of this node.
    """
    hosts = {e.rpartition(":")[0] for e in (*servers, *trainers)}
    here = host or _own(hosts)
    own = [[i for i, e in enumerate(listed) if e.rpartition(":")[0] == here] for listed in (servers, trainers)]
    if not any(own):
        raise ValueError(
            f"--servers and --trainers name {', '.join(sorted(hosts))}, and this node is {here}; give --host"
        )
    return lambda node, key: _tasks(servers, own[0], trainers, own[1], len(hosts), key)


def _own(hosts: set[str]) -> str:
    if len(hosts) == 1:
        return next(iter(hosts))
    known = {"127.0.0.1", "localhost", socket.gethostname(), *socket.gethostbyname_ex(socket.gethostname())[2]}
    return next(iter(sorted(hosts & known)), "of none of these addresses")


def _tasks(
    servers: list[str], own_servers: list[int] | range, trainers: list[str], own_trainers: list[int] | range,
    nodes: int, key: str,
) -> list[Process]:  # fmt: skip
    shared = {
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(servers),
        "PADDLE_TRAINER_ENDPOINTS": ",".join(trainers),
        "PADDLE_TRAINERS_NUM": str(len(trainers)),
        "PADDLE_NNODES": str(nodes),
    }
    if nodes == 1:
        shared["PADDLE_JOB_KEY"] = key

    def told(role: str, endpoint: str) -> dict[str, str]:
        host, _, port = endpoint.rpartition(":")
        roles = {"TRAINING_ROLE": role, "PADDLE_ROLE": role}
        return {**shared, **roles, "POD_IP": host, "PADDLE_PORT": port, "PADDLE_CURRENT_ENDPOINT": endpoint}

    made = [
        Process(f"server {i}", f"serverlog.{local}", told("PSERVER", servers[i])) for local, i in enumerate(own_servers)
    ]
    for local, i in enumerate(own_trainers):
        env = told("TRAINER", trainers[i]) | {"PADDLE_TRAINER_ID": str(i)}
        made.append(Process(f"worker {i}", f"workerlog.{local}", env))
    return made
