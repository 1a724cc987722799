"""Packages of others, unchanged, on PaddlePaddle and here: numbers from the same weights, and the time of both.

usage: python tests/ecosystem/ecosystem.py REFERENCE [--docs FILE] [trial ...]
  REFERENCE: a Python that has PaddlePaddle. Each package is installed into a folder of its own, pinned, from PyPI.
  Rows of trials that are not named are those of the last run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from packages import TRIALS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = ROOT / ".cache" / "ecosystem"
RECORDED = HERE / "recorded"  # a file for each trial: what it gave on PaddlePaddle, and its row
SUITES = HERE / "suites.md"  # what was run by hand
PIP = "install --quiet --disable-pip-version-check --no-input --no-cache-dir --no-deps --retries 0".split()


def installed(name: str, timeout: float = 900.0) -> Path:
    """The folder of a trial's package and of what it needs, installed if they are not.

    Raises:
        RuntimeError: it cannot be installed; says why.
    """
    trial, folder = TRIALS[name], FOLDER / name
    done = folder / ".requirements"
    if done.is_file() and done.read_text() == "\n".join(trial.requirements):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", *PIP, "--target", str(folder)]
    first, *rest = trial.requirements
    commands = [[*pip, *rest], [*pip, "--no-use-pep517", first]] if trial.old_source else [[*pip, first, *rest]]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    try:
        for command in commands:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=timeout, env=env)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"was not installed within {timeout:.0f} s") from None
    except subprocess.CalledProcessError as e:
        raise RuntimeError(f"cannot be installed: {_cause(e.stderr, 'ERROR')}") from None
    done.write_text("\n".join(trial.requirements))
    return folder


def _cause(text: str, word: str = "Error") -> str:
    """The last line of an output that speaks of an error, fit for a table: without folders of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no output"]
    last = ([line for line in lines if word in line] or lines)[-1].replace("|", "/")
    return re.sub(r"(?<![\w/])/\S*/", "", last)[:300]


def run(name: str, command: list[str], folder: Path, where: str, timeout: float = 900.0) -> dict:
    """What a trial prints, run in a folder of its own.

    Raises:
        RuntimeError: it fails; says with what.
    """
    trial = TRIALS[name]
    env = {
        **os.environ, "PYTHONPATH": str(folder), "CUDA_VISIBLE_DEVICES": "", "PYTHONWARNINGS": "ignore",
        "MPLBACKEND": "agg", "HF_HUB_OFFLINE": "1", **dict(pair.split("=", 1) for pair in trial.env),
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as work:
        try:
            done = subprocess.run(
                [*command, str(HERE / f"{name}.py")],
                env=env, cwd=work, capture_output=True, text=True, timeout=timeout,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"takes more than {timeout:.0f} s {where}") from None
    printed = [line for line in done.stdout.splitlines() if line.startswith('{"values"')]
    if done.returncode or not printed:
        raise RuntimeError(f"fails {where}: {_cause(done.stderr)}")
    return json.loads(printed[-1])


def run_here(name: str, folder: Path) -> dict:
    """The trial with this package under the name of paddle."""
    return run(name, [sys.executable, "-m", "paddle_lite_py", "run"], folder, "here")


def difference(found: list[float], expected: list[float]) -> float:
    """How far numbers are from what they should be, at most, in parts of it (or of 1e-6, if it is less)."""
    if len(found) != len(expected):
        return math.inf
    pairs = [(a, b) for a, b in zip(found, expected, strict=True) if not (math.isnan(a) and math.isnan(b))]
    off = [abs(a - b) / max(abs(b), 1e-6) for a, b in pairs]
    return max((math.inf if math.isnan(o) else o for o in off), default=0.0)


def try_out(name: str, reference: str) -> dict:
    """Run a trial on both: what both give and take, or why there is nothing to compare."""
    record = {"package": TRIALS[name].requirements[0].replace("==", " ")}
    try:
        folder = installed(name)
        theirs = run(name, [reference], folder, "on PaddlePaddle")
        record["values"] = theirs["values"]
        ours = run_here(name, folder)
    except RuntimeError as e:
        return record | {"failure": str(e)}
    times = {stage: [ours[stage], theirs[stage]] for stage in ("cold", "hot", "rest")}
    return record | {"difference": difference(ours["values"], theirs["values"]), **times}


def keep(name: str, record: dict) -> None:
    """Write what a trial gave to its file; numbers of PaddlePaddle stay where there are no new ones."""
    file = RECORDED / f"{name}.json"
    before = json.loads(file.read_text()) if file.is_file() else {}
    RECORDED.mkdir(exist_ok=True)
    file.write_text(json.dumps({"values": before.get("values", []), **record}, indent=1) + "\n")


PAGE = """# Third-party packages

Third-party packages that support PaddlePaddle run without changes. `make ecosystem` writes this page: it installs each
published package and runs a short program (`tests/ecosystem/`) on PaddlePaddle {version} and here, from the same
weights. Times are CPU seconds, ours first, with an empty cache of compiled programs: up to the first step, imports
included; for each step after it; for all that follows (evaluation, export, predictions of the loaded program).

| Package | Program | Equal | Difference | First step | Later steps | Rest | Cause |
| --- | --- | --- | --- | --- | --- | --- | --- |
{rows}
"""


def row(name: str, record: dict) -> str:
    """A line of the page's table."""
    trial = TRIALS[name]
    if "failure" in record:
        return f"| {record['package']} | {trial.what} | no | | | | | {record['failure']} |"
    off = record["difference"]
    cold, hot, rest = (
        ", ".join(f"{x:.{digits}f} s" for x in record[stage]) if any(round(x, digits) for x in record[stage]) else ""
        for stage, digits in (("cold", 1), ("hot", 4), ("rest", 1))
    )
    same = "yes" if off <= trial.tolerance else "no"
    return f"| {record['package']} | {trial.what} | {same} | {off:.1e} | {cold} | {hot} | {rest} | {trial.cause} |"


def write_page(file: Path, version: str) -> None:
    """Write the page: a row for each trial that was ever run, and what was run by hand."""
    records = {name: RECORDED / f"{name}.json" for name in TRIALS}
    rows = [row(name, json.loads(found.read_text())) for name, found in records.items() if found.is_file()]
    file.write_text(PAGE.format(version=version, rows="\n".join(rows)) + SUITES.read_text())


def main() -> None:
    """Run trials on both, write the page and record what PaddlePaddle gives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference")
    parser.add_argument("--docs")
    parser.add_argument("trials", nargs="*", default=list(TRIALS))
    given = parser.parse_intermixed_args()
    version = subprocess.run(
        [given.reference, "-c", "import paddle; print(paddle.__version__)"], capture_output=True, text=True, check=True
    )
    with tempfile.TemporaryDirectory() as cache:
        for name in given.trials:
            os.environ["PADDLE_LITE_CACHE_DIR"] = f"{cache}/{name}"
            record = try_out(name, given.reference)
            keep(name, record)
            print(row(name, record), flush=True)
    if given.docs:
        write_page(Path(given.docs), version.stdout.split()[-1])


if __name__ == "__main__":
    main()
