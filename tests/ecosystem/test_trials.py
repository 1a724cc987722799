"""Packages of others give here what they give on PaddlePaddle, as `make ecosystem` has recorded it."""

import importlib.util
import json
import sys

import pytest
from packages import TRIALS, Trial

from ecosystem import FOLDER, RECORDED, ROOT, SUITES, difference, row, run_here, try_out


@pytest.mark.parametrize("name", [name for name, trial in TRIALS.items() if trial.alone])
def test_trial(name):
    package = TRIALS[name].requirements[0]
    folder = FOLDER / name
    if importlib.util.find_spec(package.partition("==")[0]) is None and not folder.is_dir():
        pytest.skip(f"{package} is not here: the extra `test` has it, and so has `make ecosystem`")
    expected = json.loads((RECORDED / f"{name}.json").read_text())["values"]
    assert difference(run_here(name, folder)["values"], expected) <= TRIALS[name].tolerance


def test_page_has_the_rows_that_were_recorded():
    page = (ROOT / "docs" / "ecosystem.md").read_text()
    assert page.endswith(SUITES.read_text())
    for file in RECORDED.glob("*.json"):
        assert row(file.stem, json.loads(file.read_text())) in page


def test_numbers_that_are_missing_differ():
    assert difference([1.0], [1.0, 2.0]) == difference([float("nan")], [1.0]) == float("inf")
    assert difference([float("nan"), 1.1], [float("nan"), 1.0]) == pytest.approx(0.1)


def test_package_that_cannot_be_installed_has_a_row(monkeypatch):
    monkeypatch.setitem(TRIALS, "lost", Trial(("./lost-1.0-py3-none-any.whl",), "nothing"))
    record = try_out("lost", sys.executable)
    assert "cannot be installed: " in record["failure"] and "lost-1.0" in record["failure"]
    assert row("lost", record).count("|") == 9  # eight columns
