"""Training in static mode beyond a plain optimizer: mixed precision, merged gradients, averages."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static

pytestmark = pytest.mark.usefixtures("static_mode")


def batch(seed=0):
    x = np.random.default_rng(seed).normal(size=(8, 4)).astype("float32")
    return {"x": x, "y": x.sum(1, keepdims=True)}


def network():
    x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
    hidden = nn.Linear(4, 8)(x)
    net = nn.Linear(8, 1)
    return hidden, net, nn.functional.mse_loss(net(hidden.tanh()), y)


def started():
    exe = static.Executor()
    exe.run(static.default_startup_program())
    return exe


def value(name):
    return np.array(static.global_scope().find_var(name).get_tensor())


@pytest.mark.parametrize(("dtype", "level"), [("bfloat16", "O1"), ("float16", "O1"), ("float16", "O2")])
def test_mixed_precision_trains(dtype, level):
    paddle.seed(0)
    hidden, net, loss = network()
    optimizer = static.amp.decorate(
        paddle.optimizer.Adam(0.05), level=level, dtype=dtype, use_dynamic_loss_scaling=None
    )
    _, pairs = optimizer.minimize(loss)
    exe = started()
    optimizer.amp_init(paddle.CPUPlace())
    first = [float(exe.run(feed=batch(), fetch_list=[loss])[0]) for _ in range(20)]
    assert first[-1] < 0.5 * first[0]
    assert exe.run(feed=batch(), fetch_list=[hidden])[0].dtype.itemsize == 2
    assert value("linear_0.w_0").dtype == np.float32 and len(pairs) == 4
    assert (optimizer.get_loss_scaling() is None) == (dtype == "bfloat16")


def test_an_overflow_skips_the_update_and_shrinks_the_scale():
    _, _, loss = network()
    optimizer = static.amp.decorate(paddle.optimizer.SGD(0.1), decr_every_n_nan_or_inf=1, decr_ratio=0.5)
    optimizer.minimize(loss)
    exe = started()
    before = value("linear_0.w_0")
    bad = batch() | {"y": np.full([8, 1], 1e30, "float32")}
    (scale,) = exe.run(feed=bad, fetch_list=[optimizer.get_loss_scaling()])
    assert scale.tolist() == [2.0**14]
    np.testing.assert_array_equal(value("linear_0.w_0"), before)
    exe.run(feed=batch())
    assert not np.array_equal(value("linear_0.w_0"), before)


def test_mixed_precision_keeps_running_statistics():
    x = static.data("x", [None, 4])
    y = nn.BatchNorm1D(4)(nn.Linear(4, 4)(x))
    static.amp.decorate(paddle.optimizer.SGD(0.1), dtype="bfloat16", level="O2").minimize(y.mean())
    started().run(feed={"x": batch()["x"]}, fetch_list=[y])
    assert value("batch_norm1d_0.w_1").dtype == np.float32 and value("batch_norm1d_0.w_1").any()


def test_custom_lists():
    hidden, _, loss = network()
    lists = static.amp.CustomOpLists(custom_black_list=["linear"])
    static.amp.decorate(paddle.optimizer.SGD(0.1), lists, dtype="bfloat16").minimize(loss)
    assert started().run(feed=batch(), fetch_list=[hidden])[0].dtype == np.float32


@pytest.mark.parametrize("avg", [True, False])
def test_merged_gradients_update_every_kth_run(avg):
    _, _, loss = network()
    static.GradientMergeOptimizer(paddle.optimizer.Adam(0.1), k_steps=2, avg=avg).minimize(loss)
    exe = started()
    start = {p.name: value(p.name) for p in static.default_main_program().all_parameters()}
    exe.run(feed=batch(1))
    assert all(np.array_equal(value(n), a) for n, a in start.items())
    exe.run(feed=batch(2))
    found = {n: value(n) for n in start}
    exe.run(feed=batch(3))
    assert all(np.array_equal(value(n), a) for n, a in found.items())

    paddle.disable_static()
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    for p, a in zip(net.parameters(), start.values(), strict=True):
        p.set_value(a)
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    for seed in (1, 2):
        feed = batch(seed)
        loss = nn.functional.mse_loss(net(paddle.to_tensor(feed["x"])), paddle.to_tensor(feed["y"]))
        (loss / 2 if avg else loss).backward()
    opt.step()
    for p, a in zip(net.parameters(), found.values(), strict=True):
        np.testing.assert_allclose(a, p.numpy(), rtol=1e-4, atol=1e-6)
    paddle.enable_static()


def test_moving_averages_stand_in_for_a_while():
    _, _, loss = network()
    paddle.optimizer.SGD(0.1).minimize(loss)
    ema = static.ExponentialMovingAverage(0.5)
    ema.update()
    exe = started()
    seen = []
    for seed in range(3):
        exe.run(feed=batch(seed))
        seen.append(value("linear_0.w_0"))
    average, weight = 0.0, 0.0
    for w in seen:
        average, weight = 0.5 * average + 0.5 * w, 0.5 * weight + 0.5
    with ema.apply(exe):
        np.testing.assert_allclose(value("linear_0.w_0"), average / weight, rtol=1e-5)
    np.testing.assert_array_equal(value("linear_0.w_0"), seen[-1])
    with pytest.raises(ValueError, match="decay is 2"):
        static.ExponentialMovingAverage(2)
    with pytest.raises(ValueError, match="k_steps is 0"):
        static.GradientMergeOptimizer(None, 0)


def test_two_optimizers_of_one_parameter_keep_their_own_state():
    """Each has moments of its own under names of its own, as in dynamic mode."""

    def built(w):
        return [paddle.optimizer.Adam(0.1, parameters=[w]), paddle.optimizer.Adam(0.1, beta1=0.5, parameters=[w])]

    def fresh():
        start = nn.initializer.Assign(np.array([1.0, -2.0], "float32"))
        return paddle.create_parameter([2], "float32", name="shared", default_initializer=start)

    w = fresh()
    losses = [(w * w).sum(), (w.sin()).sum()]
    for optimizer, loss in zip(built(w), losses, strict=True):
        optimizer.minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    found = [exe.run(fetch_list=["shared"])[0] for _ in range(3)]
    assert {"shared_moment1_0", "shared_moment1_1"} <= static.default_main_program().states().keys()
    paddle.disable_static()
    w = fresh()
    optimizers = built(w)
    for expected in found:
        grads = [paddle.grad(loss, w)[0] for loss in [(w * w).sum(), (w.sin()).sum()]]
        for optimizer, g in zip(optimizers, grads, strict=True):
            optimizer.apply_gradients([(w, g)])
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-5)
    paddle.enable_static()
