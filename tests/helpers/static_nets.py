"""A small network of static mode, its data, and an executor that has started it."""

from __future__ import annotations

import numpy as np

from paddle_lite_py import nn, static


def batch(n=8, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)).astype("float32")
    return {"x": x, "y": x.sum(1, keepdims=True)}


def network(*extra):
    x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), *extra, nn.Linear(8, 1))
    return net, nn.functional.mse_loss(net(x), y)


def started(place=None):
    exe = static.Executor(place)
    exe.run(static.default_startup_program())
    return exe
