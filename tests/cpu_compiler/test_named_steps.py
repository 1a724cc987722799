"""Eager training steps lead to their executables by what was recorded: the next process traces none of them."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import amp
from paddle_lite_py.core import memo
from paddle_lite_py.cpu_compiler import named_programs
from paddle_lite_py.eager import lazy_program
from paddle_lite_py.nn import functional as F

pytestmark = [pytest.mark.usefixtures("all_are_large"), pytest.mark.counts]


def train(rows=64, axis=-1, scale=2.0, rate=0.1, like=lambda x: x, looks=False, **settings):
    """Two steps from fixed weights, as a process does that has no programs yet; the weights."""
    lazy_program._programs.clear()
    weight = paddle.create_parameter([256, 256], "float32", default_initializer=paddle.nn.initializer.Constant(0.01))
    opt = paddle.optimizer.AdamW(rate, parameters=[weight], **settings)
    x = paddle.arange(rows * 256, dtype="float32").reshape([rows, 256]) / 10000
    for _ in range(2):
        loss = (F.softmax(like(x @ weight), axis) * scale).square().sum()
        if looks:
            float(loss)
        loss.backward()
        opt.step()
        opt.clear_grad()
    return weight.numpy()


CLIP = paddle.nn.ClipGradByGlobalNorm
CHANGES = {
    "nothing": ({}, False),
    "the rate": ({"rate": 0.2}, False),
    "a number": ({"scale": 3.0}, False),
    "a shape": ({"rows": 128}, True),
    "an attribute": ({"axis": 0}, True),
    "a step": ({"like": paddle.tanh}, True),
    "a setting of the optimizer": ({"beta1": 0.8}, True),
    "a number of kinds": ({"beta1": 0}, True),
    "decay": ({"weight_decay": 0.5}, True),
    "a clip": ({"grad_clip": CLIP(1.0)}, True),
    "another clip": ({"grad_clip": CLIP(2.0)}, True),
}


@pytest.mark.parametrize(("settings", "traced"), CHANGES.values(), ids=CHANGES)
def test_all_that_a_step_depends_on_is_in_its_text(traces, monkeypatch, settings, traced):
    if "grad_clip" in settings and settings["grad_clip"].clip_norm == 2.0:
        train(grad_clip=CLIP(1.0))
    train()
    before = len(traces)
    assert before
    found = train(**settings)
    assert (len(traces) > before) == traced
    monkeypatch.setattr(lazy_program, "text_or_none", lambda *said: None)
    np.testing.assert_array_equal(found, train(**settings))


def test_so_do_a_forward_pass_that_is_looked_at_and_its_backward(traces, monkeypatch):
    def trained(epsilon):
        memo.clear()
        return train(like=lambda x: F.layer_norm(x, [256], epsilon=epsilon), looks=True)

    first, before = trained(1e-5), len(traces)
    assert {"eager_ops", "backward", "adamw"} <= set(traces)
    np.testing.assert_array_equal(trained(1e-5), first)
    assert len(traces) == before
    found = trained(0.1)
    assert len(traces) > before
    monkeypatch.setattr(named_programs.NamedExecutable, "loaded", lambda *_: None)
    np.testing.assert_array_equal(found, trained(0.1))


CASTS = [
    {"dtype": "bfloat16"},
    {"dtype": "float16"},
    {"dtype": "bfloat16", "level": "O2"},
    {"dtype": "bfloat16", "custom_white_list": ["softmax", "square"]},
    {"dtype": "bfloat16", "custom_black_list": ["softmax", "matmul"]},
]


def test_the_rules_of_mixed_precision_are_in_its_text(traces):
    found = []
    for casts in CASTS:
        with amp.auto_cast(**casts):
            before = len(traces)
            found.append(train(looks=True))
            assert len(traces) > before, casts
    for casts, first in zip(CASTS, found, strict=True):
        with amp.auto_cast(**casts):
            before = len(traces)
            np.testing.assert_array_equal(train(looks=True), first)
            assert len(traces) == before, casts


def test_an_op_of_the_users_has_no_text(traces):
    for factor in (2, 3):  # under one name, as a cell of a notebook that is run again
        own = paddle.utils.custom_op(lambda x, /, factor=factor: x * factor, name="scaled_in_a_named_step")
        before = len(traces)
        train(like=own)
        assert len(traces) > before


COUNTING = """
import paddle_lite_py as paddle
from paddle_lite_py.cpu_compiler import out_of_process
from paddle_lite_py.eager.lazy_op import LazyOpInfo
out_of_process.FEW = out_of_process.BASELINE = 1
traced, new = [], out_of_process.TracedFunction
out_of_process.TracedFunction = lambda fn, args: traced.append(fn.__name__) or new(fn, args)
anew = LazyOpInfo._traced
LazyOpInfo._traced = lambda self, data: traced.append(self._bound.op.name) or anew(self, data)
paddle.seed(0)
nn = paddle.nn
"""
TRAINED = f"""{COUNTING}
layers = nn.Conv2D(8, 8, 3), nn.BatchNorm2D(8), nn.ReLU(), nn.Flatten(), nn.LayerNorm(16928), nn.Linear(16928, 9)
net = nn.Sequential(*layers)
opt = paddle.optimizer.Adam(parameters=net.parameters())
image = paddle.arange(36864, dtype="float32").reshape([2, 8, 48, 48]).sin()
for step in range(3):
    loss = net(image).square().mean()
    if step == 2:
        print(float(loss))  # so the backward is a program of its own, of what normalizations have left for it
    loss.backward()
    opt.step()
    opt.clear_grad()
