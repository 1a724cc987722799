"""Programs for passes, and comparing them with what passes made of them."""

from __future__ import annotations

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.passes import apply, call, function, rewrite

SPEC = paddle.static.InputSpec
VECTOR = [SPEC([3], "float32", "x")]


def program_of(fn, *specs):
    return paddle.jit.to_static(fn, input_spec=list(specs) or VECTOR).main_program


def names(program):
    return [op.name for op in program.ops()]


def same(program, changed, *args, atol=0.0):
    """Both give the same results; the first is as it was."""
    want, got = function(program)(*args), function(changed)(*args)
    for a, b in zip(*(v if isinstance(v, tuple) else (v,) for v in (want, got)), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=atol, rtol=0)


def idempotent(program, name):
    once = apply(program, name)
    assert str(apply(once, name)) == str(once)
    return once


X = paddle.to_tensor([1.0, 2.0, 3.0])


@rewrite(call("exp", call("log", "x")))
def exp_of_log(m):
    return m.x


def shaken(net):
    """The net with running statistics and weights that are not the initial ones."""
    for layer in net.sublayers():
        for name, low, high in (("_mean", -0.1, 0.1), ("_variance", 0.5, 1.5)):
            if hasattr(layer, name):
                getattr(layer, name).set_value(paddle.uniform(getattr(layer, name).shape, min=low, max=high))
    net.eval()
    return net


def block_net():
    return shaken(
        nn.Sequential(
            nn.Conv2D(2, 4, 3, bias_attr=False), nn.BatchNorm2D(4), nn.ReLU(), nn.Dropout(0.5),
            nn.Conv2D(4, 4, 1, groups=2), nn.BatchNorm2D(4, weight_attr=False, bias_attr=False),
            nn.Flatten(), nn.Linear(64, 3), nn.BatchNorm1D(3),
        )
    )  # fmt: skip


def recipe():
    quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
    config = paddle.quantization.QuantConfig(activation=None, weight=None)
    config.add_type_config([nn.Linear, nn.Conv2D], activation=quanter, weight=quanter)
    return config
