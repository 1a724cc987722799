"""Which Pythons are found, and which of them is the other end."""

from __future__ import annotations

import configparser
import subprocess
import sys

import pytest

import house
import versions
from paddle_lite_py.core.jax_compat.versions import TESTED


def test_a_python_runs_if_it_is_of_that_version(tmp_path):
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\necho 'pyenv: python3.13: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    assert versions.runs(sys.executable, versions.HERE)
    assert not versions.runs(sys.executable, "2.7") and not versions.runs(str(shim), "3.13")


@pytest.fixture
def made(monkeypatch):
    """What would be made, with these Pythons here."""
    targets = []
    monkeypatch.setattr(versions, "make", lambda *what: targets.append(what) or "fails" not in what[2])

    def given(here, **pythons):
        monkeypatch.setattr(versions, "HERE", here)
        monkeypatch.setattr(versions, "found", lambda: {v.replace("_", ".").strip("v"): p for v, p in pythons.items()})
        return targets

    return given


@pytest.mark.parametrize(("here", "other"), [("3.11", "3.13"), ("3.12", "3.13"), ("3.13", "3.11")])
def test_a_part_runs_on_the_farthest(made, here, other):
    made(here, v3_11="a", v3_12="b", v3_13="c", v3_14="d")
    assert versions.main("smoke") == 0
    assert [what[:2] for what in made(here)] == [("test-smoke", other)]


def test_none_other_is_said(made, capsys):
    targets = made("3.11", v3_11="a", v3_14="d")
    assert versions.main("smoke") == 0 and not targets
    assert "NOT TESTED on another Python than 3.11" in capsys.readouterr().out


def test_all_run_and_those_missing_are_named(made, capsys):
    targets = made("3.11", v3_11="a", v3_12="fails", v3_13="c")
    assert versions.main("test") == "test failed on Python 3.12"
    assert [version for _, version, _ in targets] == ["3.11", "3.12", "3.13"]
    assert "not here: 3.14" in capsys.readouterr().out


def test_pages_and_packaging_promise_the_same():
    config = configparser.ConfigParser()
    config.read(house.ROOT / "setup.cfg")
    classifiers = config["metadata"]["classifiers"].splitlines()
    assert [c.rpartition(" ")[2] for c in classifiers if "Python :: 3." in c] == list(versions.NAMED)
    first, end = TESTED
    last = f"0.{int(end.split('.')[1]) - 1}"
    promised = {
        "README.md": ("Python 3.11, 3.12 or 3.13", f"{first} to {last}"),
        "README.zh.md": ("Python 3.11、3.12 或 3.13", f"{first} 到 {last}"),
        "docs/installation.md": ("Python 3.11, 3.12 or 3.13", f"from {first} on and below {end}"),
        "docs/support.md": ("| Python | 3.11, 3.12, 3.13 |", f"| JAX | {first} to {last} (below {end}"),
        "CONTRIBUTING.md": ("Python 3.11 to 3.13", f"JAX {first} to {last}"),
    }
    for page, texts in promised.items():
        text = (house.ROOT / page).read_text()
        assert not [t for t in texts if t not in text], page


def test_the_first_test_of_a_file_and_each_tenth_after_it_run(tmp_path):
    file = tmp_path / "test_many.py"
    file.write_text("import pytest\n@pytest.mark.parametrize('n', range(25))\ndef test_n(n): ...\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "--every",
        "10",
        str(file),
        "tests/test_reader.py",
    ]
    done = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
    assert [line.partition("[")[2] for line in done.stdout.splitlines() if "test_n[" in line] == ["0]", "10]", "20]"]
    assert sum("tests/test_reader.py::" in line for line in done.stdout.splitlines()) >= 1, done.stdout
