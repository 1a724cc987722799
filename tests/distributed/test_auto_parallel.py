"""Tensors over a mesh: of devices of one process, and of processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import paddle_lite_py as paddle
from launching import PROGRAMS, ROOT, launched
from paddle_lite_py import distributed as dist
from paddle_lite_py.distributed.auto_parallel.pieces import transfers
from paddle_lite_py.eager.deferred import Deferred
from paddle_lite_py.eager.recorded_ops import one_by_one
from paddle_lite_py.host.varying import sizes_vary

PROGRAM = PROGRAMS / "over_a_mesh.py"
PLANS = PROGRAMS / "random_plans.py"


def test_one_process_with_several_devices():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    env = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(PROGRAM)], env=env, capture_output=True, text=True, timeout=480)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count(" is well") == 19


@pytest.mark.repeat
def test_two_processes(tmp_path):
    assert launched(tmp_path, 2, PROGRAM).count(" is well") == 19


def test_layers_in_different_processes(tmp_path):
    said = launched(tmp_path, 2, PROGRAMS / "between_meshes.py", str(tmp_path / "checkpoint"))
    assert said.count(" is well") == 6


DIFFERENT = "dist.shard_tensor(paddle.ones([4 + 2 * RANK]), MESH, [dist.Shard(0)]).numpy()"
PLACED = "dist.shard_tensor(paddle.ones([4, 2]), MESH, [dist.Shard(RANK)]).numpy()"
UNEVEN = "dist.shard_tensor(paddle.ones([3]), MESH, [dist.Shard(0)])"
KILLED = """
x = dist.shard_tensor(paddle.ones([4]), MESH, [dist.Shard(0)])
for step in range(10**6):
    if RANK == 1 and step == 20: os.kill(os.getpid(), signal.SIGKILL)
    float((x * step).sum()), (x + step).numpy()
