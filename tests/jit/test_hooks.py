"""Forward hooks of sublayers in static functions: converted as any function, and what they read is a condition."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn

SETTINGS = {"scale": 2.0}


def pre(layer, args):
    x = args[0]
    if x.sum() > 0:
        x = x * 2
    return (x,)


def post(layer, args, out):
    i = paddle.zeros([])
    while i < out.sum():
        out, i = out - 0.1, i + 1
    return out * SETTINGS["scale"]


class Counter:
    calls = 0

    def __call__(self, layer, args, out):
        self.calls += 1
        return out if out.max() > 0 else out - 1

    def method(self, layer, args, out):
        self.calls += 10


def scaled(k, layer, args, out):
    return out * k if out.max() > 0 else out


INPUTS = [paddle.to_tensor([row]) for row in ([1.0, 2.0], [-3.0, 1.0], [2.0, -5.0])]


@pytest.fixture
def hooked():
    paddle.seed(1)
    net, counter = nn.Sequential(nn.Linear(2, 2), nn.ReLU6()), Counter()
    net[1].register_forward_pre_hook(pre)
    for hook in (post, counter, counter.method, functools.partial(scaled, 3.0)):
        net[1].register_forward_post_hook(hook)
    return net, counter


@pytest.mark.parametrize("full_graph", [True, False])
def test_hooks_are_converted(hooked, full_graph):
    net, counter = hooked
    static = paddle.jit.to_static(lambda x: net(x), full_graph=full_graph)
    for turn, x in enumerate([*INPUTS, *INPUTS], 1):
        np.testing.assert_allclose(static(x).numpy(), net(x).numpy(), rtol=1e-6)
        assert counter.calls == turn * 22


def test_what_hooks_read_is_a_condition(hooked, monkeypatch):
    net, _ = hooked
    static = paddle.jit.to_static(lambda x: net(x), full_graph=True)
    before = static(INPUTS[0]).numpy()
    monkeypatch.setitem(SETTINGS, "scale", 4.0)
    np.testing.assert_allclose(static(INPUTS[0]).numpy(), before * 2, rtol=1e-6)


def test_hooks_are_saved(tmp_path, hooked):
    net, _ = hooked
    with pytest.warns(UserWarning, match="it changes Counter.calls"):
        paddle.jit.save(net, str(tmp_path / "net"), [paddle.static.InputSpec([None, 2])])
    loaded = paddle.jit.load(str(tmp_path / "net"))
    for x in INPUTS:
        np.testing.assert_allclose(loaded(x).numpy(), net(x).numpy(), rtol=1e-6)
