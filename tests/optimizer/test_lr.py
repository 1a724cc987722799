"""Learning-rate schedules against what PaddlePaddle computes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import paddle_lite_py as paddle
import schedule_cases as cases

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "schedules.json").read_text())
lr = paddle.optimizer.lr


@pytest.mark.parametrize("case", GOLDEN)
def test_rates_are_those_of_paddle(case):
    assert cases.run(lr, case) == pytest.approx(GOLDEN[case], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", [c for c in cases.CASES if c != "step resumed"])
def test_state_goes_to_a_new_schedule(case):
    first, second = cases.CASES[case](lr), cases.CASES[case](lr)
    for _ in range(7):
        first.step()
    second.set_state_dict(first.state_dict())
    assert second() == first()
    first.step()
    second.step()
    assert second() == pytest.approx(first())


def test_a_step_may_be_named():
    schedule = lr.CosineAnnealingDecay(0.5, 7, 0.1)
    schedule.step(5)
    assert schedule() == pytest.approx(0.1753020396)


def test_a_schedule_of_the_users_own():
    class Own(lr.LRScheduler):
        def get_lr(self):
            return self.base_lr * 0.9**self.last_epoch

    schedule = Own(0.5)
    schedule.step()
    assert schedule() == 0.45 and repr(schedule) == "Own(last_epoch=1, last_lr=0.45)"


def test_verbose_prints_the_rate(capsys):
    lr.StepDecay(0.5, 1, verbose=True).step()
    assert "Epoch 1: StepDecay set learning rate to 0.05." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: lr.StepDecay("a", 3), "learning_rate"),
        (lambda: lr.NoamDecay(0, 1), "d_model"),
        (lambda: lr.PolynomialDecay(0.1, -1), "decay_steps"),
        (lambda: lr.MultiStepDecay(0.1, [3, 2]), "milestones"),
        (lambda: lr.LinearWarmup(0.1, 3, 1.0, 0.5), "end_lr"),
        (lambda: lr.OneCycleLR(1.0, 0), "total_steps"),
        (lambda: lr.LambdaDecay(0.1, 3), "lr_lambda"),
        (lambda: lr.ReduceOnPlateau(1.0, mode="x"), "mode"),
        (lambda: lr.PiecewiseDecay([1], [1]), "2 values"),
        (lambda: lr.CosineAnnealingWarmRestarts(0.1, 0), "T_0"),
        (lambda: lr.ReduceOnPlateau(1.0).step(paddle.ones([2])), "one element"),
    ],
)
def test_wrong_arguments_are_named(make, part):
    with pytest.raises((ValueError, TypeError), match=part):
        make()


def test_an_incomplete_state_changes_nothing():
    schedule = lr.StepDecay(0.5, 2)
    with pytest.raises(KeyError, match="last_lr"):
        schedule.set_state_dict({"last_epoch": 7})
    assert schedule.last_epoch == 0
