"""Rounding to eight bits as a pass."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from paddle_lite_py.jit.errors import StagingError

import paddle_lite_py as paddle
from paddle_lite_py import nn, passes
from paddle_lite_py.passes import apply
from rewritten import SPEC, block_net, names, program_of, recipe, same


def test_quanters_as_a_pass_train_as_quantized_layers_do(tmp_path):
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
    eager, insert = paddle.quantization.QAT(recipe()).quantize(net), passes.InsertQuanters(recipe())
    static = paddle.jit.to_static(copy.deepcopy(net), input_spec=[SPEC([None, 1, 4, 4])], passes=insert)
    opts = [paddle.optimizer.SGD(0.1, parameters=n.parameters()) for n in (eager, static)]
    x = paddle.rand([4, 1, 4, 4])
    for _ in range(3):
        losses = []
        for model, opt in zip((eager, static), opts, strict=True):
            model.train()
            loss = (model(x) - 1.0).square().mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            losses.append(float(loss))
        assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    insert.eval(), static.eval(), eager.eval()
    np.testing.assert_allclose(eager(x).numpy(), static(x).numpy(), atol=1e-6)

    paddle.jit.save(static, str(tmp_path / "net"), passes=["freeze_int8", "inference"])
    loaded = paddle.jit.load(str(tmp_path / "net"))
    kinds = [t.dtype for t in loaded.state_dict().values()]
    assert kinds.count(paddle.int8) == 2
    np.testing.assert_allclose(eager(x).numpy(), loaded(x).numpy(), atol=1e-6)


def test_quanters_get_into_a_training_step_that_is_there_already():
    net, x = nn.Linear(2, 1), paddle.rand([2, 2])

    def step(x):
        loss = net(x).square().mean()
        loss.backward()
        return loss

    twin, insert = copy.deepcopy(net), passes.InsertQuanters(recipe())
    trained = paddle.quantization.QAT(recipe()).quantize(nn.Sequential(twin))
    paddle.jit.to_static(step, passes=insert)(x)
    trained(x).square().mean().backward()
    for a, b in zip(net.parameters(), trained.parameters(), strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-5)
    paddle.jit.to_static(net, passes=passes.InsertQuanters(recipe()))
    with pytest.raises(StagingError, match="`forward` has its own passes, but is called inside"):
        paddle.jit.to_static(step, full_graph=True)(x)


def test_quanters_go_where_the_configuration_wants_them():
    config = paddle.quantization.QuantConfig(activation=None, weight=None)
    config.add_type_config(nn.Linear, weight=paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver())
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.Flatten(), nn.Linear(8, 3))
    changed = apply(program_of(net.forward, SPEC([2, 1, 4, 4])), passes.InsertQuanters(config).eval())
    assert names(changed) == ["conv2d", "flatten", "fake_quantize", "linear"]


def test_int8_weights_are_within_half_a_step():
    net, x = block_net(), paddle.rand([2, 2, 6, 6])
    program = program_of(net.forward, SPEC([None, 2, 6, 6]))
    changed = apply(program, ["inference", "freeze_int8"])
    assert str(apply(changed, "freeze_int8")) == str(changed)
    held = [t for t in changed.captured.values() if t.dtype == paddle.int8]
    assert len(held) == 3 and all(int(t.abs().max()) == 127 for t in held)
    folded = apply(program, "inference")
    weight = next(t for t in folded.captured.values() if t.shape == [64, 3])
    number = next(t for t in held if t.shape == [64, 3])
    scale = weight.abs().max(axis=0)
    assert float(((number.astype("float32") * scale / 127) - weight).abs().max() / scale.max()) <= 0.5 / 127 + 1e-6
    same(program, changed, x, atol=0.05)


@pytest.mark.usefixtures("static_mode")
def test_quanters_come_before_or_after_minimize():
    """With the same results: what a gradient is of is rewritten with it."""
    x = paddle.static.data("x", [None, 3])
    net = nn.Linear(3, 2)
    loss = (net(x) - 1.0).square().mean() + paddle.static.nn.cond(
        x.sum() > 1, lambda: net(x * 2).sum(), lambda: x.sum()
    )
    main, startup = paddle.static.default_main_program(), paddle.static.default_startup_program()
    exe, feed = paddle.static.Executor(), {"x": np.random.default_rng(0).random((4, 3), "float32")}
    exe.run(startup)
    first, found = {n: t.numpy() for n, t in main.state_dict().items()}, []
    for before in (True, False):
        insert, program = passes.InsertQuanters(recipe()), main.clone()
        program = apply(program, insert) if before else program
        with paddle.static.program_guard(program, startup):
            paddle.optimizer.SGD(0.2).minimize(program.global_block().var(loss.name))
        program = program if before else apply(program, insert)
        main.set_state_dict(first)
        found.append([exe.run(program, feed=feed, fetch_list=[loss.name])[0] for _ in range(4)])
        found[-1] += [t.numpy() for t in program.state_dict("param").values()]
        found[-1] += [q.scales().numpy() for _, *qs in insert._quanters.values() for q in qs]
    assert len(found[0]) == len(found[1])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.usefixtures("static_mode")
def test_quanters_are_put_into_a_static_program_before_it_is_trained():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        out = nn.Linear(3, 2)(paddle.static.data("x", [None, 3]))
        loss = (out - 1.0).square().mean()
    exe, feed = paddle.static.Executor(), {"x": np.random.default_rng(0).random((4, 3), "float32")}
    exe.run(startup)
    insert = passes.InsertQuanters(recipe())
    train = apply(main, insert)
    with paddle.static.program_guard(train, startup):
        paddle.optimizer.SGD(0.2).minimize(loss)
    losses = [float(exe.run(train, feed=feed, fetch_list=[loss])[0]) for _ in range(5)]
    assert losses[-1] < losses[0] and "fake_quantize" in str(train)
    scales = [float(q.scales()) for _, *qs in insert._quanters.values() for q in qs]
    assert all(s > 0.01 for s in scales)
    insert.eval()
    frozen = apply(main, [insert, "freeze_int8"])
    assert "int8" in str(frozen)
    exe.run(frozen, feed=feed, fetch_list=[loss])
