"""`import paddle` in a folder of packages of its own, as in an environment's site-packages."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import house
from paddle_lite_py import version
from paddle_lite_py.migrate import installed_alias
from paddle_lite_py.migrate.installed_alias import AliasError, install, remove, status


def run(folder: Path, *args: str) -> str:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path, str(house.ROOT)])}
    return subprocess.run([sys.executable, *args], env=env, capture_output=True, text=True, check=True).stdout


def test_programs_modules_and_metadata_find_it(tmp_path: Path):
    assert "no alias" in status(tmp_path)
    assert "gives paddle_lite_py" in install(tmp_path) == install(tmp_path) == status(tmp_path)
    code = "import paddle, importlib.metadata as m; print(paddle.__name__, m.version('paddlepaddle'))"
    assert run(tmp_path, "-c", code).split() == ["paddle_lite_py", version.full_version]
    assert "--nproc_per_node" in run(tmp_path, "-m", "paddle.distributed.launch", "--help")


def test_loaders_around_those_of_the_alias_give_the_same_modules(tmp_path: Path):
    install(tmp_path)
    code = """import importlib.abc, importlib.util, sys

class Around(importlib.abc.Loader):
    def __init__(self, loader): self.loader = loader
    def exec_module(self, module):
        self.loader.exec_module(module)
        if module.__name__ == "paddle": print(module.Tensor.__name__)

class Finder:
    def find_spec(name, path, target=None):
        if name.partition(".")[0] == "paddle":
            others = (f.find_spec(name, path, target) for f in sys.meta_path if f is not Finder)
            spec = next(s for s in others if s)
            spec.loader = Around(spec.loader)
            return spec

sys.meta_path.insert(0, Finder)
import paddle, paddle.nn.functional, paddle_lite_py
print(paddle is paddle_lite_py, paddle.nn.functional is paddle_lite_py.nn.functional)"""
    assert run(tmp_path, "-c", code).split() == ["Tensor", "True", "True"]


def test_what_is_missing_is_named(tmp_path: Path):
    install(tmp_path)
    code = """import sys
sys.modules["jax"] = None
try:
    import paddle
except ModuleNotFoundError as e:
    print(e.name)"""
    assert run(tmp_path, "-c", code).split() == ["jax"]


def test_it_is_removed_with_nothing_else(tmp_path: Path):
    install(tmp_path)
    (tmp_path / "paddle" / "notes.txt").write_text("mine")
    assert "another package" in remove(tmp_path) or (tmp_path / "paddle" / "notes.txt").exists()
    assert [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()] == ["paddle/notes.txt"]


def test_pip_can_remove_it(tmp_path: Path):
    install(tmp_path)
    (alias,) = metadata.distributions(name="paddlepaddle", path=[str(tmp_path)])
    listed = {str(f) for f in alias.files or ()}
    assert listed == {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", ["paddlepaddle", "paddlepaddle_gpu"])
def test_another_paddle_is_left_alone(tmp_path: Path, name: str):
    folder = tmp_path / f"{name}-2.6.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 2.6.0\n")
    with pytest.raises(AliasError, match=f"{name.replace('_', '-')} 2.6.0 in"):
        install(tmp_path)
    assert "another package" in remove(tmp_path) and folder.exists()


def test_a_module_of_that_name_is_left_alone(tmp_path: Path):
    (tmp_path / "paddle.py").write_text("")
    with pytest.raises(AliasError, match=r"paddle\.py"):
        install(tmp_path)


def test_its_version_is_the_api_s():
    (folder,) = installed_alias.SOURCE.glob("paddlepaddle-*.dist-info")
    assert folder.name == f"paddlepaddle-{version.full_version}.dist-info"
    assert f"Version: {version.full_version}\n" in (folder / "METADATA").read_text()
