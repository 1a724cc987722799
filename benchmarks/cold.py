"""The first minute: from the import to the first loss and to the tenth, in fresh processes, compared with peers.

usage: cold.py [--paddle PY] [--torch PY] [--ours PY] [--jax PY] [--only REGEX] [--rounds N] [--out cold.json]

Each workload runs eagerly, with its layer compiled (static), and as one compiled training step (step), which is what is
written by hand in JAX. Ours runs with an empty cache of compiled programs, and once more with what the first run has
left there. A figure is the best of the rounds.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cells import CACHE, HERE, Cell

NAMES = ("session", "boxes", "mlp", "lenet", "resnet", "transformer", "gcn", "gat", "ppo", "lstm", "lengths", "sizes")
NAMES += ("mobilenet_v3_small", "densenet121", "resnet50", "efficientnet", "vit", "swin", "unet", "conformer", "gpt")
NAMES += ("gan", "pinn", "mobilenet_v3_small_evaluated", "resnet50_evaluated")
FRAMEWORKS = ("ours", "jax", "paddle", "torch")
MODES = ("eager", "static", "step")
EAGER = ("session", "boxes")  # have no layers to compile
Figures = dict[str, Any]
COMPILING = 20  # seconds for the compiler that a process has left behind


class ColdCell(Cell):
    """One workload in fresh processes of one framework."""

    def environment(self, cache: Path = CACHE) -> dict[str, str]:
        """NumPy runs what is not compiled yet, as for users; PyTorch's compiled code begins anew as well."""
        return super().environment(cache) | {
            "TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"), "FLAGS_baseline_tier": "1",
        }  # fmt: skip

    def measured(self, mode: str) -> dict[str, Figures]:
        """The figures of a process by themselves, and for ours those of a second one."""
        script = "workloads_cold_jax.py" if self.framework == "jax" else "workloads_cold.py"
        command = [self.python, str(HERE / script), self.name, *([f"--{mode}"] * (mode != "eager"))]
        with tempfile.TemporaryDirectory() as empty:
            first = {"cold": self.run(command, Path(empty))}
            if self.framework != "ours":
                return first
            time.sleep(COMPILING)
            return first | {"second": self.run(command, Path(empty))}


def main() -> None:
    """Measure what matches and print a line for each workload as soon as it is known."""
    args = arguments()
    pythons = {f: getattr(args, f) for f in FRAMEWORKS if getattr(args, f)}
    rows = []
    print(
        line(
            "workload", {"import": "import", "first": "first loss", "last": "tenth", "cpu": "CPU", "ratio": "/ paddle"}
        )
    )
    for name in [f"{n} {mode}" for n in NAMES for mode in (MODES[:1] if n in EAGER else MODES)]:
        if re.search(args.only, name):
            rows.append({"name": name, "figures": measure(name, pythons, args)})
            print("\n".join(lines(rows[-1])), flush=True)
    if args.out:
        Path(args.out).parent.mkdir(parents=True, exist_ok=True)
        Path(args.out).write_text(json.dumps(rows, indent=1) + "\n")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", metavar="PY", default=sys.executable)
    parser.add_argument("--jax", metavar="PY", default=sys.executable, help="a Python that has JAX and optax")
    parser.add_argument("--paddle", metavar="PY", help="a Python that has PaddlePaddle")
    parser.add_argument("--torch", metavar="PY", help="a Python that has PyTorch")
    parser.add_argument("--only", metavar="REGEX", default=".", help="rows to measure, such as 'mlp|gcn eager'")
    parser.add_argument("--rounds", type=int, default=1, help="processes of each kind (default 1)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for a process (default 300)")
    parser.add_argument("--out", metavar="FILE", help="write the figures as JSON")
    return parser.parse_args()


def measure(name: str, pythons: dict[str, str], args: argparse.Namespace) -> dict[str, Figures]:
    """For each framework and kind of process the best figures."""
    workload, mode = name.split()
    best: dict[str, Figures] = {}
    for _ in range(args.rounds):
        for framework, python in pythons.items():
            if framework == "jax" and mode != "step":
                continue
            for kind, figures in ColdCell(framework, workload, python, args.timeout).measured(mode).items():
                label = f"{framework} {kind}"
                if "last" in figures and figures["last"] <= best.get(label, figures).get("last", figures["last"]):
                    best[label] = figures
                best.setdefault(label, figures)
    return best


def lines(row: dict[str, Any]) -> list[str]:
    """A line for each framework and kind of process."""
    theirs = row["figures"].get("paddle cold", {}).get("last")
    return [line(f"{row['name']}, {label}", shown(f, theirs)) for label, f in row["figures"].items()]


def shown(figures: Figures, theirs: float | None) -> dict[str, str]:
    """Figures as text; the error where there are none."""
    if "last" not in figures:
        return {"last": "failed", "ratio": figures.get("error", "")}
    texts = {k: f"{figures[k]:.2f} s" for k in ("import", "first", "last", "cpu") if k in figures}
    return texts | {"ratio": f"{figures['last'] / theirs:.1f}" if theirs else ""}


def line(name: str, texts: dict[str, str]) -> str:
    """One line of the table."""
    return " ".join(
        [name.ljust(34), *[texts.get(k, "").rjust(11) for k in ("import", "first", "last", "cpu", "ratio")]]
    )


if __name__ == "__main__":
    main()
