"""What is kept under the name of a program is of one source of the package."""

from __future__ import annotations

import os

import pytest

import paddle_lite_py as paddle
from paddle_lite_py import jit
from paddle_lite_py.core.package_stamp import package_stamp


@pytest.mark.parametrize("module", [paddle, jit], ids=["paddle_lite_py", "jit"])
def test_a_change_of_a_file_is_another_stamp(module, monkeypatch):
    stat = os.stat

    class Newer:
        def __init__(self, status):
            self.st_size, self.st_mtime_ns = status.st_size, status.st_mtime_ns + 1

    changed = module.__file__
    before = package_stamp.__wrapped__()
    assert package_stamp.__wrapped__() == before
    monkeypatch.setattr(os, "stat", lambda path, **more: Newer(stat(path)) if path == changed else stat(path, **more))
    assert package_stamp.__wrapped__() != before
