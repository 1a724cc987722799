"""The benchmark harness: one real row, a row that fails, and how targets are judged."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import house

BENCHMARKS = house.ROOT / "benchmarks"


def bench(*arguments: str) -> str:
    """Run the harness with a single short round; its output."""
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--jax", "", "--rounds", "1", "--seconds", "0.02"]
    done = subprocess.run([*command, *arguments], cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_row_is_measured_and_written(tmp_path):
    out = tmp_path / "table.json"
    assert "| eager_add " in bench("--only", "^eager_add$", "--out", str(out))
    table = json.loads(out.read_text())
    cell = table["rows"]["eager_add"]["ours"]
    assert 0 < cell["value"] < 10_000 and cell["unit"] == "us" and cell["first_call_s"] > 0
    assert table["machine"]["cores"] >= 1 and "numpy" in table["versions"]["ours"]


def test_a_framework_that_is_not_there_fails_its_own_cell_only(tmp_path):
    lacking = tmp_path / "python"
    lacking.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    lacking.chmod(0o755)
    assert "failed" in bench("--only", "^import_time$", "--torch", str(lacking))


@pytest.fixture
def run(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import run

    return run


def test_targets_compare_the_rows_they_name(run):
    rows = {"a": {"ours": {"value": 30.0}, "jax": {"value": 20.0}}, "b": {"jax": {"value": 10.0}, "torch": {}}}
    assert run.verdict(run.Target("a", 1.5), rows) == "jax 1.50 <= 1.5 ok"
    assert run.verdict(run.Target("a", 2.9, of="b"), rows) == "jax b 3.00 <= 2.9 MISSED"
    assert run.verdict(run.Target("a", 1.0, "torch", "b"), rows) == ""


def test_a_row_that_only_the_peer_can_do_misses_its_target(run):
    rows = {"a": {"ours": {"error": "TypeError"}, "jax": {"value": 20.0}}}
    assert run.verdict(run.Target("a", 1.5), rows) == "jax: MISSED"


def test_every_target_is_measured(run):
    names = {name for group in run.GROUPS.values() for name in group}
    assert {t.workload for t in run.TARGETS} | {t.of for t in run.TARGETS} - {""} <= names


def test_passes_are_measured_at_two_sizes():
    command = [sys.executable, str(BENCHMARKS / "passes.py"), "--rounds", "1"]
    done = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.endswith("|") and " ms " in line]
    assert len(rows) == 12 and any("a rewrite" in r for r in rows)


def test_reading_of_datasets_is_measured():
    command = [sys.executable, str(BENCHMARKS / "dataset.py"), "--lines", "100", "--rounds", "1"]
    done = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [line.split("|")[1].strip() for line in done.stdout.splitlines()] == [
        "slots", "slots, one thread", "numpy.loadtxt", "bytes alone"
    ]  # fmt: skip
