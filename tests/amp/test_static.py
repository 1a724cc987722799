"""Mixed precision inside static functions and around them, and the loss scaler in a whole step."""

from __future__ import annotations

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn


def data(n, *shape):
    rng = np.random.RandomState(0)
    return [paddle.to_tensor(rng.randn(*shape).astype("float32")) for _ in range(n)]


def test_auto_cast_around_a_static_function_is_another_program():
    f = to_static(lambda x: x @ x)
    x = paddle.ones([2, 2])
    assert f(x).dtype == paddle.float32
    for _ in range(2):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            assert f(x).dtype == paddle.bfloat16
        assert f(x).dtype == paddle.float32
    assert f.get_traced_count() == 2 and "mixed precision O1 in bfloat16" in f.explain()


class Training:
    def __init__(self, level, dtype):
        paddle.seed(0)
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        self.opt = paddle.optimizer.SGD(0.1, parameters=self.net.parameters())
        if level == "O2":
            self.net, self.opt = paddle.amp.decorate(self.net, self.opt, level="O2", dtype=dtype)
        self.level, self.dtype = level, dtype
        self.scaler = paddle.amp.GradScaler(init_loss_scaling=2.0**10, incr_every_n_steps=2)

    def step(self, x, factor):
        with paddle.amp.auto_cast(level=self.level, dtype=self.dtype):
            loss = (self.net(x) ** 2).mean() * factor
        scaled = self.scaler.scale(loss)
        scaled.backward()
        self.scaler.step(self.opt)
        self.scaler.update()
        self.opt.clear_grad()
        return loss


@pytest.mark.parametrize(("level", "dtype"), [("O1", "bfloat16"), ("O1", "float16"), ("O2", "bfloat16")])
def test_a_step_with_a_loss_scaler_leaves_the_eager_state(level, dtype):
    static, eager = Training(level, dtype), Training(level, dtype)
    step = to_static(static.step)
    for i, x in enumerate(data(5, 4, 3)):
        factor = paddle.to_tensor(float("inf") if i == 2 else 1.0)  # the third gradient overflows, and is skipped
        got, want = step(x, factor), eager.step(x, factor)
        np.testing.assert_allclose(float(got), float(want), rtol=0.02)
        for p, q in zip(static.net.parameters(), eager.net.parameters(), strict=True):
            np.testing.assert_allclose(p.astype("float32").numpy(), q.astype("float32").numpy(), rtol=0.02, atol=2e-3)
        for k, v in eager.scaler.state_dict().items():
            assert np.asarray(static.scaler.state_dict()[k]).tolist() == np.asarray(v).tolist(), k
    assert step.get_traced_count() <= 3, step.explain()
