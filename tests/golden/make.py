"""Records what PaddlePaddle computes for the cases of the tests.

Run it where PaddlePaddle 3.3.1 is installed: `python tests/golden/make.py` after a change of the cases, or
`python tests/golden/make.py compare` to see whether another version still computes what is recorded. `make
parity-record` and `make parity` do both in an environment of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tables"))

import gradient_cases  # noqa: E402
import layer_cases  # noqa: E402
import library_cases  # noqa: E402
import model_cases  # noqa: E402
import optimizer_cases  # noqa: E402
import program_cases  # noqa: E402
import schedule_cases  # noqa: E402
import sequence_cases  # noqa: E402
import special_cases  # noqa: E402
import state_programs  # noqa: E402
import whole_program_runs  # noqa: E402

# Of state_programs: they add a part of a tensor to another part that overlaps it, in place. PaddlePaddle then reads
# what it has written or not, depending on where the memory begins; recorded is what NumPy gives.
VARYING = {f"views {i}" for i in (3, 10, 13, 25, 30)}


def write(name: str, found: dict[str, Any]) -> None:
    """A JSON file with a line for each case."""
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
    (HERE / f"{name}.json").write_text(f"{{\n{lines}\n}}\n")


def compare(name: str, found: dict[str, Any]) -> None:
    """Print the cases whose figures are not those recorded, and fail if there are any."""
    kept = json.loads((HERE / f"{name}.json").read_text())
    found = json.loads(json.dumps(found))
    cases = (kept.keys() | found.keys()) - VARYING
    changed = [case for case in cases if not library_cases.close(kept.get(case), found.get(case))]
    print(f"{name}: {len(kept)} cases, {len(changed)} differ", *sorted(changed), sep="\n  ")
    compare.failed |= bool(changed)  # type: ignore[attr-defined]


compare.failed = False  # type: ignore[attr-defined]


def main(paddle: Any, keep: Callable[[str, dict[str, Any]], None]) -> None:
    """Compute everything, and hand it to `keep`."""
    keep("library", library_cases.record(paddle))
    keep("models", model_cases.record(paddle))
    keep("gradients", gradient_cases.record(paddle))
    keep("special", special_cases.record(paddle))
    keep("sequences", sequence_cases.record(paddle))
    trained = {case: [float(f"{x:.7g}") for x in program_cases.run(paddle, case)] for case in program_cases.CASES}
    keep("programs", trained)
    keep("state_programs", state_programs.record(paddle))
    keep("whole_programs", whole_program_runs.record(paddle))
    layers = {}
    for i, (expression, inputs) in enumerate(layer_cases.CASES):
        found = layer_cases.run(paddle, expression, inputs)
        layers[f"{i} {expression}"] = {k: layer_cases.summary(v) for k, v in found.items()}
    keep("layers", layers)
    optimizers = {}
    for case in optimizer_cases.CASES:
        rows, state = optimizer_cases.run(paddle, case)
        kept = {k: [float(f"{x:.7g}") for x in v] for k, v in state.items()}
        optimizers[case] = {"parameters": [[float(f"{x:.7g}") for x in row] for row in rows], "state": kept}
    keep("optimizers", optimizers)
    cases = [*schedule_cases.CASES, *schedule_cases.PLATEAUS]
    keep("schedules", {c: schedule_cases.run(paddle.optimizer.lr, c) for c in cases})


def printed() -> dict[str, str]:
    """What each program of tests/scripts prints."""
    found = {}
    for script in sorted((HERE.parent / "scripts").glob("*.py")):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=folder, check=True)
        found[script.stem] = run.stdout
    return found


def print_scripts(compared: bool) -> None:
    """Write what the programs print, or print those that print something else than what is kept."""
    for name, text in printed().items():
        file = HERE / "scripts" / f"{name}.txt"
        if not compared:
            file.write_text(text)
        elif not library_cases.prints_the_same(file.read_text(), text):
            print(f"scripts/{name} prints something else")
            compare.failed = True  # type: ignore[attr-defined]


if __name__ == "__main__":
    os.environ.setdefault("GLOG_minloglevel", "3")  # gradients that are not there are looked for
    warnings.simplefilter("ignore")
    import paddle

    compared = "compare" in sys.argv[1:]
    main(paddle, compare if compared else write)
    print_scripts(compared)
    sys.exit(compare.failed)  # type: ignore[attr-defined]
