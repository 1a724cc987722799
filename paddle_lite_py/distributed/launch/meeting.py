"""Where the launchers of several nodes meet: the first that can listen there tells all who is who."""

from __future__ import annotations

import json
import queue
import socket
import sys
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener
from typing import Any, NamedTuple

from ..members import KEY, KEY_FILE, Reception, connect, job_secret, key_of
from ..spawning import free_ports

# Seconds that launchers wait for each other.
PATIENCE = 300.0
# No word of a launcher is longer.
LONGEST = 1 << 20


class NodePlace(NamedTuple):
    """The place of this node in a job: addresses of all processes and of JAX's coordinator, and which are here."""

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
        PermissionError: if who answers has another secret.
    """
    if nodes == 1:
        here = host or "127.0.0.1"
        ports = free_ports(count + 1, here)
        return NodePlace([f"{here}:{p}" for p in ports[1:]], f"{here}:{ports[0]}", 0, 0, 1)
    name, _, port = master.rpartition(":")
    at, key = (name, int(port)), key_of(job_secret(master, job))
    here = host or address_towards(at)
    ports = free_ports(count + 1, here)
    card = {"rank": rank, "host": here, "ports": ports, "attempt": attempt}
    listener = listen(at) if rank in (-1, 0) else None
    return _lead(listener, key, nodes, card) if listener is not None else _follow(at, key, card)


def address_towards(at: tuple[str, int]) -> str:
    """Return the address of this node as another one sees it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(at)
        return s.getsockname()[0]


def listen(at: tuple[str, int]) -> Listener | None:
    """Listen there and return the socket; None if another launcher does, or if it is another node."""
    try:
        return Listener(at, backlog=64)
    except OSError:
        return None


def _card(connection: Connection) -> dict[str, Any]:
    """Return the launcher's description of its node.

    Raises:
        ValueError: if it says something else.
    """
    found = json.loads(connection.recv_bytes(LONGEST))
    numbers = [found["rank"], found["attempt"], *found["ports"]]
    if not all(type(n) is int for n in numbers) or not isinstance(found["host"], str) or len(found["ports"]) < 2:
        raise ValueError("no card of a launcher")
    return found


def _lead(listener: Listener, key: bytes, nodes: int, card: dict[str, Any]) -> NodePlace:
    met: list[tuple[dict[str, Any], Any]] = [(card, None)]
    come: queue.SimpleQueue[tuple[dict[str, Any], Connection]] = queue.SimpleQueue()
    reception = Reception(listener, key, lambda c: come.put((_card(c), c)), "launch")
    try:
        while len(met) < nodes:
            print(f"launch: {len(met)} of {nodes} nodes are here", file=sys.stderr)
            met.append(come.get())
            met = [m for m in met if m[1] is None or not m[1].poll()]  # a launcher that has ended notifies us
        order = sorted(range(nodes), key=lambda i: (met[i][0]["rank"] if met[i][0]["rank"] >= 0 else nodes, i))
        cards = [met[i][0] for i in order]
        made = [node_place(cards, number) for number in range(nodes)]
        for number, i in enumerate(order):
            if met[i][1] is not None:
                met[i][1].send_bytes(json.dumps(made[number]).encode())
        return made[order.index(0)]
    finally:
        reception.close()


def node_place(cards: list[dict[str, Any]], number: int) -> NodePlace:
    """Return the place of a node among those that have said what they are."""
    endpoints = [f"{c['host']}:{p}" for c in cards for p in c["ports"][1:]]
    first = sum(len(c["ports"]) - 1 for c in cards[:number])
    return NodePlace(endpoints, f"{cards[0]['host']}:{cards[0]['ports'][0]}", first, number, len(cards))


def stranger(at: tuple[str, int]) -> PermissionError:
    """Return the error of a launcher that meets one with another secret."""
    return PermissionError(
        f"launch: at --master {at[0]}:{at[1]} another job is led, or this node has another secret: give all launchers "
        f"the same --job_id and --master, and, where nodes do not share a home folder, the same {KEY} or {KEY_FILE}"
    )


def _follow(at: tuple[str, int], key: bytes, card: dict[str, Any]) -> NodePlace:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with connect(at, key) as connection:
                connection.send_bytes(json.dumps(card).encode())
                return NodePlace(*json.loads(connection.recv_bytes(LONGEST)))
        except AuthenticationError:
            raise stranger(at) from None
        except (OSError, EOFError):
            if time.monotonic() > end:
                raise TimeoutError(f"launch: no master at {at[0]}:{at[1]} within {PATIENCE:g} s") from None
            time.sleep(0.2)
