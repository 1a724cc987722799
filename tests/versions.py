"""The Pythons of this machine, and tests on each of them.

usage: python tests/versions.py          which are there
       python tests/versions.py test     the whole suite on each
       python tests/versions.py smoke    a thirtieth of it on the one that is farthest from this one
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMED, VERSIONS = ("3.11", "3.12", "3.13"), ("3.11", "3.12", "3.13", "3.14")  # by setup.cfg, and with the next one
HERE = "{}.{}".format(*sys.version_info)


def runs(python: str, version: str) -> bool:
    """Whether a Python is one of a version: a shim of pyenv is there, but may have none to run."""
    command = [python, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.strip() == version


def candidates(version: str) -> list[str]:
    """Where a Python may be: on the path, or one of pyenv's."""
    on_path = shutil.which(f"python{version}")
    of_pyenv = Path.home().glob(f".pyenv/versions/{version}*/bin/python")
    return ([on_path] if on_path else []) + sorted(map(str, of_pyenv), reverse=True)


def found() -> dict[str, str]:
    """The Python of each version that is here."""
    pythons = {v: next((p for p in candidates(v) if runs(p, v)), "") for v in VERSIONS}
    return {v: p for v, p in pythons.items() if p}


def make(target: str, version: str, python: str) -> bool:
    """Run a target of the Makefile in an environment of that Python's own; whether it has passed."""
    print(f"== {target} on Python {version}: {python}", flush=True)
    command = ["make", "--no-print-directory", target, f"PYTHON={python}", f"VENV=.venv-{version}"]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def main(what: str = "") -> str | int:
    """Do what is asked; what has failed."""
    pythons = found()
    missing = [v for v in VERSIONS if v not in pythons]
    if what == "smoke":
        others = [v for v in NAMED if v in pythons and v != HERE]
        if not others:
            print(f"NOT TESTED on another Python than {HERE}: no other one of {', '.join(NAMED)} is here", flush=True)
            return 0
        other = others[-1 if HERE < others[-1] else 0]
        pythons = {other: pythons[other]}
    elif what != "test":
        print(*[f"{v} {pythons.get(v, 'is not here')}" for v in VERSIONS], sep="\n")
        return 0
    target = "test-smoke" if what == "smoke" else "test"
    failed = [v for v, python in pythons.items() if not make(target, v, python)]
    if what == "test" and missing:
        print(f"NOT TESTED, as these Pythons are not here: {', '.join(missing)}")
    return f"{target} failed on Python {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
