"""Learning rates in static functions: read, stepped and set under conditions, in loops, and by code of the user's.

A program trains one parameter for some calls, eagerly and as a static function, from one start. What it gives, the
parameter, the rate and the state of the schedule are the same after each call, and there is no program for each step.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
import schedule_cases as cases

lr = paddle.optimizer.lr
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "schedules.json").read_text())
CALLS = [1, -1, 2, 3, 0, 1, 4, 1]


class Halving(lr.LRScheduler):
    """A formula of the user's, which Python alone can compute."""

    def get_lr(self):
        return self.base_lr * math.exp(-0.1 * self.last_epoch) if self.last_epoch % 3 else self.base_lr


class Counting(lr.LRScheduler):
    """State of its own beside that of the base."""

    def __init__(self, rate):
        self.count = 0
        super().__init__(rate)

    def get_lr(self):
        self.count += 1
        return self.base_lr / math.sqrt(1 + self.count)


class OwnStep(lr.LRScheduler):
    """A step that does all by itself."""

    def __init__(self, rate):
        self.count = 0
        super().__init__(rate)

    def step(self, epoch=None):
        self.count += 1
        self.last_epoch += 1
        self.last_lr = self.get_lr()

    def get_lr(self):
        return self.base_lr / math.sqrt(1 + self.last_epoch)


class OuterStep(lr.LRScheduler):
    """A step around that of the base."""

    def step(self, epoch=None):
        super().step(epoch)

    def get_lr(self):
        return self.base_lr if self.last_epoch < 3 else self.last_lr * 0.5


SCHEDULES = {
    "exponential": lambda: lr.ExponentialDecay(0.5, 0.9),
    "warmup": lambda: lr.LinearWarmup(lr.CosineAnnealingDecay(0.5, 5), 3, 0.0, 0.5),
    "multiplicative": lambda: lr.MultiplicativeDecay(0.5, lambda epoch: 0.9),
    "halving": lambda: Halving(0.5),
    "counting": lambda: Counting(0.5),
    "own step": lambda: OwnStep(0.5),
    "outer step": lambda: OuterStep(0.5),
}


class Run:
    """One parameter, its optimizer and a schedule."""

    def __init__(self, schedule):
        self.w = paddle.create_parameter([2], "float32")
        self.w.set_value(np.array([0.5, -0.3], "float32"))
        self.schedule = schedule
        self.opt = paddle.optimizer.SGD(schedule, parameters=[self.w])

    def train(self, x):
        loss = ((self.w * x) ** 2).sum()
        loss.backward()
        self.opt.step()
        self.opt.clear_grad()
        return loss.detach()

    def state(self):
        rate = self.opt._learning_rate
        held = rate.state_dict() if isinstance(rate, lr.LRScheduler) else {}
        return self.w, self.opt.get_lr(), held


def after_each_call(r):
    def f(x, c):
        loss = r.train(x)
        r.schedule.step()
        return loss

    return f


def under_a_condition(r):
    def f(x, c):
        loss = r.train(x)
        if c > 0:
            r.schedule.step()
        return loss + r.train(x)

    return f


def in_both_branches(r):
    def f(x, c):
        if c > 0:
            loss = r.train(x)
            r.schedule.step()
        else:
            r.schedule.step()
            loss = r.train(x * 0.5)
        return loss + r.train(x)

    return f


def several_in_a_call(r):
    def f(x, c):
        for _ in range(3):
            loss = r.train(x)
            r.schedule.step()
        return loss

    return f


def numbers_are_given(r):
    def f(x, c):
        first = r.opt.get_lr()
        r.schedule.step()
        r.train(x)
        held = r.schedule.state_dict()
        return first, r.opt.get_lr(), r.schedule(), r.schedule.last_epoch, r.schedule.last_lr, held["last_epoch"]

    return f


def numbers_meet_tensors(r):
    def f(x, c):
        if c > 0:
            r.schedule.step()
        return x * r.opt.get_lr(), x * r.schedule.last_epoch, x * r.schedule()

    return f


def in_a_while(r):
    def f(x, c):
        i = paddle.zeros([], "int64")
        while i < c:
            r.train(x)
            r.schedule.step()
            i = i + 1
        return r.w * r.opt.get_lr()

    return f


def in_a_long_for(r):
    def f(x, c):
        for _ in range(c.astype("int64") * 2 + 3):
            r.train(x)
            r.schedule.step()
        return r.w * 1

    return f


def with_a_break(r):
    def f(x, c):
        for _ in range(4):
            loss = r.train(x)
            r.schedule.step()
            if loss < 0.01 * (c + 1):
                break
        return r.w * 1

    return f


