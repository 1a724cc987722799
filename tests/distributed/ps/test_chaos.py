"""Servers that are killed under load, at random moments: no push is lost, and none is applied twice.

CHAOS_KILLS says how many times; `make chaos` takes 20.
"""

from __future__ import annotations

import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from paddle_lite_py.distributed import ps
from parameter_servers import ServerProcess, client_of

KILLS = int(os.environ.get("CHAOS_KILLS", "2"))
IDS, COLUMNS, WORKERS = 5000, 4, 2
# A push adds its gradients: weights count what has come.
ADDING = ps.Rule("sgd", -1.0)


def work(endpoints: list[str], worker: int, over: threading.Event) -> np.ndarray:
    """Push until told to stop; how often each id and, last, the dense table was pushed."""
    rng = np.random.default_rng(worker)
    pushed = np.zeros(IDS + 1, np.int64)
    with client_of(endpoints, worker=worker, workers=WORKERS, timeout=300) as client:
        client.create(ps.SparseConfig("sparse", COLUMNS, ADDING))
        client.create(ps.SparseConfig("cold", COLUMNS, ADDING, memory_rows=1000))
        client.create(ps.DenseConfig("dense", (COLUMNS,), ADDING))
        while not over.is_set():
            ids = rng.zipf(1.2, (64, 26)) % IDS
            for table in ("sparse", "cold"):
                client.push_sparse(table, ids, np.ones((*ids.shape, COLUMNS)))
            client.push_dense("dense", np.ones(COLUMNS))
            np.add.at(pushed, ids.reshape(-1), 1)
            pushed[-1] += 1
            client.pull_sparse("cold", ids)
        client.barrier()
    return pushed


def kill_at_random(servers: list[ServerProcess], moments: random.Random) -> None:
    """Kill one server after the other, some of them again while they come back."""
    for n in range(KILLS):
        threading.Event().wait(moments.uniform(0.1, 0.8))
        server = servers[n % len(servers)]
        server.kill()
        server.start()
        if moments.random() < 0.3:
            threading.Event().wait(moments.uniform(0.0, 2.0))
            server.kill()
            server.start()
        server.ready()


def test_nothing_is_lost_and_nothing_done_twice(tmp_path):
    moments, over = random.Random(int(os.environ.get("CHAOS_SEED", "0"))), threading.Event()
    common = ["--servers", "2", "--workers", str(WORKERS), "--snapshot-bytes", "3000000"]
    with ThreadPoolExecutor(2 + WORKERS) as pool:
        folders = [["--index", str(i), "--folder", str(tmp_path / str(i))] for i in range(2)]
        servers = list(pool.map(lambda own: ServerProcess(*common, *own), folders))
        endpoints = [server.endpoint for server in servers]
        try:
            working = [pool.submit(work, endpoints, worker, over) for worker in range(WORKERS)]
            kill_at_random(servers, moments)
            over.set()
            pushed = sum(job.result() for job in working)
            with client_of(endpoints) as client:
                found = {table: client.pull_sparse(table, np.arange(IDS)) for table in ("sparse", "cold")}
                dense = client.pull_dense("dense")
        finally:
            over.set()
            for server in servers:
                server.kill()
    assert pushed[-1] > 0
    for rows in found.values():
        assert np.array_equal(rows, np.repeat(pushed[:-1, None], COLUMNS, axis=1))
    assert dense.tolist() == [pushed[-1]] * COLUMNS
    print(
        f"{KILLS} kills, {pushed[:-1].sum():,} gradients in {pushed[-1]:,} pushes of each table: all there, none twice"
    )