print(float(loss))
print(traced)
"""


def printed(program, folder, *arguments, baseline_tier="0"):
    """The lines that a program prints in a process of its own, which shares what it keeps with others of the folder."""
    environment = {"PADDLE_LITE_CACHE_DIR": str(folder / "cache"), "FLAGS_baseline_tier": baseline_tier, "PATH": ""}
    file = folder / "program.py"
    file.write_text(program)  # static functions are read from it
    command = [sys.executable, str(file), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_next_process_traces_neither_a_step_nor_its_ops(tmp_path):
    """It calls oneDNN and kernels of updates, where these are installed, by plans that it makes anew."""

    def said():
        *losses, traced = printed(TRAINED, tmp_path)
        return losses, traced

    first, traced = said()
    assert "eager_ops_and_backward" in traced
    assert "'backward'" in traced
    assert said() == (first, "[]")
    # JAX has kept programs too, which XLA cannot write into files of ours once it has read them.
    for file in [*tmp_path.rglob("*.known"), *tmp_path.rglob("*.executable")]:
        file.unlink()
    for _ in range(2):
        assert said()[0] == first


# NumPy has the parameters in the first step, and computes the first layer; in all others XLA has them.
GROWN = f"""{COUNTING}
net = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 60))
opt = paddle.optimizer.Adam(parameters=net.parameters())
for _ in range(3):
    loss = net(paddle.ones([128, 64])).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
print(float(loss))
print(traced)
"""


def test_the_next_process_traces_no_first_step_that_differs_from_the_others(tmp_path):
    """Both are compiled after the first process has ended."""

    def said():
        return printed(GROWN, tmp_path, baseline_tier="1")

    assert said()[1].count("eager_ops_and_backward") == 2
    assert said()[1] == "[]"  # NumPy runs them until the compiler of the first process is done
    until = time.monotonic() + 120
    while len([*tmp_path.rglob("*.executable")]) < 2:
        assert time.monotonic() < until
        time.sleep(0.2)
    assert said()[1] == "[]"


# The factor is a global that the function reads.
STATIC = f"""{COUNTING}
import sys
factor = float(sys.argv[1])
net = nn.Sequential(nn.Conv2D(8, 8, 3), nn.BatchNorm2D(8), nn.Flatten(), nn.Linear(16928, 9))
opt = paddle.optimizer.Adam(parameters=net.parameters())