def nested(r):
    def f(x, c):
        r.schedule.step()
        if c > 0:
            if x.sum() > 1.5:
                r.schedule.step()
                r.schedule.step()
            loss = r.train(x)
        else:
            loss = r.train(x)
        r.schedule.step()
        return loss * r.opt.get_lr()

    return f


def asked_by_python(r):
    def f(x, c):
        loss = r.train(x)
        r.schedule.step()
        if r.opt.get_lr() < 0.3:
            loss = loss * 100
        return loss + 1000 if r.schedule.last_epoch > 2 else loss

    return f


def a_step_that_is_named(r):
    def f(x, c):
        loss = r.train(x)
        if c > 0:
            r.schedule.step(2)
        else:
            r.schedule.step()
        return loss

    return f


def an_epoch_that_is_set(r):
    def f(x, c):
        loss = r.train(x)
        r.schedule.last_epoch = 4
        r.schedule.step()
        return loss * r.opt.get_lr()

    return f


def shown_as_text(r):
    def f(x, c):
        r.schedule.step()
        before = f"rate {r.opt.get_lr():.4f} of step {r.schedule.last_epoch}"
        if c > 0:
            r.schedule.step()
        return before, f"{r.opt.get_lr():.4f}", str(r.schedule.last_epoch)

    return f


def counted_with(r):
    def f(x, c):
        r.schedule.step()
        rate = r.opt.get_lr()
        return math.log(rate + 1), rate**2, round(rate, 3), -rate, rate * r.schedule.last_epoch

    return f


def collected(r):
    def f(x, c):
        rates = []
        for _ in range(3):
            r.train(x)
            rates.append(r.opt.get_lr())
            r.schedule.step()
        return rates, sum(rates), max(rates), {"state": r.schedule.state_dict()}

    return f


def kept_in_an_object(r):
    def f(x, c):
        if c > 0:
            r.schedule.step()
        r.rate, r.epoch = r.opt.get_lr(), r.schedule.last_epoch
        return x * r.rate + r.epoch

    return f


def until_python_says_so(r):
    def f(x, c):
        while True:
            loss = r.train(x)
            r.schedule.step()
            if loss < 0.05 or r.schedule.last_epoch > 6:
                break
        return loss * r.opt.get_lr()

    return f


# Each with the most programs that it may take; a schedule with counters of the user's takes one more.
PROGRAMS = {
    after_each_call: 1,
    under_a_condition: 1,
    in_both_branches: 1,
    several_in_a_call: 1,
    numbers_are_given: 1,
    numbers_meet_tensors: 1,
    in_a_while: 1,
    in_a_long_for: 1,
    with_a_break: 1,
    nested: 1,
    asked_by_python: 4,
    shown_as_text: 1,
    counted_with: 1,
    collected: 3,
    kept_in_an_object: 3,
    until_python_says_so: 2,
    a_step_that_is_named: 2,
    an_epoch_that_is_set: 1,
}


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value.numpy().tolist() if isinstance(value, paddle.Tensor) else value


def assert_close(found, expected, where):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, list):
        assert len(found) == len(expected), where
        for a, b in zip(found, expected, strict=True):
            assert_close(a, b, where)
    else:
        assert type(found) is type(expected), where
        close = expected if isinstance(expected, str) else pytest.approx(expected, rel=2e-5, abs=1e-7)
        assert found == close, where


def assert_static_is_eager(make, most, full_graph=True):
    """make() gives a function of (x, c) and another of the state that it leaves."""
    (eager, expected), (f, found) = make(), make()
    static = to_static(f, full_graph=full_graph)
    for i, c in enumerate(CALLS):
        args = paddle.to_tensor([0.4 + 0.1 * i, 0.8 + 0.1 * i]), paddle.to_tensor(float(c))
        assert_close(plain(static(*args)), plain(eager(*args)), f"result of call {i}")
        assert_close(plain(found()), plain(expected()), f"state after call {i}")
    assert len(static.cache) <= most


def of_schedule(program, schedule):
    def make():
        r = Run(schedule())
        return program(r), r.state

    return make


