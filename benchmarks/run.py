"""Measures every workload in every framework, in alternating rounds, and prints the table of ratios.

usage: run.py [--paddle PY] [--torch PY] [--tensorflow PY] [--keras PY] [--only REGEX] [--out table.json]

A PY is a Python that has that framework. A framework's figure is its best round, a round's figure the median of
its batches. All processes of a row take turns and sleep in between, so that noise of the machine meets all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from cells import Cell, ImportCell, MemoryCell, ProcessCell, StartCell, TimedCell
from targets import GROUPS, JAX_FORM, OURS, TARGETS, Target
from worker import ABSENT

FRAMEWORKS = (OURS, "jax", "torch", "paddle", "tensorflow", "keras")
PACKAGES = (
    "paddle-lite-py",
    "jax",
    "jaxlib",
    "optax",
    "torch",
    "keras",
    "paddlepaddle",
    "tensorflow",
    "tensorflow-cpu",
    "numpy",
)
Rows = dict[str, dict[str, dict]]


def main() -> None:
    """Measure the groups that match, print one line per row as soon as it is known, and write the JSON."""
    args = arguments()
    pythons = {f: getattr(args, f) for f in FRAMEWORKS if getattr(args, f)}
    rows: Rows = {}
    print(heading(list(pythons)), flush=True)
    for names in GROUPS.values():
        wanted = [n for n in names if re.search(args.only, n)]
        rows.update(measure(wanted, pythons, args))
        for name in wanted:
            print(line(name, rows, list(pythons)), flush=True)
    print("".join(f"\n{failure}" for failure in failures(rows)))
    missed = [t for t in TARGETS if verdict(t, rows).endswith("MISSED")]
    print(f"{len(missed)} of {sum(bool(verdict(t, rows)) for t in TARGETS)} targets missed")
    if args.out:
        write(Path(args.out), rows, pythons, args)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for framework in FRAMEWORKS:
        own = framework in (OURS, "jax")
        parser.add_argument(f"--{framework}", metavar="PY", default=sys.executable if own else None)
    parser.add_argument("--only", metavar="REGEX", default=".", help="rows to measure, such as 'train_mlp|eager'")
    parser.add_argument("--out", metavar="FILE", help="write the figures and facts of the machine as JSON")
    parser.add_argument("--rounds", type=int, default=7, help="turns that each framework gets (default 7)")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a turn (default 0.3)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds to set a workload up (default 300)")
    return parser.parse_args()


def measure(names: list[str], pythons: dict[str, str], args: argparse.Namespace) -> Rows:
    """The rows of one group: name -> framework -> its cell's figures."""
    cells: dict[tuple[str, str], Cell] = {}
    form = {(f, n): JAX_FORM.get(n, n) if f == "jax" else n for n in names for f in pythons}
    try:
        for framework, name in dict.fromkeys((f, form[f, n]) for f, n in form):
            cells[framework, name] = open_cell(framework, name, pythons[framework], args.timeout)
        for _ in range(args.rounds):
            for cell in cells.values():
                cell.turn(args.seconds)
    finally:
        for cell in cells.values():
            cell.close()
    return {n: {f: cells[f, form[f, n]].result() for f in pythons} for n in names}


def open_cell(framework: str, name: str, python: str, timeout: float) -> Cell:
    """The cell that knows how to measure this kind of row."""
    if name == "import_time":
        return ImportCell(framework, name, python, timeout)
    kinds = {"start_": StartCell, "process_": ProcessCell, "memory_": MemoryCell}
    kind = next((cell for prefix, cell in kinds.items() if name.startswith(prefix)), TimedCell)
    return kind(framework, name, python, timeout)


def heading(frameworks: list[str]) -> str:
    """The first two lines of the table."""
    titles = [OURS, *(text for f in frameworks if f != OURS for text in (f, f"ours/{f}"))]
    titles = ["workload".ljust(20), *(t.rjust(12) for t in titles), "target"]
    return f"| {' | '.join(titles)} |\n|{'|'.join('-' * (len(t) + 2) for t in titles)}|"


def line(name: str, rows: Rows, frameworks: list[str]) -> str:
    """One row of the table: our figure, each peer's and the ratio to it, and how the targets stand."""
    texts = [shown(rows[name][OURS])]
    for peer in (f for f in frameworks if f != OURS):
        ratio = ratio_of(Target(name, 0, peer), rows)
        texts += [shown(rows[name][peer]), f"{ratio:.2f}" if ratio else "-"]
    verdicts = [v for t in TARGETS if t.workload == name and (v := verdict(t, rows))]
    return f"| {name:20} | {' | '.join(t.rjust(12) for t in texts)} | {', '.join(verdicts)} |"


def shown(cell: dict) -> str:
    """A figure with its unit; `failed` where the framework cannot do it."""
    if "value" not in cell:
        return "-" if cell.get("error") == ABSENT else "failed"
    value, unit = cell["value"], cell["unit"]
    return f"{value / 1000:.2f} ms" if unit == "us" and value >= 1000 else f"{value:.1f} {unit}"


def failures(rows: Rows) -> list[str]:
    """Why each failed cell failed."""
    cells = [(f, n, cell.get("error", ABSENT)) for n, row in rows.items() for f, cell in row.items()]
    return [f"{f} failed at {n}: {error}" for f, n, error in cells if error != ABSENT]


def ratio_of(target: Target, rows: Rows) -> float | None:
    """Our figure over the peer's; None where either is missing."""
    mine = rows.get(target.workload, {}).get(OURS, {}).get("value")
    theirs = rows.get(target.of or target.workload, {}).get(target.peer, {}).get("value")
    return mine / theirs if mine and theirs else None


def verdict(target: Target, rows: Rows) -> str:
    """How a target stands, such as `jax 1.02 <= 1.05 ok`; empty when there is nothing to hold it against."""
    against = f"{target.peer} {target.of}".strip()
    theirs = rows.get(target.of or target.workload, {}).get(target.peer, {})
    if "value" not in theirs or target.workload not in rows:
        return ""
    ratio = ratio_of(target, rows)
    if ratio is None:
        return f"{against}: MISSED"
    return f"{against} {ratio:.2f} <= {target.limit:g} {'ok' if ratio <= target.limit else 'MISSED'}"


def write(path: Path, rows: Rows, pythons: dict[str, str], args: argparse.Namespace) -> None:
    """Everything measured, with the facts one needs to judge it."""
    table = {
        "machine": machine(),
        "versions": {f: versions(python) for f, python in pythons.items()},
        "rounds": args.rounds,
        "seconds": args.seconds,
        "rows": rows,
        "targets": [{**t._asdict(), "ratio": ratio_of(t, rows)} for t in TARGETS],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(table, indent=1) + "\n")


def machine() -> dict[str, object]:
    """Processor, cores and system."""
    cpuinfo = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text()) if cpuinfo.exists() else None
    cpu = named.group(1) if named else platform.processor()
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg()[0]}


def versions(python: str) -> dict[str, str]:
    """Versions of Python and of the frameworks that this Python has."""
    code = (
        "import importlib.metadata as m, json, platform\n"
        f"names = {PACKAGES!r}\n"
        "there = {d.metadata['Name'].replace('_', '-'): d.version for d in m.distributions()}\n"
        "there = {name: there[name] for name in names if name in there}\n"
        "print(json.dumps({'python': platform.python_version(), **there}))"
    )
    return json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main()
