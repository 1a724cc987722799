"""Packages of others, unchanged, on PaddlePaddle and here: numbers from the same weights, and the time of both.

usage: python tests/ecosystem/ecosystem.py REFERENCE [--docs FILE] [trial ...]
  REFERENCE: a Python that has PaddlePaddle. Each package is installed into a folder of its own, pinned, from PyPI.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = ROOT / ".cache" / "ecosystem"
RECORDED = HERE / "recorded.json"
SUITES = HERE / "suites.md"  # what was run by hand


class Trial(NamedTuple):
    """A package, what is installed for it, and how far its numbers may differ."""

    requirements: tuple[str, ...]
    what: str
    tolerance: float = 1e-5
    alone: bool = False  # without what it depends on, which is there


TRIALS = {
    "einops_layers": Trial(("einops==0.8.2",), "network of its layers and functions, 20 steps", alone=True),
    "safetensors_file": Trial(("safetensors==0.8.0",), "saving and loading weights; six dtypes", alone=True),
    "nnaudio_spectrograms": Trial(
        ("paddle-nnaudio==0.0.3",), "classifier on trained mel spectrograms; STFT, MFCC, constant-Q", 1e-4, alone=True
    ),
    "msssim_picture": Trial(("paddle-msssim==0.0.2",), "a picture optimized by SSIM; MS-SSIM", 1e-3, alone=True),
    "deepxde_poisson": Trial(("deepxde==1.15.0",), "Poisson equation with Adam, then L-BFGS; predictions", 1e-2),
}


def installed(name: str, timeout: float = 600.0) -> Path:
    """The folder of a trial's package, installed if it is not.

    Raises:
        RuntimeError: it cannot be installed; says why.
    """
    trial, folder = TRIALS[name], FOLDER / name
    done = folder / ".requirements"
    if done.is_file() and done.read_text() == "\n".join(trial.requirements):
        return folder
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--upgrade"]
    alone = ["--no-deps", "--retries", "0"] if trial.alone else []
    try:
        subprocess.run(
            [*pip, *alone, "--target", str(folder), *trial.requirements],
            check=True, capture_output=True, text=True, timeout=timeout,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{trial.requirements[0]} was not installed within {timeout:.0f} s") from None
    except subprocess.CalledProcessError as e:
        last = [line for line in e.stderr.splitlines() if "ERROR" in line] or ["pip failed"]
        raise RuntimeError(f"{trial.requirements[0]} cannot be installed: {last[-1]}") from None
    done.write_text("\n".join(trial.requirements))
    return folder


def run(name: str, command: list[str], folder: Path) -> dict:
    """What a trial prints.

    Raises:
        RuntimeError: it fails; says with what.
    """
    # Not before what is there: a package brings its own NumPy along.
    env = {**os.environ, "TRIAL_PACKAGES": str(folder), "CUDA_VISIBLE_DEVICES": "", "PYTHONWARNINGS": "ignore"}
    start = f"import sys; sys.path += [{str(folder)!r}, {str(HERE)!r}]; import runpy; "
    done = subprocess.run(
        [*command, start + f"runpy.run_path({str(HERE / f'{name}.py')!r}, run_name='__main__')"],
        env=env, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name} fails: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_here(name: str, folder: Path) -> dict:
    """The trial with this package under the name of paddle."""
    start = (
        "import sys; from paddle_lite_py.migrate.alias import install_as_paddle; install_as_paddle(); exec(sys.argv[1])"
    )
    return run(name, [sys.executable, "-c", start], folder)


def difference(found: list[float], expected: list[float]) -> float:
    """How far numbers are from what they should be, at most, in parts of it (or of 1e-6, if it is less)."""
    pairs = zip(found, expected, strict=True)
    return max(abs(a - b) / max(abs(b), 1e-6) for a, b in pairs)


ROW = (
    "| {package} | {what} | {same} | {off:.1e} | {cold:.1f} s, {theirs_cold:.1f} s | {hot:.4f} s, {theirs_hot:.4f} s |"
)
PAGE = """# Third-party packages

Third-party packages that support PaddlePaddle run without changes. `make ecosystem` writes this page: it installs each
published package and runs a short program (`tests/ecosystem/`) on PaddlePaddle {version} and here, from the same
weights. Times are CPU seconds, ours first: up to the first step, imports included, and for each step after it.

| Package | Program | Equal | Difference | First step | Later steps |
| --- | --- | --- | --- | --- | --- |
{rows}
"""


def main() -> None:
    """Run trials on both, write the page and record what PaddlePaddle gives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference")
    parser.add_argument("--docs")
    parser.add_argument("trials", nargs="*", default=list(TRIALS))
    given = parser.parse_intermixed_args()
    recorded = json.loads(RECORDED.read_text()) if RECORDED.is_file() else {}
    rows = []
    for name in given.trials:
        folder, trial = installed(name), TRIALS[name]
        theirs, ours = run(name, [given.reference, "-c"], folder), run_here(name, folder)
        recorded[name] = theirs["values"]
        off = difference(ours["values"], theirs["values"])
        rows.append(
            ROW.format(
                package=trial.requirements[0].replace("==", " "), what=trial.what,
                same="yes" if off <= trial.tolerance else "no", off=off, cold=ours["cold"], hot=ours["hot"],
                theirs_cold=theirs["cold"], theirs_hot=theirs["hot"],
            )
        )  # fmt: skip
        print(rows[-1], flush=True)
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
    if given.docs:
        shown = subprocess.run(
            [given.reference, "-c", "import paddle; print(paddle.__version__)"],
            capture_output=True,
            text=True,
            check=True,
        )
        Path(given.docs).write_text(
            PAGE.format(version=shown.stdout.split()[-1], rows="\n".join(rows)) + SUITES.read_text()
        )


if __name__ == "__main__":
    main()
