"""Compile every model of vision.models as it is saved, and training steps, for machines that are not here.

usage: python tests/targets/whole.py [--targets v5e,h200] [--only REGEX] [--limit SECONDS] [--json FILE] [--docs FILE]

Each is compiled in a process of its own, which may take so long. What is in the JSON file already is not done again: a
run that was cut goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS / "tables"), str(TESTS.parent / "benchmarks")]
BENCHMARKS = ("mlp", "lenet", "resnet", "bert", "lm")
SIDES = {"LeNet": 28, "inception_v3": 96}  # of the pictures; 224 where fewer make no sense, and else 64
LARGE = ("alexnet", "googlenet", "vgg")
PAGE = """# Which whole models compile for accelerators

Written by `make targets`, which compiles each of these with XLA's compilers for machines that are not here, as users
do: models of `vision.models` by `paddle.jit.save` in evaluation and `compile_for` of what was loaded, for one picture
of the size that is given; static training steps by `compile_for`. Seconds are those of the compiler, on two cores
with other work; MiB are the peak of memory. Each is looked through for host callbacks, transfers, float64 and large
int64 arithmetic and widened products: a row names those that it has.

"""


# -- what there is to compile ------------------------------------------------------------------------------------------
def names() -> list[str]:
    """Models of vision.models, and training steps."""
    import program_cases
    from paddle_lite_py.vision import models

    saved = ["LeNet", *[n for n in models.__all__ if n[0].islower()]]
    tables, benchmarks = (
        (f"step of {n}" for n in (*program_cases.CASES, "LSTM")),
        (f"benchmark {n}" for n in BENCHMARKS),
    )
    return [*saved, *tables, *benchmarks]


def side(name: str) -> int:
    """Rows and columns of the pictures that a model is compiled for."""
    return SIDES.get(name, 224 if name.startswith(LARGE) else 64)


def compiled(name: str, target: str) -> Any:
    """The report on one of them."""
    import paddle_lite_py as paddle

    if name.startswith("step of "):
        return table_step(paddle, name.removeprefix("step of "), target)
    if name.startswith("benchmark "):
        import workloads_paddle

        step, batch = workloads_paddle.training(name.removeprefix("benchmark "), "step")
        return step.compile_for(target, *batch)
    net, pixels = getattr(paddle.vision.models, name)(), side(name)
    net.eval()
    spec = paddle.static.InputSpec([None, 1 if name == "LeNet" else 3, pixels, pixels])
    with tempfile.TemporaryDirectory() as folder:
        paddle.jit.save(net, f"{folder}/net", input_spec=[spec])
        return paddle.jit.load(f"{folder}/net").compile_for(target, size=1)


def table_step(paddle: Any, name: str, target: str) -> Any:
    """The report on a training step of the table of programs, or of an LSTM."""
    import numpy as np

    import program_cases

    net, optimizer, _, data, loss_of = lstm(paddle) if name == "LSTM" else program_cases.CASES[name](paddle)
    net.train()
    inputs, labels = data(np.random.default_rng(1))

    @paddle.jit.to_static(full_graph=True)
    def step(inputs: Any, labels: Any) -> Any:
        loss = loss_of(net(*inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    told = [paddle.to_tensor(v) for v in labels] if isinstance(labels, list) else paddle.to_tensor(labels)
    return step.compile_for(target, [paddle.to_tensor(v) for v in inputs], told)


def lstm(paddle: Any) -> tuple[Any, Any, None, Callable[[Any], Any], Any]:
    """Two layers in both directions, as program_cases has its programs."""
    nn = paddle.nn

    class Model(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.rnn, self.head = nn.LSTM(64, 256, num_layers=2, direction="bidirect"), nn.Linear(512, 8)

        def forward(self, x: Any) -> Any:
            return self.head(self.rnn(x)[0][:, -1])

    def words(rng: Any) -> tuple[list[Any], Any]:
        return [rng.normal(size=(16, 50, 64)).astype("float32")], rng.integers(0, 8, 16)

    model = Model()
    return model, paddle.optimizer.Adam(parameters=model.parameters()), None, words, nn.CrossEntropyLoss()


# -- one process each --------------------------------------------------------------------------------------------------
def told(name: str, target: str) -> dict[str, Any]:
    """What is kept of a report."""
    warnings.simplefilter("ignore")
    report = compiled(name, target)
    found = [f"{f.kind}: {f.op}, {f.where}" for f in report.findings]
    if not report.compiles:
        return {"error": report.error[:2000], "where": report.where, "findings": found}
    return {"seconds": report.seconds, "peak": report.memory.peak, "findings": found}


def in_process(name: str, target: str, limit: float) -> dict[str, Any]:
    """The same in a process of its own, which ends with those that it started."""
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "FLAGS_compile_progress": "0"}
    command = [sys.executable, __file__, "--one", name, "--targets", target]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, start_new_session=True, **pipes) as child:
        try:
            said, errors = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return {"error": f"not done after {limit:.0f} s"}
    if child.returncode:
        return {"error": (errors.strip().splitlines() or [f"ended with {child.returncode}"])[-1][:500]}
    return dict(json.loads(said.strip().splitlines()[-1]))


# -- the table ---------------------------------------------------------------------------------------------------------
def label(name: str) -> str:
    """A model or step as the page names it."""
    if " " not in name:
        return f"`{name}`, {side(name)} pixels"
    kind, _, rest = name.rpartition(" ")
    if kind == "benchmark":
        return f"step of the benchmarks' `{rest}`"
    return f"step of an {rest} of 2 layers in both directions" if rest == "LSTM" else f"step of `program_cases.{rest}`"


def cell(found: dict[str, Any] | None) -> str:
    """What came of one for one machine."""
    if found is None:
        return "not run"
    if "error" in found:
        return "no: " + " ".join(found["error"].split())[:140].replace("|", "/")
    notes = "".join(f"; {f}" for f in found["findings"])
    return f"{found['seconds']:.0f} s, {found['peak'] / 2**20:.0f} MiB{notes}"


def page(held: dict[str, dict[str, Any]], targets: list[str]) -> str:
    """The page of the documentation."""
    known = names()
    rows = [f"| {label(n)} | " + " | ".join(cell(held.get(t, {}).get(n)) for t in targets) + " |" for n in known]
    good = {t: sum("error" not in held.get(t, {}).get(n, {"error": ""}) for n in known) for t in targets}
    head = "| | " + " | ".join(f"{t}: {good[t]} of {len(known)}" for t in targets) + " |"
    return PAGE + "\n".join([head, "| --- |" + " --- |" * len(targets), *rows]) + "\n"


def main() -> None:
    """Compile what is not in the file yet, print, and write; end with 1 if something does not compile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="v5e,h200")
    parser.add_argument("--only", default="", help="a regular expression that names are searched for")
    parser.add_argument("--limit", type=float, default=900, help="seconds for each")
    parser.add_argument(
        "--json", type=Path, default=Path("out/whole.json"), help="what was found; removed, all is done anew"
    )
    parser.add_argument("--docs", type=Path, help="the page to write")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    targets = given.targets.split(",")
    if given.one:
        return print(json.dumps(told(given.one, targets[0])))
    held: dict[str, Any] = json.loads(given.json.read_text()) if given.json.exists() else {}
    given.json.parent.mkdir(parents=True, exist_ok=True)
    for target in targets:
        rows = held.setdefault(target, {})
        for name in [n for n in names() if re.search(given.only, n) and n not in rows]:
            rows[name] = in_process(name, target, given.limit)
            print(f"{target:6} {name:24} {cell(rows[name])}", flush=True)
            given.json.write_text(json.dumps(held, indent=1))
    if given.docs:
        given.docs.write_text(page(held, targets))
    sys.exit(any("error" in row for target in targets for row in held[target].values()))


if __name__ == "__main__":
    main()
