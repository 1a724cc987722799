"""Learning rates that a program computes; figures of PaddlePaddle 2.6.2, where no optimizer takes them."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.optimizer import lr

RATES = [
    (lambda: lr.noam_decay(64, 3, 0.5), [0.01203, 0.02406, 0.03608, 0.03125, 0.02795, 0.02552, 0.02362]),
    (lambda: lr.exponential_decay(0.1, 2, 0.5), [0.1, 0.07071, 0.05, 0.03536, 0.025, 0.01768, 0.0125]),
    (lambda: lr.exponential_decay(0.1, 2, 0.5, True), [0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125]),
    (lambda: lr.natural_exp_decay(0.1, 2, 0.5), [0.1, 0.07788, 0.06065, 0.04724, 0.03679, 0.02865, 0.02231]),
    (lambda: lr.inverse_time_decay(0.1, 2, 0.5, True), [0.1, 0.1, 0.06667, 0.06667, 0.05, 0.05, 0.04]),
    (lambda: lr.polynomial_decay(0.1, 3, 0.01, 2.0), [0.1, 0.05, 0.02, 0.01, 0.01, 0.01, 0.01]),
    (lambda: lr.polynomial_decay(0.1, 3, 0.01, 1.0, True), [0.1, 0.07, 0.04, 0.01, 0.04, 0.025, 0.01]),
    (lambda: lr.piecewise_decay([2, 4], [0.3, 0.2, 0.1]), [0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1]),
    (lambda: lr.cosine_decay(0.1, 2, 3), [0.1, 0.1, 0.075, 0.075, 0.025, 0.025, 0.0]),
    (lambda: lr.linear_lr_warmup(0.1, 3, 0.01, 0.2), [0.01, 0.07333, 0.13667, 0.1, 0.1, 0.1, 0.1]),
    (
        lambda: lr.linear_lr_warmup(lr.piecewise_decay([2, 4], [0.3, 0.2, 0.1]), 3, 0.01, 0.2),
        [0.01, 0.07333, 0.13667, 0.2, 0.1, 0.1, 0.1],
    ),
]


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.mark.parametrize(("make", "rates"), RATES)
def test_a_program_counts_its_runs_and_its_optimizer_follows(make, rates):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        rate, x = make(), paddle.static.data("x", [1, 2])
        ones = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(1.0))
        loss = paddle.matmul(x, paddle.static.create_parameter([2, 1], "float32", attr=ones)).mean()
        paddle.optimizer.SGD(rate).minimize(loss)
    exe, feed = paddle.static.Executor(), {"x": np.ones((1, 2), np.float32)}
    exe.run(startup)
    found = [exe.run(main, feed=feed, fetch_list=[rate, loss]) for _ in rates]
    np.testing.assert_allclose([r[0] for r, _ in found], rates, atol=1e-5)
    np.testing.assert_allclose([loss for _, loss in found], 2 - 2 * np.cumsum([0, *rates[:-1]]), atol=1e-4)


def test_in_eager_mode_they_are_schedules():
    paddle.disable_static()
    made = lr.linear_lr_warmup(lr.noam_decay(64, 3), 2, 0.0, 0.1)
    assert isinstance(made, lr.LinearWarmup) and isinstance(made.learning_rate, lr.NoamDecay)
    with pytest.raises(ValueError, match="1 boundaries and 1 values; give one value more"):
        lr.piecewise_decay([1], [0.1])
