"""What tests of the core share."""

from __future__ import annotations

import pytest

from paddle_lite_py.core import memo
from paddle_lite_py.core.switches import baseline_tier
from paddle_lite_py.cpu_compiler import executables, out_of_process


@pytest.fixture
def all_are_large(monkeypatch, tmp_path):
    """Every program counts as a large one, and executables are kept in a folder of the test's own."""
    monkeypatch.setattr(out_of_process, "LARGE", 1)
    monkeypatch.setattr(out_of_process, "FEW", 1)
    monkeypatch.setattr(executables, "folder", lambda: tmp_path)
    monkeypatch.setattr(baseline_tier, "on", False)
    if not out_of_process.serves():
        pytest.skip("programs are compiled by another process on one CPU with glibc")
    memo.clear()
    yield
    memo.clear()  # what is compiled so is for these tests alone


@pytest.fixture
def traces(monkeypatch):
    """Of which function each trace was."""
    found = []
    new = out_of_process.TracedFunction
    monkeypatch.setattr(out_of_process, "TracedFunction", lambda fn, args: found.append(fn.__name__) or new(fn, args))
    return found
