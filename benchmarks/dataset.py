"""Measures how fast files of slots are read, beside numpy.loadtxt of the same numbers and reading the bytes alone.

usage: dataset.py [--lines N] [--rounds N]

A figure is the best of the rounds, in which all take turns.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from paddle_lite_py.distributed.fleet.dataset.slots import parse

IDS, VALUES = 5, 8  # numbers of a line: integers, and floats of six digits
KINDS = [np.dtype("int64"), np.dtype("float32")]


def text(lines: int) -> bytes:
    """Lines of two slots."""
    rng = np.random.default_rng(0)
    rows = zip(rng.integers(0, 100_000, (lines, IDS)), rng.normal(size=(lines, VALUES)), strict=True)
    made = [f"{IDS} {' '.join(map(str, a))} {VALUES} {' '.join(f'{v:.6g}' for v in b)}\n" for a, b in rows]
    return "".join(made).encode()


def main() -> None:
    """Print a row for each way to read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=60_000, help="lines of the file (default 60000)")
    parser.add_argument("--rounds", type=int, default=5, help="turns (default 5)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "slots"
        file.write_bytes(text(given.lines))
        ways: dict[str, Callable[[], object]] = {
            "slots": lambda: parse(file.read_bytes(), KINDS),
            "slots, one thread": lambda: parse(file.read_bytes(), KINDS, threads=1),
            "numpy.loadtxt": lambda: np.loadtxt(io.BytesIO(file.read_bytes())),
            "bytes alone": file.read_bytes,
        }
        times = dict.fromkeys(ways, float("inf"))
        for _ in range(given.rounds):
            for name, run in ways.items():
                start = time.perf_counter()
                run()
                times[name] = min(times[name], time.perf_counter() - start)
        size = file.stat().st_size / 1e6
    for name, seconds in times.items():
        print(f"| {name:18} | {size / seconds:8.1f} MB/s |")


if __name__ == "__main__":
    main()