"""
ENDED = "if RANK == 0: print((dist.shard_tensor(paddle.ones([4]), MESH, [dist.Shard(0)]) * 2).numpy())"
COMPUTED = "x = dist.shard_tensor(paddle.ones([4]), MESH, [dist.Shard(0)])\nfloat(x.sum() if RANK else x.max())"
APART = "x = dist.shard_tensor(paddle.ones([4]), MESH, [dist.Shard(0)])\n(x if RANK else x.reshape([2, 2])).numpy()"


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (DIFFERENT, [r"shard_tensor\(float32\[\d\], \[Shard\(dim=0\)\]\) over the mesh .*'x'.*: rank \d does"]),
        (KILLED, [r"over the mesh .*'x'.*: rank 1 has ended"]),
        pytest.param(PLACED, [r"Shard\(dim=1\)\]\) over the mesh .*'x'.*: rank \d does"], marks=pytest.mark.repeat),
        pytest.param(UNEVEN, [r"rank 0: axis 0 .* along x of the mesh", "rank 1: axis 0"], marks=pytest.mark.repeat),
        pytest.param(ENDED, [r"over the mesh .*'x'.*: rank 1 has ended"], marks=pytest.mark.repeat),
        pytest.param(COMPUTED, [r"over the mesh .*'x'.*: rank \d does (sum|max)\("], marks=pytest.mark.repeat),
        pytest.param(APART, [r"over the mesh .*'x'.*: rank \d does reading"], marks=pytest.mark.repeat),
    ],
    ids=["shapes", "killed", "placements", "uneven", "ended", "computed", "apart"],
)
def test_processes_that_do_different_things_are_told_and_none_waits(tmp_path, monkeypatch, text, messages):
    monkeypatch.setenv("PADDLE_CHECK_EXCHANGES", str(int(text is COMPUTED)))
    program = tmp_path / "program.py"
    begin = "import os, signal\nimport paddle\nimport paddle.distributed as dist\n"
    program.write_text(f"{begin}RANK, MESH = dist.get_rank(), dist.ProcessMesh([0, 1], ['x'])\n{text}\n")
    launched(tmp_path, 2, program, code=None, seconds=120)
    logs = "".join((tmp_path / "log" / f"workerlog.{i}").read_text() for i in range(2))
    for message in messages:
        assert re.search(message, logs), logs[-3000:]


@pytest.mark.parametrize(
    ("devices", "count"), [(8, 2), pytest.param(8, 100, marks=pytest.mark.repeat)], ids=["few", "hundred"]
)
def test_random_plans_on_devices_of_one_process(devices, count):
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    command = [sys.executable, str(PLANS), str(0 if count == 2 else 100), str(count), str(devices)]
    env = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=480 + 60 * count)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert f"{count} plans are well, 0 are refused" in done.stdout


@pytest.mark.repeat
def test_random_plans_on_four_processes(tmp_path):
    assert "20 plans are well, 0 are refused" in launched(tmp_path, 4, PLANS, "0", "20", "4", seconds=3600)


# Key: how the parts of an array of the shape [4, 6] lie, before and after.
HALVES = {0: ((0, 2), (0, 6)), 1: ((2, 4), (0, 6))}
COLUMNS = {0: ((0, 4), (0, 3)), 1: ((0, 4), (3, 6))}
WHOLE = {2: ((0, 4), (0, 6)), 3: ((0, 4), (0, 6))}


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        (HALVES, HALVES, {(0, 0), (1, 1)}),
        (HALVES, COLUMNS, {(0, 0), (0, 1), (1, 0), (1, 1)}),
        (HALVES, WHOLE, {(0, 2), (1, 2), (0, 3), (1, 3)}),
        (WHOLE, HALVES, {(2, 0), (2, 1)}),
        (WHOLE, {3: WHOLE[3]}, {(3, 3)}),  # who has it keeps it
    ],
)
def test_each_process_takes_the_pieces_that_it_lacks_once(old, new, pieces):
    found = list(transfers(old, new))
    assert {(p.source, p.target) for p in found} == pieces and len(found) == len(pieces)
    for target, box in new.items():
        taken = np.zeros((4, 6), int)
        for p in found:
            taken[tuple(slice(*ends) for ends in p.box)] += p.target == target
        assert (taken[tuple(slice(*ends) for ends in box)] == 1).all()


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
    with pytest.raises(ValueError, match="a process appears twice"):
        dist.ProcessMesh([0, 0])
    with pytest.raises(ValueError, match="has no loss or no optimizer"):
        dist.to_static(paddle.nn.Linear(1, 1)).train()


def test_a_tensor_laid_over_devices_owns_its_memory():
    """JAX lays an array over devices without a copy where it can; an update gives away what the first one held."""
    first = paddle.rand([300, 300])
    before = first.numpy().copy()
    laid = dist.shard_tensor(first, dist.ProcessMesh([0], dim_names=["x"]), [dist.Replicate()], stop_gradient=False)
    opt = paddle.optimizer.SGD(0.1, parameters=[laid])

    @paddle.jit.to_static
    def step(x):
        loss = (x @ laid).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    for _ in range(2):
        step(paddle.ones([300, 300]))
    np.testing.assert_array_equal(first.numpy(), before)


def test_what_numpy_updates_lies_over_the_mesh_as_before(monkeypatch):
    monkeypatch.setattr(Deferred, "_run", lambda self, wanted: one_by_one(self._steps, self._outside))
    mesh = dist.ProcessMesh([0], ["dp"])
    with sizes_vary():  # NumPy computes what is called for the first time
        net = dist.shard_layer(paddle.nn.Linear(3, 1), mesh)
        adam = paddle.optimizer.Adam(0.1, beta1=0.8, parameters=net.parameters())
        adam = dist.shard_optimizer(adam, dist.ShardingStage2("dp"))
        for _ in range(2):
            net(paddle.ones([1, 3])).sum().backward()
            adam.step()
    assert net.weight.process_mesh == net.bias.process_mesh == mesh
