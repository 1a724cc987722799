"""The command line's and environment's settings of an elastic job."""

from __future__ import annotations

import argparse
import os

from .elastic import Elastic
from .membership import Terms

# Seconds of silence after which a node is considered dead, unless PADDLE_ELASTIC_TTL is set.
TTL = 15.0


def add_elastic(parser: argparse.ArgumentParser) -> None:
    """The options of elastic jobs."""
    add = parser.add_argument
    add("--max_restart", type=int,
        help="how often a job that fails is begun again; 3 times if it is elastic, else not at all")  # fmt: skip
    add("--elastic_level", type=int, default=-1,
        help="-1: nodes neither come nor go; 0: a node that fails ends, and the others wait for another; "
        "1, 2: it begins again itself")  # fmt: skip
    add("--elastic_timeout", type=float, default=30.0,
        help="seconds that an elastic job which begins waits for more nodes than it needs")  # fmt: skip


def node_range(text: str) -> tuple[int, int]:
    """Return the least and the largest number of nodes.

    Raises:
        ValueError: if they are no numbers, or the wrong way round.

    Examples:
        >>> node_range("2:4"), node_range("3")
        ((2, 4), (3, 3))
    """
    first, _, last = text.partition(":")
    try:
        least, most = int(first), int(last or first)
    except ValueError:
        raise ValueError(f"--nnodes is {text!r}; expected a number, or two as in 2:4") from None
    if least < 1 or most < least:
        wanted = f"{most}:{least}" if 0 < most < least else "2:4"
        raise ValueError(f"--nnodes is {text!r}; expected the least number of nodes first, as in {wanted}")
    return least, most


def elastic_of(given: argparse.Namespace, master: str, processes: int) -> Elastic | None:
    """How a job is elastic; None if it is not. One node alone needs no meeting: its processes begin again with it.

    Raises:
        ValueError: if what is given makes no sense.
    """
    least, most = node_range(given.nnodes)
    elastic = given.elastic_level >= 0 or ":" in given.nnodes
    if given.max_restart is None:
        given.max_restart = 3 if elastic else 0
    if "://" in master:
        raise ValueError(f"--master is {master!r}; launchers meet at host:port of one of them, without etcd")
    if most > 1 and not (master.rpartition(":")[0] and master.rpartition(":")[2].isdecimal()):
        what = f"--master is {master!r}" if master else f"--nnodes is {given.nnodes}"
        raise ValueError(f"{what}; give --master host:port, where the launchers of all nodes meet")
    if not elastic or most == 1:
        return None
    ttl = float(os.environ.get("PADDLE_ELASTIC_TTL") or TTL)
    terms = Terms(least, most, processes, given.max_restart, given.elastic_timeout, ttl)
    return Elastic(master, given.elastic_level if given.elastic_level >= 0 else 1, given.rank, given.host, terms)
