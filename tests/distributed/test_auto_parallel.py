"""Tensors over a mesh: of devices of one process, and of processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import paddle_lite_py as paddle
from launching import PROGRAMS, ROOT, launched
from paddle_lite_py import distributed as dist

PROGRAM = PROGRAMS / "over_a_mesh.py"


def test_one_process_with_several_devices():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    env = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(PROGRAM)], env=env, capture_output=True, text=True, timeout=480)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count(" is well") == 15


@pytest.mark.repeat
def test_two_processes(tmp_path):
    assert launched(tmp_path, 2, PROGRAM).count(" is well") == 15


def test_a_mesh():
    mesh = dist.ProcessMesh([[0, 1], [2, 3]], ["x", "y"])
    assert str(mesh) == "shape [2, 2], process_ids [0, 1, 2, 3], dim_names ['x', 'y']"
    assert str(mesh[0]) == "shape [2], process_ids [0, 1], dim_names ['y']"
    assert str(mesh[:, 1]) == "shape [2], process_ids [1, 3], dim_names ['x']"
    assert mesh == dist.ProcessMesh(shape=[2, 2], process_ids=range(4), dim_names=["x", "y"]) and mesh != mesh[0]
    assert dist.ProcessMesh([0, 1]).dim_names == ["d0"] and mesh.get_dim_size("x") == 2
    assert mesh.get_mesh_with_dim("y").process_ids == [0, 2, 1, 3]
    assert mesh.get_rank_by_dim_and_process_id("y", 1) == 1
    placed = [dist.Shard(1), dist.Replicate(), dist.Partial(), dist.Partial(dist.ReduceType.kRedMax)]
    shown = ["Shard(dim=1)", "Replicate()", "Partial(reduce_type=SUM)", "Partial(reduce_type=MAX)"]
    assert [repr(p) for p in placed] == shown
    assert dist.Shard(0) == dist.Shard(0) and dist.Shard(0) != dist.Shard(1) and dist.Shard(1).is_shard(1)


def test_what_is_not_there_is_said():
    with pytest.raises(RuntimeError, match="there are 1 devices; start as many processes"):
        dist.shard_tensor(paddle.ones([4]), dist.ProcessMesh([0, 1]), [dist.Shard(0)]).numpy()
    with pytest.raises(ValueError, match="dim_names is \\['x'\\] for a mesh of 2 axes"):
        dist.ProcessMesh([[0, 1]], ["x"])
    with pytest.raises(ValueError, match="a process stands twice"):
        dist.ProcessMesh([0, 0])
    with pytest.raises(ValueError, match="has no loss or no optimizer"):
        dist.to_static(paddle.nn.Linear(1, 1)).train()