@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
@pytest.mark.parametrize("schedule", ["exponential", "counting", "warmup"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_schedule_in_a_static_function_is_that_of_eager_code(program, schedule):
    assert_static_is_eager(of_schedule(program, SCHEDULES[schedule]), PROGRAMS[program] + (schedule == "counting"))


@pytest.mark.parametrize("schedule", ["multiplicative", "halving", "own step", "outer step"])
@pytest.mark.parametrize("program", [under_a_condition, in_a_while, several_in_a_call], ids=lambda p: p.__name__)
def test_schedules_that_users_write(program, schedule):
    assert_static_is_eager(of_schedule(program, SCHEDULES[schedule]), PROGRAMS[program] + (schedule == "own step"))


@pytest.mark.parametrize("program", [under_a_condition, in_a_while, numbers_are_given], ids=lambda p: p.__name__)
def test_functions_in_parts(program):
    assert_static_is_eager(of_schedule(program, SCHEDULES["exponential"]), PROGRAMS[program], full_graph=False)


def test_a_checked_run_steps_once():
    r = Run(lr.LinearWarmup(lr.ExponentialDecay(0.5, 0.9), 2, 0.0, 0.5))
    inner = r.schedule.learning_rate
    f = to_static(under_a_condition(r), full_graph=True, check=True)
    for _ in range(4):
        f(paddle.ones([2]) * 0.5, paddle.ones([]))
    assert (r.schedule.last_epoch, inner.last_epoch) == (4, 2)
    assert r.schedule.learning_rate is inner


@pytest.mark.parametrize("case", [c for c in cases.CASES if c in GOLDEN])
def test_rates_under_a_condition_are_those_of_paddle(case):
    schedule = cases.CASES[case](lr)
    opt = paddle.optimizer.SGD(schedule, parameters=[paddle.create_parameter([1], "float32")])
    one = paddle.ones([], "float64")

    @to_static(full_graph=True)
    def f(go):
        if go > 0:
            schedule.step()
            schedule.step()
        return one * opt.get_lr()

    done, found = 0, []
    for go in [1, 0, 1, 1, 0, 1]:
        done += 2 * go
        found.append((float(f(paddle.to_tensor(go))), GOLDEN[case][done]))
    assert [a for a, _ in found] == pytest.approx([b for _, b in found], rel=1e-12)
    assert len(f.cache) == 1


class TestFollowingAMetric:
    @staticmethod
    def make(program, **kwargs):
        def made():
            r = Run(lr.ReduceOnPlateau(0.5, factor=0.5, patience=1, **kwargs))
            return program(r), r.state

        return made

    def test_of_a_tensor(self):
        def program(r):
            def f(x, c):
                loss = r.train(x)
                r.schedule.step(loss * 0 + c)
                return loss * r.opt.get_lr()

            return f

        assert_static_is_eager(self.make(program, cooldown=1), 3)

    def test_of_a_number(self):
        def program(r):
            def f(x, c):
                loss = r.train(x)
                r.schedule.step(float(c))
                return loss * r.opt.get_lr()

            return f

        assert_static_is_eager(self.make(program, mode="max", threshold_mode="abs", min_lr=0.2), 4)

    @pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
    def test_under_a_condition(self):
        def program(r):
            def f(x, c):
                loss = r.train(x)
                if c > 0:
                    r.schedule.step(c)
                return r.train(x) + loss

            return f

        assert_static_is_eager(self.make(program), 3)

    def test_reports(self, capsys):
        def reports(static):
            r = Run(lr.ReduceOnPlateau(0.5, factor=0.5, patience=0, verbose=True))
            f = to_static(r.schedule.step, full_graph=True) if static else r.schedule.step
            for metric in (1.0, 1.0, 0.5, 2.0):
                f(paddle.to_tensor(metric))
            return capsys.readouterr().out

        assert reports(True) == reports(False) != ""

    @pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
    def test_in_a_loop(self):
        def program(r):
            def f(x, c):
                for _ in range(c.astype("int64") + 2):
                    loss = r.train(x)
                    r.schedule.step(loss)
                return r.w * r.opt.get_lr()

            return f

        assert_static_is_eager(self.make(program), 3)


def halved_under_a_condition(r):
    def f(x, c):
        loss = r.train(x)
        if c > 1:
            r.opt.set_lr(r.opt.get_lr() * 0.5)
        return loss + r.train(x)

    return f


def set_in_both_branches(r):
    def f(x, c):
        if c > 1:
            r.opt.set_lr(0.1)
        else:
            r.opt.set_lr(0.3)
        loss = r.train(x)
        r.opt.set_lr(0.05)
        return loss * r.opt.get_lr()

    return f


def set_in_a_while(r):
    def f(x, c):
        i = paddle.zeros([], "int64")
        while i < c:
            r.train(x)
            r.opt.set_lr(r.opt.get_lr() * 0.9)
            i = i + 1
        return r.w * r.opt.get_lr()

    return f


def set_and_given(r):
    def f(x, c):
        loss = r.train(x)
        r.opt.set_lr(r.opt.get_lr() * 0.9)
        return loss, r.opt.get_lr()

    return f


def set_to_a_tensor(r):
    def f(x, c):
        r.opt.set_lr(c * 0.125 + 0.25)
        return r.train(x)

    return f


@pytest.mark.parametrize(
    "program",
    [halved_under_a_condition, set_in_both_branches, set_in_a_while, set_and_given, set_to_a_tensor],
    ids=lambda p: p.__name__,
)
def test_a_rate_that_is_set(program):
    def make():
        r = Run(0.5)
        return program(r), r.state

    assert_static_is_eager(make, 1)


def test_a_rate_that_was_set_outside_is_read():
    w = paddle.create_parameter([1], "float32")
    opt = paddle.optimizer.SGD(0.5, parameters=[w])
    f = to_static(lambda x: x * opt.get_lr(), full_graph=True)
    for rate in (0.5, 0.25, 0.125):
        opt.set_lr(rate)
        assert f(paddle.ones([1])).item() == rate
    assert len(f.cache) == 1


@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
def test_another_schedule_under_a_condition():
    def make():
        first, second = lr.ExponentialDecay(0.5, 0.9), lr.StepDecay(0.2, 2, 0.5)
        r = Run(first)

        def f(x, c):
            if c > 1:
                r.opt.set_lr_scheduler(second)
            else:
                r.opt.set_lr_scheduler(first)
            first.step()
            second.step()
            return r.train(x)

        return f, r.state

    assert_static_is_eager(make, 4)


def test_the_schedule_inside_of_another_one():
    def make():
        r = Run(lr.LinearWarmup(lr.StepDecay(0.5, 2, 0.5), 2, 0.0, 0.5))
        inner = r.schedule.learning_rate

        def f(x, c):
            r.schedule.step()
            return r.train(x), inner(), inner.last_epoch, r.schedule.state_dict()

        return f, r.state

    assert_static_is_eager(make, 1)


def test_a_schedule_made_in_the_function():
    def make():
        def f(x, c):
            schedule = lr.ExponentialDecay(0.5, 0.5)
            if c > 0:
                schedule.step()
            schedule.step()
            return x * schedule()

        return f, lambda: []

    assert_static_is_eager(make, 1)


def test_a_schedule_that_ends_is_not_asked_beyond_its_end():
    def make():
        r = Run(lr.OneCycleLR(0.5, 14))
        return under_a_condition(r), r.state

    assert_static_is_eager(make, 1)


class Stopper:
    def __init__(self):
        self.best, self.bad, self.total, self.stop = 1e9, 0, 0, False

    def __call__(self, value):
        self.total += 1
        if value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        self.stop = self.bad >= 3
        return self.stop


class Average:
    """A moving average of a parameter, with the usual warm-up."""

    def __init__(self, w):
        self.w, self.steps, self.shadow = w, 0, w.clone().detach()

    def update(self):
        self.steps += 1
        decay = min(0.9, (1 + self.steps) / (10 + self.steps))
        with paddle.no_grad():
            self.shadow = self.shadow * decay + self.w * (1 - decay)


class TestCountersOfObjects:
    """A number that an object counts in is a number after a run, whatever has decided."""

    def test_early_stopping(self):
        def make():
            stopper = Stopper()

            def f(x, c):
                stopper(c)
                return x * stopper.bad

            return f, lambda: [stopper.bad, stopper.total]

        assert_static_is_eager(make, 5)

    def test_a_counter_in_a_loop(self):
        def make():
            stopper = Stopper()

            def f(x, c):
                i = paddle.zeros([], "int64")
                while i < c:
                    stopper.total += 1
                    i = i + 1
                return x * stopper.total

            return f, lambda: stopper.total

        assert_static_is_eager(make, 2)

    def test_a_moving_average(self):
        def make():
            r = Run(0.1)
            average = Average(r.w)

            def f(x, c):
                loss = r.train(x)
                if c > 0:
                    average.update()
                return loss

            return f, lambda: [average.shadow, average.steps, r.w]

        assert_static_is_eager(make, 2)

    def test_a_scaler(self):
        def make():
            r, scaler = Run(0.1), paddle.amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=2)

            def f(x, c):
                loss = ((r.w * x) ** 2).sum()
                scaler.scale(loss).backward()
                if c > 0:
                    scaler.step(r.opt)
                    scaler.update()
                    r.opt.clear_grad()
                return loss.detach()

            return f, lambda: [r.w, scaler._scale, scaler.state_dict()["incr_count"], r.w.grad]

        assert_static_is_eager(make, 2)
