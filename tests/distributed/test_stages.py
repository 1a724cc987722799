"""Programs whose operators name devices, trained in stages by several processes."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from launching import PROGRAMS, launched
from paddle_lite_py import static
from paddle_lite_py.distributed import fleet
from paddle_lite_py.static.pipeline import order

PROGRAM = PROGRAMS / "stages.py"


@pytest.mark.parametrize(
    ("count", "stages", "schedule"),
    [
        (2, 2, "1F1B"),
        pytest.param(3, 3, "1F1B", marks=pytest.mark.repeat),
        pytest.param(4, 2, "F-then-B", marks=pytest.mark.repeat),
    ],
)
def test_stages_train_as_one_process(tmp_path, count, stages, schedule):
    launched(tmp_path, count, PROGRAM, str(stages), schedule)
    logs = [(tmp_path / "log" / f"workerlog.{i}").read_text() for i in range(count)]
    assert all(f"stage {i % stages} has " in log for i, log in enumerate(logs)), logs


@pytest.mark.parametrize("schedule", ["1F1B", "F-then-B"])
@pytest.mark.parametrize(("stages", "parts"), [(2, 1), (2, 4), (4, 2), (4, 8)])
def test_each_part_goes_forward_then_back_and_few_are_under_way(schedule, stages, parts):
    for stage in range(stages):
        passes = list(order(schedule, stage, stages, parts))
        for kind in "FB":
            assert [i for k, i in passes if k == kind] == list(range(parts))
        assert all(passes.index(("F", i)) < passes.index(("B", i)) for i in range(parts))
        waiting = [
            sum(k == "F" for k, _ in passes[:n]) - sum(k == "B" for k, _ in passes[:n]) for n in range(len(passes))
        ]
        assert max(waiting) <= (parts if schedule == "F-then-B" else stages - stage)


def in_two(first="gpu:0", second="gpu:1"):
    x = static.data("x", [None, 2])
    with static.device_guard(first):
        h = static.nn.fc(x, 2)
    with static.device_guard(second):
        return static.nn.fc(h, 1).mean()


def sharing():
    w = static.create_parameter([2, 2], "float32", name="w_shared")
    x = static.data("x", [None, 2])
    with static.device_guard("gpu:0"):
        h = paddle.matmul(x, w)
    with static.device_guard("gpu:1"):
        return paddle.matmul(h, w).mean()


@pytest.mark.parametrize(
    ("build", "more", "message"),
    [
        (
            lambda: in_two("gpu:1", "gpu:0"),
            {},
            r" at .*test_stages.py:\d+ is on device 0 and reads what device 1",
        ),
        (lambda: in_two("gpu:0", "gpu:0"), {}, "the program has one stage: name devices"),
        (sharing, {}, "the parameter 'w_shared' is read by the stages 0 and 1"),
        (in_two, {}, "1 processes cannot be divided into pipelines of 2"),
        (in_two, {"amp": True}, "pipeline and amp are both on"),
        (in_two, {"pipeline_configs": {"schedule_mode": "2F"}}, "schedule_mode is '2F'; expected '1F1B'"),
        (in_two, {"pipeline_configs": {"accumulate_steps": 0}}, "accumulate_steps is 0; expected 1 or more"),
    ],
)
def test_what_cannot_be_divided_is_refused(static_mode, build, more, message):
    strategy = fleet.DistributedStrategy()
    strategy.pipeline = True
    for name, value in more.items():
        setattr(strategy, name, value)
    fleet.init(is_collective=True)
    loss = build()
    with pytest.raises(ValueError, match=message):
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy).minimize(loss)
