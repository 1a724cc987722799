"""Compile everything for machines that are not here, and write the table of what does not compile.

usage: python tests/targets/make.py [--targets v5e,h200] [--kinds ops,layers] [--only REGEX] [--json FILE] [--docs FILE]

Many cases go into one module. A module that does not compile is cut in two, until the case is found that is to blame.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ |= {"JAX_PLATFORMS": "cpu", "FLAGS_compile_progress": "0"}
TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS / "tables"), str(TESTS / "helpers"), str(TESTS / "targets")]

from everything import KINDS, Case, together  # noqa: E402

from paddle_lite_py.targets import Portable, Target, compile_all, portable, target_of  # noqa: E402

AT_ONCE = 8  # modules that one process compiles: its memory grows
SIZES = {"ops": 60, "layers": 20, "optimizers": 12, "others": 12}  # cases of a module


def cases_of(kind: str, only: str) -> list[Case]:
    """The cases of a kind whose names hold what is looked for."""
    return [case for make in KINDS[kind]() if re.search(only, (case := make()).name)]


def written(cases: Sequence[Case], target: Target) -> Iterator[tuple[Sequence[Case], Portable]]:
    """The cases as modules for a platform; those that cannot be written are alone in theirs."""
    fn, specs = together(cases)
    made = portable(fn, specs, target.platform, program=cases[0].program if len(cases) == 1 else None)
    if made.error and len(cases) > 1:
        middle = len(cases) // 2
        yield from written(cases[:middle], target)
        yield from written(cases[middle:], target)
    else:
        yield cases, made


def failures(cases: Sequence[Case], size: int, target: Target) -> list[tuple[Case, str]]:
    """The cases that do not compile for a target, with what the compiler says."""
    parts = [cases[i : i + size] for i in range(0, len(cases), size)]
    found: list[tuple[Case, str]] = []
    while parts:
        modules = [m for part in parts for m in written(part, target)]
        rounds = [[p for _, p in modules[i : i + AT_ONCE]] for i in range(0, len(modules), AT_ONCE)]
        reports = [report for some in rounds for report in compile_all(some, target)]
        parts = []
        for (held, _), report in zip(modules, reports, strict=True):
            if not report.compiles and len(held) == 1:
                found.append((held[0], report.error))
            elif not report.compiles:
                middle = len(held) // 2
                parts += [held[:middle], held[middle:]]
    return found


REASONS = {
    "translation rule": "JAX has no such decomposition for the platform",
    "X{64|128}": "XLA cannot rewrite it without 64-bit types, which TPUs do not have",
    "host_callbacks": "it calls Python in the middle of the program",
    "only supported on CPU": "JAX has it for CPUs alone",
}


def reason(error: str) -> str:
    """Why something does not compile, in a few words."""
    known = next((why for part, why in REASONS.items() if part in error), None)
    return known or " ".join(error.split())[:140].replace("|", "/")


INTRODUCTION = """# What compiles for accelerators

`make targets` compiles the ops, layers, optimizers, control flow and what no table has of the tables in `tests/`
with XLA's compilers for machines that are not here, many in one module, each row in its dtypes and with its
gradient. A module that does not compile is cut in two until the case is found that is to blame. `others` are
control flow, gradients of loops, random numbers, convolutions, attention, sparse tensors, FFT, linear algebra,
int64 and float64. [Whole models](compiled_models.md) have a page of their own. The figures are those of one run,
and of a second one of what failed in it.
"""
MENDED = """What was mended: on TPUs `svd`, `lstsq`, `pinv`, norms and condition numbers in float32 are computed in
float64 (`ops/svd.py`), since XLA fails on JAX's decomposition in float32 with 64-bit types switched on; `copysign`
in float64 takes the sign in float32, since XLA fails on the bits of a float64; what takes an LU decomposition
eliminates row by row in float64 (`ops/elimination.py`), since XLA's own takes float32. On GPUs
`adaptive_avg_pool` of few windows takes the mean of each, since XLA finds no tiles for some of the products that
are faster on CPUs.
"""
FAILURES = """What does not compile, and why. A program with such an operator runs on CPUs. For another machine,
`compile_for()` names the operator and its line; what it computes can be computed in eager mode on the CPU,
by `paddle.set_device("cpu")`, outside of the static function.
"""


def page(held: dict[str, Any]) -> str:
    """The page of the documentation that says what does not compile."""
    head = ["| | " + " | ".join(held["targets"]) + " |", "| --- |" + " ---: |" * len(held["targets"])]
    for kind, n in held["counts"].items():
        bad = [sum(f["part"] == kind and f["target"] == t for f in held["failures"]) for t in held["targets"]]
        head.append(f"| {kind} | " + " | ".join(f"{n - b} of {n}" for b in bad) + " |")
    rows = ["| machine | what | reason |", "| --- | --- | --- |"]
    rows += [f"| {f['target']} | `{f['name']}` | {reason(f['error'])} |" for f in held["failures"]]
    parts = [
        INTRODUCTION,
        "\n".join(head) + "\n",
        *([FAILURES, "\n".join(rows) + "\n"] * bool(held["failures"])),
        MENDED,
    ]
    return "\n".join(parts)


def main() -> None:
    """Compile, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", default="v5e,h200")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--only", default="", help="a regular expression that names are searched for")
    parser.add_argument("--json")
    parser.add_argument("--docs")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    targets, rows, counts = [target_of(t) for t in given.targets.split(",")], [], {}
    for kind in given.kinds.split(","):
        cases = cases_of(kind, given.only)
        counts[kind] = len(cases)
        for target in targets:
            since = time.time()
            bad = failures(cases, SIZES[kind], target)
            rows += [{"target": target.name, "part": kind, "name": c.name, "error": e[:600]} for c, e in bad]
            done = f"{len(cases) - len(bad)} of {len(cases)} ({time.time() - since:.0f} s)"
            print(f"{kind} for {target.name}: {done}", flush=True)
            for case, error in bad:
                print(f"    {case.name}: {error.strip().splitlines()[0][:200]}", flush=True)
    held = {"targets": [t.name for t in targets], "counts": counts, "failures": rows}
    if given.json:
        Path(given.json).parent.mkdir(exist_ok=True)
        Path(given.json).write_text(json.dumps(held, indent=1))
    if given.docs:
        Path(given.docs).write_text(page(held))


if __name__ == "__main__":
    main()