def step(x):
    loss = (net(x) * factor).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    return loss

compiled = paddle.jit.to_static(step) if len(sys.argv) < 3 else step
for _ in range(2):
    loss = compiled(paddle.arange(36864, dtype="float32").reshape([2, 8, 48, 48]).sin())
print(float(loss))
print(traced)
"""


def test_the_next_process_lowers_no_static_step_and_takes_none_for_another(tmp_path):

    def said(*given):
        loss, traced = printed(STATIC, tmp_path, *given)
        return float(loss), traced

    first, traced = said("2")
    assert "'step'" in traced
    again, traced = said("2")
    assert (again, "'step'" in traced) == (first, False)
    other, traced = said("3")
    assert "'step'" in traced
    assert other == pytest.approx(said("3", "eager")[0], rel=1e-3)
    assert other != first


def plain(x):
    return x


def train_static(rows=64, axis=-1, factor=2.0, like=plain, default=1.0, looks=False):
    """Two eager steps of a static layer, as a process does that has no programs yet; the weights."""
    memo.clear()

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            constant = paddle.nn.initializer.Constant(0.01)
            self.weight = self.create_parameter([256, 256], default_initializer=constant)

        def forward(self, x, shift=default):
            return F.softmax(like(x @ self.weight) + shift, axis) * factor

    net = Net()
    opt, static = paddle.optimizer.Adam(0.1, parameters=net.parameters()), paddle.jit.to_static(net)
    x = paddle.arange(rows * 256, dtype="float32").reshape([rows, 256]).sin()
    for _ in range(2):
        loss = static(x).square().sum()
        if looks:
            float(loss)
        loss.backward()
        opt.step()
        opt.clear_grad()
    return net.weight.numpy()


def doubled(x):
    return x * 2


first_version = doubled


def doubled(x):  # noqa: F811  (a cell of a notebook that is run again)
    return x * 3


LAYERS = {
    "a shape": ({"rows": 128}, {}),
    "an attribute": ({"axis": 0}, {}),
    "a constant": ({"factor": 3.0}, {}),
    "a default": ({"default": 0.5}, {}),
    "a function": ({"like": paddle.tanh}, {}),
    "a function that was defined again": ({"like": doubled}, {"like": first_version}),
    "a function of the user's": ({"like": lambda x: x.abs()}, {"like": lambda x: x.exp()}),
}


@pytest.mark.parametrize("looks", [False, True], ids=["", "looked at"])
def test_a_static_layer_in_an_eager_step_is_part_of_its_text(traces, looks):
    first = train_static(looks=looks)
    before = len(traces)
    assert {"eager_ops", "backward"} if looks else {"eager_ops_and_backward"} <= set(traces)
    np.testing.assert_array_equal(train_static(looks=looks), first)
    assert len(traces) == before


@pytest.mark.parametrize(("settings", "earlier"), LAYERS.values(), ids=LAYERS)
def test_another_static_layer_is_not_taken_for_it(traces, monkeypatch, settings, earlier):
    train_static(**earlier)
    before = len(traces)
    found = train_static(**settings)
    assert len(traces) > before
    monkeypatch.setattr(named_programs.NamedExecutable, "loaded", lambda *_: None)
    np.testing.assert_array_equal(found, train_static(**settings))


def test_a_static_layer_of_an_op_of_the_users_has_no_text(traces):
    for factor in (2, 3):
        own = paddle.utils.custom_op(lambda x, /, factor=factor: x * factor, name="scaled_in_a_named_layer")
        before = len(traces)
        train_static(like=own)
        assert len(traces) > before


def test_another_source_of_the_package_is_another_layer(traces, monkeypatch):
    train_static()
    monkeypatch.setattr(named_programs, "package_stamp", lambda: "another")
    before = len(traces)
    train_static()
    assert len(traces) > before
