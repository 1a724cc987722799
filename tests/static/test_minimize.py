"""Training of static programs equals training in dynamic mode."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static
from paddle_lite_py.cpu_compiler import executables
from static_nets import batch, network, started

pytestmark = pytest.mark.usefixtures("static_mode")


def weights(net):
    return {n: p.numpy() for n, p in net.named_parameters()}


OPTIMIZERS = {
    "sgd": lambda p, rate: paddle.optimizer.SGD(rate, parameters=p, weight_decay=paddle.regularizer.L1Decay(0.01)),
    "momentum": lambda p, rate: paddle.optimizer.Momentum(rate, 0.9, parameters=p, weight_decay=1e-2),
    "adam": lambda p, rate: paddle.optimizer.Adam(rate, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
    "adamw": lambda p, rate: paddle.optimizer.AdamW(rate, parameters=p, weight_decay=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_equals_eager(name, monkeypatch, tmp_path):
    monkeypatch.setattr(executables, "folder", lambda: tmp_path)  # an earlier run may have left the program
    net, loss = network(nn.BatchNorm1D(8))
    rate = paddle.optimizer.lr.StepDecay(0.1, 2, 0.5)
    OPTIMIZERS[name](None, rate).minimize(loss)
    exe = started()
    start = weights(net)
    losses = []
    for i in range(4):
        losses.append(exe.run(feed=batch(seed=i), fetch_list=[loss])[0])
        rate.step()
    compiled = next(iter(static.default_main_program().compiled.values()))
    assert compiled.compilations == 1
    found = weights(net)

    paddle.disable_static()
    eager = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.BatchNorm1D(8), nn.Linear(8, 1))
    for n, p in eager.named_parameters():
        p.set_value(start[n])
    rate = paddle.optimizer.lr.StepDecay(0.1, 2, 0.5)
    opt = OPTIMIZERS[name](eager.parameters(), rate)
    for i in range(4):
        feed = batch(seed=i)
        loss = nn.functional.mse_loss(eager(paddle.to_tensor(feed["x"])), paddle.to_tensor(feed["y"]))
        np.testing.assert_allclose(losses[i], loss.numpy(), rtol=1e-5)
        loss.backward()
        opt.step()
        opt.clear_grad()
        rate.step()
    for n, value in weights(eager).items():
        np.testing.assert_allclose(found[n], value, rtol=1e-4, atol=1e-6, err_msg=n)


def test_startup_starts_training_anew():
    _, loss = network()
    paddle.optimizer.Adam(0.1).minimize(loss)
    exe, runs = static.Executor(), []
    for _ in range(2):
        paddle.seed(1)
        exe.run(static.default_startup_program())
        runs.append([float(exe.run(feed=batch(), fetch_list=[loss])[0]) for _ in range(3)])
    assert runs[0] == runs[1] and runs[0][2] < runs[0][0]


def test_two_optimizers_train_in_turns():
    x = static.data("x", [None, 4])
    one, two = nn.Linear(4, 4), nn.Linear(4, 1)
    score = two(one(x)).mean()
    a = paddle.optimizer.SGD(0.1, parameters=one.parameters())
    b = paddle.optimizer.SGD(0.1, parameters=two.parameters())
    a.minimize(score)
    b.minimize(-score)
    exe = started()
    before = weights(one) | {f"two.{k}": v for k, v in weights(two).items()}
    exe.run(feed={"x": batch()["x"]})
    after = weights(one) | {f"two.{k}": v for k, v in weights(two).items()}
    mean = batch()["x"].mean(0)
    np.testing.assert_allclose(
        after["weight"], before["weight"] - 0.1 * np.outer(mean, before["two.weight"]), rtol=1e-5, atol=1e-7
    )
    inner = mean @ before["weight"] + before["bias"]
    np.testing.assert_allclose(
        after["two.weight"][:, 0], before["two.weight"][:, 0] + 0.1 * inner, rtol=1e-5, atol=1e-7
    )


def test_layers_of_dynamic_mode_are_trained_in_place():
    paddle.disable_static()
    net = nn.Linear(4, 1)
    start = net.weight.numpy()
    paddle.enable_static()
    loss = net(static.data("x", [None, 4])).mean()
    paddle.optimizer.SGD(0.1, parameters=net.parameters()).minimize(loss)
    started().run(feed={"x": batch()["x"]}, fetch_list=[loss])
    np.testing.assert_allclose(net.weight.numpy()[:, 0], start[:, 0] - 0.1 * batch()["x"].mean(0), rtol=1e-5)
