"""Peak memory of whole training steps on machines that are not here, against hand-written JAX compiled the same way.

usage: python benchmarks/memory.py [--targets v5e,h200] [--models GPT-1.3B] [--out out/memory.json]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
from pathlib import Path
from typing import Any

os.environ |= {"JAX_PLATFORMS": "cpu", "FLAGS_compile_progress": "0"}

import jax  # noqa: E402

import memory_jax  # noqa: E402
import memory_paddle  # noqa: E402
from paddle_lite_py.targets import Portable, Report, Target, compile_all, portable, portable_of, target_of  # noqa: E402

MODELS = ("ResNet50", "BERT-base", "GPT-1.3B")
WAYS = {"float32": (False, False), "recompute": (False, True), "AMP": (True, False), "both": (True, True)}
# What a compiler says of a step that is too large: all that it takes, or its temporaries alone.
_USED = re.compile(r"(?:Used |HLO temporaries \()([\d.]+)([GM])")


def ours(name: str, platform: str, low: bool, again: bool) -> Portable:
    """Our step for a platform."""
    step, given = memory_paddle.step(name, low, again)
    entry = step._specified_call(tuple(given), {})[0]
    specs = [jax.ShapeDtypeStruct(s.shape, s.dtype.np) for s in given]
    return portable_of(entry.executable, specs, platform)


def theirs(name: str, platform: str, low: bool, again: bool) -> Portable:
    """The step of hand-written JAX for a platform."""
    step, given, donated = memory_jax.step(name, low, again)
    leaves, tree = jax.tree.flatten(given)
    ends = [len(jax.tree.leaves(g)) for g in given]
    places = tuple(i for k in donated for i in range(sum(ends[:k]), sum(ends[: k + 1])))

    def run(*arrays: Any) -> Any:
        return step(*jax.tree.unflatten(tree, arrays))

    return portable(run, leaves, platform, f"{name} by hand", donated=places)


def peak(report: Report) -> tuple[float, str]:
    """Bytes that a step takes, and what there is to say of it."""
    if report.memory is not None:
        return report.memory.peak, "" if report.fits else "does not fit"
    used = _USED.search(report.error)
    if used is None:
        return 0, report.error.strip().splitlines()[0][:200]
    return float(used[1]) * (1 << 30 if used[2] == "G" else 1 << 20), "does not fit"


def row(target: Target, name: str, way: str) -> dict[str, Any]:
    """Both steps for a target; and what is found in ours that costs more than it looks."""
    low, again = WAYS[way]
    reports = compile_all([make(name, target.platform, low, again) for make in (ours, theirs)], target)
    (mine, note), (other, said) = map(peak, reports)
    found = [f"{f.kind}: {f.op}, {f.where}" for f in reports[0].findings]
    held = {"target": target.name, "model": name, "way": way, "ours": mine, "jax": other, "note": note or said}
    return held | {"ratio": mine / other if other else None, "findings": found, "seconds": [r.seconds for r in reports]}


def shown(row: dict[str, Any]) -> str:
    """A row as it is printed."""
    sizes = f"{row['ours'] / 2**30:8.2f} GiB, by hand {row['jax'] / 2**30:8.2f} GiB: {row['ratio'] or 0:.3f}"
    return f"{row['target']:6} {row['model']:10} {row['way']:10} {sizes} {'; '.join([row['note'], *row['findings']])}"


def main() -> None:
    """Measure what is not in the file yet, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", default="h200,v5e")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--out", type=Path, default=Path("out/memory.json"), help="a run that was cut goes on from it")
    given = parser.parse_args()
    rows = json.loads(given.out.read_text()) if given.out.exists() else []
    given.out.parent.mkdir(parents=True, exist_ok=True)
    done = {(r["target"], r["model"], r["way"]) for r in rows}
    parts = given.targets.split(","), given.models.split(","), given.ways.split(",")
    for target, name, way in itertools.product(*parts):
        if (target, name, way) not in done:
            rows.append(row(target_of(target), name, way))
            print(shown(rows[-1]), flush=True)
            given.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
