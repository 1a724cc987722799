"""Measures how fast a DataLoader gives batches: ours by processes and by threads, and PyTorch's if its Python is named.

usage: loading.py [--torch PY] [--rounds N]

A figure is the best of the rounds, in which all take turns. Workers persist, so that their start is not counted.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

IMAGES, SIDE, WORKERS = 512, 256, 2


class Pictures:
    """JPEG files, decoded and cut to 224x224."""

    def __init__(self, folder: str) -> None:
        self.files = sorted(str(p) for p in Path(folder).glob("*.jpg"))

    def __getitem__(self, i: int) -> Any:
        from PIL import Image

        with Image.open(self.files[i]) as image:
            cut = image.convert("RGB").crop((16, 16, 240, 240))
        return np.asarray(cut, np.float32).transpose(2, 0, 1) / np.float32(255), i % 10

    def __len__(self) -> int:
        return len(self.files)


class Words:
    """A transform in plain Python."""

    def __getitem__(self, i: int) -> Any:
        state, out = i + 1, []
        for _ in range(2000):
            state = (state * 1103515245 + 12345) % 2147483648
            out.append(state % 1000)
        return np.array(out[-64:])

    def __len__(self) -> int:
        return 2048


class Digits:
    """Samples of 28x28 in memory."""

    def __init__(self) -> None:
        self.x = np.random.RandomState(0).rand(8192, 1, 28, 28).astype("float32")

    def __getitem__(self, i: int) -> Any:
        return self.x[i] * np.float32(2) - np.float32(1), i % 10

    def __len__(self) -> int:
        return len(self.x)


def write(folder: str) -> None:
    """Files to read."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for i in range(IMAGES):
        small = Image.fromarray(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8))
        out = io.BytesIO()
        small.resize((SIDE, SIDE)).save(out, "JPEG", quality=90)
        (Path(folder) / f"{i:04}.jpg").write_bytes(out.getvalue())


def serve(kind: str, name: str, folder: str) -> None:
    """A line on stdin -> the samples a second of a pass."""
    if kind == "torch":
        from torch.utils.data import DataLoader
    else:
        from paddle_lite_py.io import DataLoader
    data = {"pictures": lambda: Pictures(folder), "words": Words, "digits": Digits}[name]()
    settings = {"num_workers": WORKERS, "persistent_workers": True} if kind != "alone" else {}
    loader = DataLoader(data, batch_size=64, **settings)
    for _ in loader:
        pass
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        for _ in loader:
            pass
        print(len(data) / (time.perf_counter() - start), flush=True)


def opened(python: str, kind: str, name: str, folder: str) -> Callable[[], float]:
    """A process that measures a pass when it is called."""
    environment = {**os.environ, **({"PADDLE_LITE_WORKERS": "threads"} if kind == "threads" else {})}
    running: Any = subprocess.Popen(
        [python, __file__, "--serve", kind, name, folder],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert running.stdout.readline() == "ready\n"

    def call() -> float:
        running.stdin.write("\n")
        running.stdin.flush()
        return float(running.stdout.readline())

    return call


def main() -> None:
    """Print a row for each kind of data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", metavar="PY", help="a Python that has PyTorch and Pillow")
    parser.add_argument("--rounds", type=int, default=5, help="turns (default 5)")
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        return serve(*given.serve)
    kinds = {"alone": sys.executable, "processes": sys.executable, "threads": sys.executable}
    kinds |= {"torch": given.torch} if given.torch else {}
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        for name in ("pictures", "words", "digits"):
            calls = {kind: opened(python, kind, name, folder) for kind, python in kinds.items()}
            best = dict.fromkeys(kinds, 0.0)
            for _ in range(given.rounds):
                for kind, call in calls.items():
                    best[kind] = max(best[kind], call())
            print(f"| {name:8} | " + " | ".join(f"{kind} {v:8.0f}/s" for kind, v in best.items()) + " |", flush=True)


if __name__ == "__main__":
    main()
