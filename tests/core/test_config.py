"""The persistent compilation cache: where it is, how it is switched off, and that it stays within its limit."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core import config


def test_the_folder_is_one_for_each_jaxlib_and_cpu(monkeypatch, tmp_path):
    monkeypatch.setenv(config.CACHE_VARIABLE, str(tmp_path))
    folder = config.cache_dir()
    assert folder.parent == tmp_path and folder.name.startswith("jaxlib-")
    monkeypatch.setattr(config, "cpu_features", lambda: "another CPU")
    assert config.cache_dir() != folder


@pytest.mark.parametrize("value", ["", "0", "off", "None"])
def test_it_can_be_switched_off(monkeypatch, value):
    monkeypatch.setenv(config.CACHE_VARIABLE, value)
    assert config.cache_dir() is None


def test_the_oldest_entries_go_first(tmp_path):
    for age, name in enumerate(["new", "middle", "old"]):
        path = tmp_path / name
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 - age, 1000 - age))
    config.prune(tmp_path, limit=150)
    assert [p.name for p in tmp_path.iterdir()] == ["new"]


def test_a_second_process_compiles_nothing_new(tmp_path):
    code = "import paddle_lite_py as paddle; paddle.tanh(paddle.ones([2, 3])).numpy()"
    environment = os.environ | {config.CACHE_VARIABLE: str(tmp_path)}

    def entries() -> set[str]:
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        return {p.name for p in tmp_path.rglob("*-cache")}

    first = entries()
    assert first and entries() == first


def test_ops_follow_a_default_dtype_that_changes():
    """Integers meet Python floats in float32 whatever the default, as in PaddlePaddle; lone floats are the default."""
    i = paddle.to_tensor([1, 2, 3])
    calls = {
        "where": lambda: paddle.where(i > 1, 1.0, 0.0),
        "full": lambda: paddle.full([2], 1.5),
        "quotient": lambda: i / 2,
        "product": lambda: i * 1.5,
        "root": lambda: paddle.sqrt(i),
    }
    found = []
    for default in ("float32", "float64", "float32"):
        paddle.set_default_dtype(default)
        try:
            found.append({name: [call().dtype.name for _ in range(3)] for name, call in calls.items()})
        finally:
            paddle.set_default_dtype("float32")
    assert found[0] == found[2] == {name: ["float32"] * 3 for name in calls}
    assert found[1] == found[0] | {"where": ["float64"] * 3, "full": ["float64"] * 3}


def test_a_folder_that_cannot_be_written_is_told_with_the_setting(tmp_path):
    (tmp_path / "file").write_text("")
    environment = os.environ | {config.CACHE_VARIABLE: str(tmp_path / "file" / "folder")}
    code = "import paddle_lite_py as paddle; print(paddle.ones([2]).tolist())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "[1.0, 1.0]\n" and f"switch the cache off with {config.CACHE_VARIABLE}=off" in done.stderr
