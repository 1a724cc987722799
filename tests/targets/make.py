"""Compile everything for machines that are not here, and write the table of what does not compile.

usage: python tests/targets/make.py [--targets v5e,h200] [--kinds ops,layers] [--json FILE] [--docs FILE]

Many cases go into one module. A module that does not compile is cut in two, until the case is found that is to blame.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

os.environ |= {"JAX_PLATFORMS": "cpu", "FLAGS_compile_progress": "0"}
TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS / "tables"), str(TESTS / "helpers"), str(TESTS / "targets")]

from everything import KINDS, Case, together  # noqa: E402

from paddle_lite_py.targets import Portable, Target, compile_all, portable, target_of  # noqa: E402

SIZES = {"ops": 60, "layers": 20, "optimizers": 12, "others": 12, "models": 1}  # cases of a module


def cases_of(kind: str) -> list[Case]:
    """All cases of a kind."""
    return [make() for make in KINDS[kind]()]


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
        reports = compile_all([p for _, p in modules], target)
        parts = []
        for (held, _), report in zip(modules, reports, strict=True):
            if not report.compiles and len(held) == 1:
                found.append((held[0], report.error))
            elif not report.compiles:
                middle = len(held) // 2
                parts += [held[:middle], held[middle:]]
    return found


def main() -> None:
    """Compile, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", default="v5e,h200")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--json")
    parser.add_argument("--docs")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    targets, rows, counts = [target_of(t) for t in given.targets.split(",")], [], {}
    for kind in given.kinds.split(","):
        cases = cases_of(kind)
        counts[kind] = len(cases)
        for target in targets:
            since = time.time()
            bad = failures(cases, SIZES[kind], target)
            rows += [{"target": target.name, "kind": c.kind, "name": c.name, "error": e} for c, e in bad]
            print(
                f"{kind} for {target.name}: {len(cases) - len(bad)} of {len(cases)} ({time.time() - since:.0f} s)",
                flush=True,
            )
            for case, error in bad:
                print(f"    {case.name}: {error.strip().splitlines()[0][:200]}", flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps({"counts": counts, "failures": rows}, indent=1))


if __name__ == "__main__":
    main()
