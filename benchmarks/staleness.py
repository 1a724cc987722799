"""What staleness costs: AUC of a recommender by steps under way, and by steps between exchanges.

usage: staleness.py [FILE.png] [--workers N] [--lines N] [--net NAME]

Trains the programs of tests/distributed/programs/recommenders with two servers, and draws a picture.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "distributed" / "programs" / "recommenders"
STALE = {"async": [0, 4, 16, 64], "geo": [1, 10, 50, 200]}


def auc(data: str, given: argparse.Namespace, mode: str, stale: int = 0) -> float:
    """What the first worker has learned."""
    command = [sys.executable, "-m", "paddle_lite_py.distributed.launch", "--server_num", "2"]
    command += ["--trainer_num", str(given.workers), "--log_dir", f"{data}/log", str(PROGRAMS / "train.py"), data]
    command += ["--net", given.net, "--mode", mode, "--stale", str(stale), "--rate", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    found = float(re.findall(r"^auc (\S+)", done.stdout, re.MULTILINE)[-1])
    print(f"| {mode} | {stale} | {found:.4f} |", flush=True)
    return found


def main() -> None:
    """Print a row for each, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default="out/staleness.png")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lines", type=int, default=8000)
    parser.add_argument("--net", default="deepfm")
    given = parser.parse_args()
    print("| mode | stale steps | AUC |\n| --- | ---: | ---: |")
    with tempfile.TemporaryDirectory() as data:
        subprocess.run(
            [sys.executable, str(PROGRAMS / "data.py"), data, str(given.lines), str(given.workers)], check=True
        )
        base = auc(data, given, "sync")
        curves = {mode: [auc(data, given, mode, n) for n in steps] for mode, steps in STALE.items()}
    draw(Path(given.file), base, curves)


def draw(file: Path, base: float, curves: dict[str, list[float]]) -> None:
    """A picture: AUC against steps, for each mode."""
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(6, 3.6))
    ax.axhline(base, color="gray", label="synchronous")
    for mode, curve in curves.items():
        ax.plot([max(n, 1) for n in STALE[mode]], curve, "o-", label=mode)
    ax.set(xscale="log", xlabel="steps under way (async), between exchanges (geo)", ylabel="AUC")
    ax.legend()
    fig.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(file)
    print(file)


if __name__ == "__main__":
    main()
