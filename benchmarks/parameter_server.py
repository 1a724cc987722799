"""Measures one parameter server in a process of its own: lookups, growth to many rows, memory, and coming back.

usage: parameter_server.py [--rounds N] [--rows N]

A batch is 1024 x 26 ids by Zipf's law, some 11,000 of them different, a row 8 weights with their 8 Adagrad sums. The
client counts: it finds distinct ids, adds up gradients, packs and unpacks. A figure is the best of the rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from paddle_lite_py.distributed import ps

BATCH, COLUMNS = (1024, 26), 8
TABLE = ps.SparseConfig("words", COLUMNS, ps.Rule("adagrad", 0.05), {"kind": "uniform", "bound": 0.1})
NUMBERS = 4 * 2 * COLUMNS  # bytes of a row's numbers


@contextlib.contextmanager
def server(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], ps.Client]]:
    """A server in a process, and a client of it that has made the table."""
    command = [sys.executable, "-m", "paddle_lite_py.distributed.ps", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            client = ps.Client([process.stdout.readline().strip()])
            client.create(TABLE)
            yield process, client
            client.close()
        finally:
            process.kill()


def resident(process: subprocess.Popen[str]) -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def lookups(client: ps.Client, rounds: int) -> tuple[float, float]:
    """Seconds of the best pull and of the best push; batches come again, so that rows are there."""
    rng = np.random.default_rng(0)
    batches = [(rng.zipf(1.12, BATCH) % 2**40).astype(np.int64) for _ in range(40)]
    gradients = rng.normal(size=(*BATCH, COLUMNS)).astype(np.float32)
    pulls, pushes = [], []
    for n in range(rounds):
        start = time.perf_counter()
        client.pull_sparse("words", batches[n % 40])
        middle = time.perf_counter()
        client.push_sparse("words", batches[n % 40], gradients)
        pulls.append(middle - start)
        pushes.append(time.perf_counter() - middle)
    return min(pulls), min(pushes)


def growth(client: ps.Client, rows: int) -> list[float]:
    """Seconds of each pull of new ids, 25,000 at a time."""
    times = []
    for first in range(0, rows, 25_000):
        ids = np.arange(first, first + 25_000, dtype=np.int64) + 2**41
        start = time.perf_counter()
        client.pull_sparse("words", ids)
        times.append(time.perf_counter() - start)
    return times


def show_lookups(rounds: int) -> None:
    """Rows for a server without a folder, and for one that logs."""
    size = BATCH[0] * BATCH[1]
    with tempfile.TemporaryDirectory() as folder:
        for what, arguments in (("in memory", ()), ("with a log", ("--folder", folder))):
            with server(*arguments) as (_, client):
                pull, push = lookups(client, rounds)
            rates = f"pull {size / pull / 1e6:5.2f} M/s | push {size / push / 1e6:5.2f} M/s"
            print(
                f"| {what:10} | {rates} | both {size / (pull + push) / 1e6:5.2f} M/s, {(pull + push) * 1e3:5.2f} ms |"
            )


def show_growth(rows: int) -> None:
    """Rows for time and memory of each row, while the table grows."""
    with server() as (process, client):
        growth(client, 25_000)
        before = resident(process)
        times = np.array(growth(client, rows)) / 25_000 * 1e6
        taken = (resident(process) - before) / rows
    tenth = len(times) // 10
    print(f"| first tenth of {rows:,} rows | {times[:tenth].mean():5.2f} us a row |")
    print(f"| last tenth | {times[-tenth:].mean():5.2f} us a row |")
    print(f"| slowest 25,000 | {times.max():5.2f} us a row |")
    print(f"| memory | {taken:5.1f} bytes a row, {taken / NUMBERS:4.2f} times its numbers |")


def show_recovery(rounds: int) -> None:
    """A row for the time that a killed server takes until it answers again."""
    with tempfile.TemporaryDirectory() as folder:
        with server("--folder", folder) as (process, client):
            lookups(client, rounds)
            process.kill()
        size = sum(path.stat().st_size for path in Path(folder).glob("log-*"))
        start = time.perf_counter()
        with server("--folder", folder):
            print(f"| back after a kill, {size / 1e6:.0f} MB of log | {time.perf_counter() - start:5.2f} s |")


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="batches (default 200)")
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows that the table grows by (default 10000000)")
    given = parser.parse_args()
    show_lookups(given.rounds)
    show_growth(given.rows)
    show_recovery(given.rounds)


if __name__ == "__main__":
    main()
