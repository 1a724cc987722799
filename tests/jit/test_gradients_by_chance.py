"""Parameters that only some branch uses: each run gives gradients to those that eager code does."""

from __future__ import annotations

import functools

import pytest
from paddle_lite_py.jit import DataDependentWarning, to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn

pytestmark = pytest.mark.filterwarnings(f"ignore::{DataDependentWarning.__module__}.DataDependentWarning")
MODES = {"default": to_static, "full graph": functools.partial(to_static, full_graph=True)}
SIGNS = [1.0, 1.0, -1.0, 3.0, -1.0, -3.0]


class Branches(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = (nn.Linear(2, 2) for _ in range(3))

    def forward(self, x):
        total = x.sum()
        if total > 8:
            return self.third(x)
        if total > 0:
            return self.first(x)
        return self.second(x) + self.third(x)


class Expression(Branches):
    def forward(self, x):
        before = self.first(x)  # made in each case, read in one
        return self.second(x) if x.sum() < 0 else self.third(before)


class Nested(Branches):
    def forward(self, x):
        y = x
        if x.sum() > 0:
            y = self.first(y)
            if x.sum() > 8:
                y = self.second(y)
        return self.third(y)


def trained(kind, static, keep):
    """Which gradients there are after each step, the parameters at the end, and how often the step was traced."""
    paddle.seed(1)
    net = kind()
    opt = paddle.optimizer.AdamW(0.1, parameters=net.parameters(), weight_decay=0.1)

    def step(x):
        net(x).square().mean().backward()
        opt.step()
        opt.clear_grad(set_to_zero=keep)

    run = static(step)
    there = []
    for sign in SIGNS:
        run(paddle.full([2, 2], sign))
        there.append([p.grad is not None for p in net.parameters()])
    return there, [p.numpy() for p in net.parameters()], getattr(run, "get_traced_count", int)()


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [Branches, Expression, Nested])
def test_a_step_updates_what_the_branch_has_used(kind, mode, keep):
    there, found, traces = trained(kind, MODES[mode], keep)
    expected_there, expected, _ = trained(kind, lambda f: f, keep)
    assert there == expected_there
    for a, b in zip(found, expected, strict=True):
        assert a == pytest.approx(b, abs=1e-6)
    assert traces <= 6


def test_there_is_one_program_once_all_have_a_gradient():
    net = Expression()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    @to_static(full_graph=True)
    def step(x):
        net(x).square().mean().backward()
        opt.step()
        opt.clear_grad()

    for sign in (1.0, -1.0):
        step(paddle.full([2, 2], sign))
    before = step.get_traced_count()
    for sign in SIGNS:
        step(paddle.full([2, 2], sign))
    assert step.get_traced_count() == before + 1


def test_grad_refuses_what_the_branch_has_not_used():
    net = Branches()

    @to_static(full_graph=True)
    def gradient(x):
        return paddle.grad(net(x).sum(), [net.first.weight], allow_unused=True)[0]

    assert gradient(paddle.ones([2, 2])).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert gradient(-paddle.ones([2, 2])) is None
