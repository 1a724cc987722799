"""Mixed precision as a pass."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, passes
from paddle_lite_py.nn import functional as F
from paddle_lite_py.passes import apply, function
from rewritten import SPEC, idempotent, names, program_of


def mixed(x):
    h = (x @ x).exp() + x
    if h.sum() > 0:
        h = F.relu(h @ x)
    else:
        h = x
    for _ in range(paddle.to_tensor(2)):
        h = F.softmax(h @ x, axis=-1)
    return h


@pytest.mark.parametrize("settings", [
    {"dtype": "bfloat16"}, {"dtype": "float16", "level": "OD"}, {"dtype": "bfloat16", "level": "O2"},
    {"dtype": "bfloat16", "custom_black_list": ["matmul"]}, {"dtype": "bfloat16", "custom_white_list": ["exp"]},
])  # fmt: skip
def test_casts_are_those_of_auto_cast(settings):
    def f(x):
        return (F.linear(x, x).exp() + x.sum(axis=0) @ x, F.softmax(x @ x) * x)

    x = paddle.rand([3, 3])
    program = program_of(f, SPEC([3, 3]))
    with paddle.amp.auto_cast(**settings):
        eager, static = f(x), paddle.jit.to_static(f)
        want = static(x)
        kinds = [[str(v.dtype) for v in op.outputs] for op in static.main_program.ops() if op.name != "cast"]
    changed = apply(program, passes.AutoCast(**settings))
    assert [[str(v.dtype) for v in op.outputs] for op in changed.ops() if op.name != "cast"] == kinds
    got = function(apply(program, passes.AutoCast(**settings)))(x)
    for a, b, c in zip(want, got, eager, strict=True):
        assert a.dtype == b.dtype == c.dtype
        np.testing.assert_array_equal(a.astype("float32").numpy(), b.astype("float32").numpy())
        # Inside one executable XLA may leave out a rounding that eager code makes between two.
        np.testing.assert_allclose(b.astype("float32").numpy(), c.astype("float32").numpy(), rtol=0.01)


def test_casts_reach_branches_and_loops_and_what_is_carried_keeps_its_type():
    program = program_of(mixed, SPEC([3, 3]))
    changed = idempotent(program, "auto_cast")
    kinds = {str(op.outputs[0].dtype) for op in changed.ops() if op.name == "matmul"}
    assert kinds == {"bfloat16"} and names(changed).count("cast") > 4
    x = paddle.rand([3, 3])
    a, b = function(program)(x), function(changed)(x)
    np.testing.assert_allclose(a.numpy(), b.astype("float32").numpy(), atol=0.02)


def test_a_training_step_in_mixed_precision_updates_float32_weights():
    nets = [nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(2)]
    nets[1].set_state_dict(nets[0].state_dict())
    opts = [paddle.optimizer.SGD(0.1, parameters=n.parameters()) for n in nets]
    x = paddle.rand([8, 4])

    def train(net, opt, scope):
        def step(x):
            with scope():
                loss = net(x).square().mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            return loss

        return step

    def under():
        return paddle.amp.auto_cast(dtype="bfloat16")

    def plain():
        return paddle.amp.auto_cast(enable=False)

    eager = train(nets[0], opts[0], under)
    static = paddle.jit.to_static(train(nets[1], opts[1], plain), passes="auto_cast")
    for _ in range(3):
        a, b = eager(x), static(x)
    assert "cast" in names(static.main_program) and float(a) == pytest.approx(float(b), rel=1e-2)
    for p, q in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        assert q.dtype == paddle.float32
        np.testing.assert_allclose(p.numpy(), q.numpy(), atol=2e-3)
