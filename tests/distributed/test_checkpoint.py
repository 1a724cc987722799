"""Checkpoints of which each process writes its part."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import paddle_lite_py as paddle
from launching import PROGRAMS, ROOT, launched
from paddle_lite_py import distributed as dist
from paddle_lite_py.distributed.flex_checkpoint.dcp import metadata

PROGRAM = PROGRAMS / "checkpoint.py"


def _by_one(*arguments):
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    env = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, PROGRAM, *arguments], env=env, capture_output=True, text=True, timeout=480)
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr[-3000:]


def test_what_one_process_saves_two_load_and_the_other_way(tmp_path):
    _by_one("save", str(tmp_path / "a"))
    assert "done" in launched(tmp_path, 2, PROGRAM, "load", str(tmp_path / "a"))
    launched(tmp_path, 2, PROGRAM, "save", str(tmp_path / "b"))
    _by_one("load", str(tmp_path / "b"))


def test_a_save_that_is_cut_off_leaves_the_last_whole(tmp_path):
    dist.save_state_dict({"w": paddle.ones([2])}, str(tmp_path))
    (tmp_path / "0_1.distcp").write_bytes(b"half")  # the other files of number 1 never came
    held = {"w": paddle.zeros([2])}
    dist.load_state_dict(held, str(tmp_path))
    assert held["w"].tolist() == [1.0, 1.0]


def test_a_save_in_the_background_that_fails_is_told_by_the_next(tmp_path):
    dist.save_state_dict({"w": paddle.ones([2])}, str(tmp_path))
    (tmp_path / "0_1.distcp").mkdir()  # where the file of number 1 would come
    dist.save_state_dict({"w": paddle.zeros([2])}, str(tmp_path), async_save=True)
    with pytest.raises(ValueError, match=r"0_1.distcp"):
        dist.load_state_dict({"w": paddle.zeros([2])}, str(tmp_path))
    held = {"w": paddle.zeros([2])}
    dist.load_state_dict(held, str(tmp_path))
    assert held["w"].tolist() == [1.0, 1.0]


def test_what_does_not_fit_is_named_and_changes_nothing(tmp_path):
    dist.save_state_dict({"w": paddle.ones([2]), "step": paddle.to_tensor(3)}, str(tmp_path))
    held = {"w": paddle.zeros([2]), "v": paddle.zeros([1]), "u": paddle.zeros([1])}
    with pytest.raises(ValueError, match="lacks u, v"):
        dist.load_state_dict(held, str(tmp_path))
    with pytest.raises(ValueError, match=r"w is \[2\] there and \[3\] here"):
        dist.load_state_dict({"step": paddle.to_tensor(0), "w": paddle.zeros([3])}, str(tmp_path))
    with pytest.raises(FileNotFoundError, match="there is no checkpoint"):
        dist.load_state_dict(held, str(tmp_path / "nowhere"))
    with pytest.raises(TypeError, match="'f' is a function"):
        dist.save_state_dict({"f": len.__class__ and (lambda: 0)}, str(tmp_path))
    (tmp_path / "0_0.distcp").unlink()
    with pytest.raises(FileNotFoundError, match="0_0.distcp of the checkpoint"):
        dist.load_state_dict({"w": held["w"]}, str(tmp_path))
    assert held["w"].tolist() == [0.0, 0.0]


def test_files_outside_of_the_folder_are_not_read(tmp_path):
    dist.save_state_dict({"w": paddle.ones([2])}, str(tmp_path / "here"))
    (path,) = (tmp_path / "here").glob("*.metadata")
    found = metadata.from_bytes(path.read_bytes())
    found.storage_metadata = dict.fromkeys(found.storage_metadata, "../0_0.distcp")
    path.write_bytes(metadata.as_bytes(found))
    (tmp_path / "here" / "0_0.distcp").rename(tmp_path / "0_0.distcp")
    with pytest.raises(ValueError, match="name a file outside of it"):
        dist.load_state_dict({"w": paddle.zeros([2])}, str(tmp_path / "here"))


def test_the_record_names_the_classes_of_the_reference():
    index = metadata.LocalTensorIndex("w", (0,), local_shape=(2,))
    parts = {"w": [metadata.LocalTensorMetadata((0,), (2,), "float32", (2,))]}
    written = metadata.as_bytes(metadata.Metadata(parts, {index: "0_0.distcp"}, {"w": ("w",)}))
    assert b"cpaddle.distributed.flex_checkpoint.dcp.metadata\nMetadata" in written
    assert metadata.from_bytes(written).storage_metadata == {index: "0_0.distcp"}
    with pytest.raises(ValueError, match="damaged, or no checkpoint's"):
        metadata.from_bytes(np.random.default_rng(0).bytes(64))
    with pytest.raises(ValueError, match="posix.system|nt.system"):
        metadata.from_bytes(b"cposix\nsystem\n(S'true'\ntR.")
