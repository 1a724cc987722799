"""Workers of servers as threads of a test: their addresses, their steps, and what they read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from paddle_lite_py.distributed import ps
from paddle_lite_py.distributed.fleet.places import WORKER, ServedPlace
from paddle_lite_py.distributed.fleet.served.step import Gradients, IdRows
from paddle_lite_py.distributed.spawning import free_ports

RULE = ps.Rule("sgd", 1.0)
TABLE = ps.SparseConfig("t", 2, RULE)


def step(ids, value, dense=None, rate=1.0):
    rows = IdRows(np.array(ids), np.full((len(ids), 2), value, np.float32))
    return Gradients({"t": rows}, None if dense is None else np.full(3, dense, np.float32), rate)


def rows(client, ids):
    return client.pull_sparse("t", np.array(ids))[:, 0].tolist()


def places(count):
    ports = free_ports(count)
    return [ServedPlace(WORKER, i, count, ("-:0",), tuple(f"127.0.0.1:{p}" for p in ports)) for i in range(count)]


def together(*calls):
    """What functions give that wait for each other."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [f.result() for f in [pool.submit(c) for c in calls]]
