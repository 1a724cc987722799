"""The trainer of the tutorials: its batches, the same losses over a mesh, and runs that are killed."""

from __future__ import annotations

import argparse
import itertools
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import house
from paddle_lite_py.text.models import CausalLM

SCRIPT = house.ROOT / "tutorials" / "train_language_model.py"
sys.path.insert(0, str(SCRIPT.parent))
import train_language_model as trainer  # noqa: E402

LINES = [f"{n} and {n} are {2 * n}" for n in range(40)]
SIZES = ["--rows", "8", "--length", "16", "--steps", "4", "--log", "1", "--save", "1"]


@pytest.fixture
def corpus(tmp_path):
    for i in (0, 1):
        (tmp_path / f"{i}.txt").write_text("\n\n".join(LINES[20 * i : 20 * i + 20]) + "\n")
    return str(tmp_path / "*.txt")


def started(corpus, folder, *options, devices=1):
    env = {**os.environ, "PYTHONPATH": str(house.ROOT), "JAX_PLATFORMS": "cpu"}
    env["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    command = [sys.executable, str(SCRIPT), corpus, "--folder", str(folder), *SIZES, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def losses(running):
    """The losses that a run prints, by step."""
    text, errors = running.communicate(timeout=240)
    assert running.returncode == 0, errors
    return {int(n): loss for n, loss in re.findall(r"step (\d+): loss ([\d.]+)", text)}


def test_rows_are_full_and_have_the_documents_in_order(corpus):
    tokens = trainer.documents([corpus], lambda line: list(line.strip().encode()))
    (first, second) = itertools.islice(trainer.batches(tokens, 3, 16), 2)
    text = "".join(LINES).encode()
    ids = np.concatenate([first.input_ids.numpy(), second.input_ids.numpy()])
    assert ids.shape == (6, 16) and bytes(ids.ravel().tolist()) == text[:96]
    assert first.segment_ids[0].tolist() == [1] * len(LINES[0]) + [2] * (16 - len(LINES[0]))
    assert (first.segment_ids.numpy() > 0).all()
    assert first.labels[0, len(LINES[0]) - 1] == -100  # a document does not predict the next one
    endless = list(itertools.islice(trainer.documents([corpus], lambda line: [1]), 200))
    assert len(endless) == 200
    with pytest.raises(SystemExit, match="there is no text"):
        next(trainer.documents([corpus], lambda line: []))


@pytest.mark.parametrize(
    ("kind", "plan"),
    [
        pytest.param("tiny", "dp=2,sep=2,mp=2,sharding=3,recompute", marks=pytest.mark.repeat),
        ("tiny", "dp=2,mp=2,pp=2,sharding=3,recompute"),
        pytest.param("tiny-moe", "dp=4,mp=2,sharding=3,recompute", marks=pytest.mark.repeat),
        pytest.param("tiny", "dp=2,sep=2,pp=2,micro=2", marks=pytest.mark.repeat),
    ],
)
def test_eight_devices_give_the_losses_of_one_and_each_goes_on_where_the_other_was(kind, plan, corpus, tmp_path):
    mesh = ["--model", kind, "--mesh", plan]
    runs = [started(corpus, tmp_path / "a", "--model", kind), started(corpus, tmp_path / "b", *mesh, devices=8)]
    one, many = map(losses, runs)
    assert list(one) == [1, 2, 3, 4]
    np.testing.assert_allclose([float(x) for x in many.values()], [float(x) for x in one.values()], rtol=2e-4)
    assert sorted(f.name for f in (tmp_path / "b").glob("*.metadata")) == ["3.metadata", "4.metadata"]
    (tmp_path / "b" / "4.metadata").unlink()
    alone = ["--stack"] if "pp" in plan else []
    again = losses(started(corpus, tmp_path / "b", "--model", kind, "--steps", "5", *alone))
    assert list(again) == [4, 5] and abs(float(again[4]) - float(one[4])) < 2e-3
    model = CausalLM.from_pretrained(tmp_path / "b")
    assert model.generate([[65]], max_new_tokens=2)[0].shape == [1, 2]


@pytest.mark.repeat
def test_a_plan_with_stages_that_the_auto_tuner_finds_is_trained(corpus, tmp_path):
    file = str(tmp_path / "found.json")
    command = [sys.executable, "-m", "paddle_lite_py.distributed.auto_tuner", str(SCRIPT), "--for", "cpu:8"]
    command += ["--depth", "2", "--mp", "1", "2", "--pp", "2", "4", "--sharding", "1", "--recompute", "0"]
    env = {**os.environ, "PYTHONPATH": str(house.ROOT), "MODEL": "tiny", "LENGTH": "16", "ROWS": "16"}
    alone = started(corpus, tmp_path / "a", "--rows", "16", "--steps", "2")
    found = subprocess.run([*command, "--json", file], env=env, capture_output=True, text=True, timeout=480)
    assert found.returncode == 0, found.stderr
    assert "2 layers do not divide into 4 stages" in found.stdout
    plan = trainer.chosen(file)
    assert plan.pp == 2 and plan.chips == 8
    many = losses(started(corpus, tmp_path / "b", "--rows", "16", "--steps", "2", "--mesh", file, devices=8))
    one = losses(alone)
    np.testing.assert_allclose([float(x) for x in many.values()], [float(x) for x in one.values()], rtol=2e-4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not what the auto_tuner writes"),
        ("[]", "not what"),
        ('[{"plan": {"dp": 2, "mp": 1}, "error": "x"}]', "fits"),
    ],
)
def test_a_file_without_a_plan_is_refused(text, said, tmp_path):
    (tmp_path / "found.json").write_text(text)
    with pytest.raises(argparse.ArgumentTypeError, match=said):
        trainer.chosen(str(tmp_path / "found.json"))


def test_a_killed_run_goes_on_to_the_same_losses(corpus, tmp_path):
    whole = losses(started(corpus, tmp_path / "whole"))
    with started(corpus, tmp_path / "killed") as running:
        for line in running.stdout:
            if line == "saved step 2\n":
                running.kill()
    rest = losses(started(corpus, tmp_path / "killed"))
    assert rest and max(rest) == 4 and min(rest) >= 3 and rest.items() <= whole.items()
