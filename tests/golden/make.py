"""Records what PaddlePaddle computes for the cases of the tests.

Run it where PaddlePaddle 3.3.1 is installed, after a change of the cases: python tests/golden/make.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import layer_cases  # noqa: E402
import library_cases  # noqa: E402
import optimizer_cases  # noqa: E402
import program_cases  # noqa: E402
import schedule_cases  # noqa: E402


def write(name: str, found: dict[str, Any]) -> None:
    """A JSON file with a line for each case."""
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
    (HERE / f"{name}.json").write_text(f"{{\n{lines}\n}}\n")


def main(paddle: Any) -> None:
    """Record everything."""
    write("library", library_cases.record(paddle))
    trained = {case: [float(f"{x:.7g}") for x in program_cases.run(paddle, case)] for case in program_cases.CASES}
    write("programs", trained)
    layers = {}
    for i, (expression, inputs) in enumerate(layer_cases.CASES):
        found = layer_cases.run(paddle, expression, inputs)
        layers[f"{i} {expression}"] = {k: layer_cases.summary(v) for k, v in found.items()}
    write("layers", layers)
    optimizers = {}
    for case in optimizer_cases.CASES:
        rows, state = optimizer_cases.run(paddle, case)
        kept = {k: [float(f"{x:.7g}") for x in v] for k, v in state.items()}
        optimizers[case] = {"parameters": [[float(f"{x:.7g}") for x in row] for row in rows], "state": kept}
    write("optimizers", optimizers)
    cases = [*schedule_cases.CASES, *schedule_cases.PLATEAUS]
    write("schedules", {c: schedule_cases.run(paddle.optimizer.lr, c) for c in cases})


if __name__ == "__main__":
    import paddle

    main(paddle)
