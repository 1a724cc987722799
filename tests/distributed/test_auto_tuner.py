"""paddle.distributed.auto_tuner: plans compiled for machines that are not here, and ranked."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import paddle_lite_py as paddle
from launching import PROGRAMS, ROOT
from paddle_lite_py.distributed.auto_tuner import Candidate, MeshPlan, plans, rank
from paddle_lite_py.distributed.auto_tuner.ranking import _compiled_depths
from paddle_lite_py.targets import TargetError

PLANNED = PROGRAMS / "planned.py"


@pytest.mark.repeat
def test_plans_of_eight_devices_take_what_they_say():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    env = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(PLANNED)], env=env, capture_output=True, text=True, timeout=480)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("\n") == 5 and done.stdout.startswith("| dp | mp |")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([str(PLANNED), "--for", "v9:2x2"], "'v9:2x2' is no target"),
        (["{empty}", "--for", "cpu"], "has no function make"),
        (["nowhere.py", "--for", "cpu"], "nowhere.py"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, arguments, said):
    (tmp_path / "empty.py").touch()
    given = [a.format(empty=tmp_path / "empty.py") for a in arguments]
    command = [sys.executable, "-m", "paddle_lite_py.distributed.auto_tuner", *given, "--depth", "2"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=480)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(ValueError, match="XLA_FLAGS=--xla_force_host_platform_device_count=4"):
        rank(None, "cpu", 8, among=[MeshPlan(2, 2)])
    with pytest.raises(ValueError, match="two ascending numbers of layers"):
        rank(None, "cpu", 4, depths=(2, 2))
    with pytest.raises(ValueError, match="depth is 0; expected at least one layer"):
        rank(None, "cpu", 0)
    with pytest.raises(TargetError, match="is no target"):
        rank(None, "v9", 4)


@pytest.mark.parametrize(
    ("stages", "depth", "compiled"),
    [(1, 12, (3, 6)), (2, 12, (4, 6)), (4, 12, (4, 8)), (8, 32, (8, 16)), (4, 8, (8,)), (1, 4, (4,)), (1, 6, (6,))],
)
def test_depths_divide_into_stages(stages, depth, compiled):
    assert _compiled_depths(stages, depth, (3, 6)) == compiled


def test_a_plan_that_the_model_does_not_support_is_ranked_last():
    def make(plan, depth):
        if plan.sharding == 3:
            raise ValueError("parameters cannot be sharded")
        net = paddle.nn.Linear(8, 8)
        return paddle.jit.to_static(lambda x: net(x).sum()), [paddle.static.InputSpec([2, 8])]

    found = rank(make, "cpu", 1, among=[MeshPlan(1, 1, 3), MeshPlan(1, 1, 1)])
    assert [c.error for c in found] == ["", "parameters cannot be sharded"] and found[0].fits


def test_meshes_that_do_not_divide_the_chips_are_left_out():
    assert {p[:2] for p in plans(6, (1, 2, 4))} == {(6, 1), (3, 2)}
    assert {(p.dp, p.sep, p.mp) for p in plans(4, (1, 2), sep=(1, 2))} == {(4, 1, 1), (2, 1, 2), (2, 2, 1), (1, 2, 2)}


@pytest.mark.parametrize(
    ("candidate", "limit"),
    [
        (Candidate(MeshPlan(1, 1), 5, 4), "memory"),
        (Candidate(MeshPlan(1, 1), 3, 4, computing=1, sending=2), "exchanges"),
        (Candidate(MeshPlan(1, 1), 3, 0, computing=2, sending=1), "operations"),
        (Candidate(MeshPlan(1, 1), error="no such op"), "does not compile"),
    ],
)
def test_what_limits_a_plan(candidate, limit):
    assert candidate.limit == limit and candidate.fits == (limit in ("exchanges", "operations"))
