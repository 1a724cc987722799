"""Where the launchers of several nodes meet: the first that can listen there tells all who is who."""

from __future__ import annotations

import hashlib
import json
import socket
import sys
import time
from multiprocessing.connection import Client, Listener
from typing import Any, NamedTuple

from ..spawning import free_ports

# Seconds that launchers wait for each other.
PATIENCE = 300.0


class NodePlace(NamedTuple):
    """This node among all of a job: addresses of all processes and of JAX's coordinator, and which are here."""

    endpoints: list[str]
    master: str
    first: int
    number: int
    nodes: int


def meet(master: str, nodes: int, rank: int, count: int, host: str | None, job: str, attempt: int) -> NodePlace:
    """Find the other nodes of a job.

    Arguments:
        master: host:port of the meeting; nothing for one node.
        nodes: how many there are.
        rank: the number of this one; -1: as they come.
        count: processes of this node.
        host: its address; by default that under which it reaches the master.
        job: its name, which all must know.
        attempt: how often the job was begun before.

    Raises:
        TimeoutError: if no master answers.
    """
    if nodes == 1:
        here = host or "127.0.0.1"
        ports = free_ports(count + 1, here)
        return NodePlace([f"{here}:{p}" for p in ports[1:]], f"{here}:{ports[0]}", 0, 0, 1)
    name, _, port = master.rpartition(":")
    at, key = (name, int(port)), hashlib.sha256(f"{master} {job}".encode()).digest()
    here = host or address_towards(at)
    ports = free_ports(count + 1, here)
    card = {"rank": rank, "host": here, "ports": ports, "attempt": attempt}
    listener = listening(at, key) if rank in (-1, 0) else None
    return _lead(listener, nodes, card) if listener is not None else _follow(at, key, nodes, card)


def address_towards(at: tuple[str, int]) -> str:
    """The address of this node as another one sees it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(at)
        return s.getsockname()[0]


def listening(at: tuple[str, int], key: bytes | None = None) -> Listener | None:
    """What listens there; None if another launcher does, or if it is another node."""
    try:
        return Listener(at, authkey=key)
    except OSError:
        return None


def _lead(listener: Listener, nodes: int, card: dict[str, Any]) -> NodePlace:
    met: list[tuple[dict[str, Any], Any]] = [(card, None)]
    with listener:
        while len(met) < nodes:
            print(f"launch: {len(met)} of {nodes} nodes are here", file=sys.stderr)
            connection = listener.accept()
            met.append((json.loads(connection.recv_bytes()), connection))
        order = sorted(range(nodes), key=lambda i: (met[i][0]["rank"] if met[i][0]["rank"] >= 0 else nodes, i))
        cards = [met[i][0] for i in order]
        made = [node_place(cards, number) for number in range(nodes)]
        for number, i in enumerate(order):
            if met[i][1] is not None:
                met[i][1].send_bytes(json.dumps(made[number]).encode())
        return made[order.index(0)]


def node_place(cards: list[dict[str, Any]], number: int) -> NodePlace:
    """The place of a node among those that have said what they are."""
    endpoints = [f"{c['host']}:{p}" for c in cards for p in c["ports"][1:]]
    first = sum(len(c["ports"]) - 1 for c in cards[:number])
    return NodePlace(endpoints, f"{cards[0]['host']}:{cards[0]['ports'][0]}", first, number, len(cards))


def _follow(at: tuple[str, int], key: bytes, nodes: int, card: dict[str, Any]) -> NodePlace:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with Client(at, authkey=key) as connection:
                connection.send_bytes(json.dumps(card).encode())
                return NodePlace(*json.loads(connection.recv_bytes()))
        except (OSError, EOFError):
            if time.monotonic() > end:
                raise TimeoutError(f"launch: no master at {at[0]}:{at[1]} within {PATIENCE:g} s") from None
            time.sleep(0.2)
