"""Each pass on whole nets and training programs leaves what they compute."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
import program_cases
from paddle_lite_py import nn, passes
from paddle_lite_py.ir.verify import verify
from paddle_lite_py.passes import apply, function
from rewritten import SPEC, idempotent, names, recipe, same, shaken


@pytest.mark.parametrize("case", program_cases.CASES)
def test_whole_nets_are_what_they_were(case):
    model, _, _, batch, _ = program_cases.CASES[case](paddle)
    program_cases.set_weights(model)
    given, _ = batch(np.random.default_rng(3))
    shaken(model)
    args = [paddle.to_tensor(a) for a in given]
    static = paddle.jit.to_static(model, input_spec=[SPEC([None, *a.shape[1:]], a.dtype) for a in args])
    program = static.forward.main_program
    changed = idempotent(program, "inference")
    assert len(changed.ops()) < len(program.ops()) and "batch_norm" not in names(changed)
    same(program, changed, *args, atol=1e-5)
    verify(apply(program, ["auto_cast", "freeze_int8", "inference"]))


class Winding(nn.Layer):
    """A net with products, normalization and dropout in branches and loops."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2D(2, 3, 3), nn.BatchNorm2D(3), nn.Dropout(0.5)
        self.step, self.last = nn.Linear(12, 12), nn.Linear(12, 2)

    def forward(self, x):
        y = self.conv(x)
        if x.mean() > 0:
            y = self.drop(self.norm(self.conv(x)))
        y, i = y.flatten(1), paddle.zeros([], "int64")
        while i < 3:
            y = self.step(y) if y.sum() > 0 else (self.step(y) * 1.0).tanh()
            i = i + 1
        for _ in range(paddle.to_tensor(2)):
            y = self.step(y).tanh()
        return self.last(y)


def flat(results):
    return results if isinstance(results, tuple) else (results,)


def whole_net(case):
    """A net in eval mode as a program, and its arguments."""
    if case == "winding":
        model, args = Winding(), [np.random.default_rng(3).normal(size=(2, 2, 4, 4)).astype("float32")]
    else:
        model, _, _, batch, _ = program_cases.CASES[case](paddle)
        args, _ = batch(np.random.default_rng(3))
    program_cases.set_weights(model)
    shaken(model)
    args = [paddle.to_tensor(a) for a in args]
    static = paddle.jit.to_static(model, input_spec=[SPEC([None, *a.shape[1:]], a.dtype) for a in args])
    return static.forward.main_program, args


# How far results may be off, by the size of the largest.
ROUNDING = {"auto_cast": 0.05, "freeze_int8": 0.05, "insert_quanters": 0.1}
WARM = 40  # runs until the scales of quanters have come near what they see


@pytest.mark.parametrize("case", [*program_cases.CASES, "winding"])
def test_each_pass_leaves_whole_nets_what_they_were(case):
    program, args = whole_net(case)
    want = [a for a in flat(function(program)(*args)) if float(a.abs().max()) > 0.01]
    assert want
    for change in [*passes.manager.names(), passes.InsertQuanters(recipe())]:
        changed = apply(program, change)  # which verifies
        if changed is program:
            continue
        run, name = function(changed), getattr(change, "__name__", change)
        got = [flat(run(*args)) for _ in range(WARM if name == "insert_quanters" else 1)][-1]
        for a, b in zip(want, got, strict=True):
            part = ROUNDING.get(name, 1e-5)
            if (case, name) == ("winding", "insert_quanters"):
                part = 1.0  # its quanters see numbers of unlike sizes in turn, and clip the large ones
            limit = part * float(a.abs().max())
            np.testing.assert_allclose(b.astype(a.dtype).numpy(), a.numpy(), atol=limit, rtol=0, err_msg=name)


def test_weights_are_frozen_in_branches_and_loops_too():
    program, args = whole_net("winding")
    ready = apply(program, ["inference", "freeze_int8"])
    assert not {"batch_norm", "dropout", "rsqrt", "quantize_linear"} & set(names(ready))
    kept = [t.dtype for t in ready.captured.values() if t.ndim > 1]
    assert kept == [paddle.int8] * 4  # the convolution as it is and with the normalization, and the two linear maps
    want, got = flat(function(program)(*args))[0], flat(function(ready)(*args))[0]
    np.testing.assert_allclose(got.numpy(), want.numpy(), atol=0.05 * float(want.abs().max()))


@pytest.mark.usefixtures("static_mode")
@pytest.mark.parametrize("case", ["transformer", "winding"])
def test_passes_leave_training_programs_what_they_were(case):
    """Those for training; and the programs of loops of unknown length, whose runs are asked for more."""
    if case == "winding":
        x = np.random.default_rng(3).normal(size=(2, 2, 4, 4)).astype("float32")
        out, feed = paddle.jit.to_static(Winding())(paddle.static.data("x", [None, *x.shape[1:]])), {"x": x}
    else:
        model, _, _, batch, _ = program_cases.CASES[case](paddle)
        args, _ = batch(np.random.default_rng(3))
        feed = {f"x{i}": a for i, a in enumerate(args)}
        out = model(*[paddle.static.data(n, [None, *a.shape[1:]], str(a.dtype)) for n, a in feed.items()])
    loss = (out * out).mean()
    paddle.optimizer.Adam(0.01).minimize(loss)
    main, exe = paddle.static.default_main_program(), paddle.static.Executor()
    found = []
    for change in [[], ["clean"], ["auto_cast"]]:
        paddle.seed(1)
        exe.run(paddle.static.default_startup_program())
        program = apply(main, change)
        found.append([float(exe.run(program, feed, [loss])[0]) for _ in range(3)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
    np.testing.assert_allclose(found[2], found[0], rtol=0.1)
