"""Packages of others give here what they give on PaddlePaddle, as `make ecosystem` has recorded it."""

import importlib.util
import json

import pytest

from ecosystem import FOLDER, RECORDED, TRIALS, difference, run_here


@pytest.mark.parametrize("name", [name for name, trial in TRIALS.items() if trial.alone])
def test_trial(name):
    package = TRIALS[name].requirements[0]
    folder = FOLDER / name
    if importlib.util.find_spec(package.partition("==")[0]) is None and not folder.is_dir():
        pytest.skip(f"{package} is not here: the extra `test` has it, and so has `make ecosystem`")
    expected = json.loads(RECORDED.read_text())[name]
    assert difference(run_here(name, folder)["values"], expected) <= TRIALS[name].tolerance
