"""Programs that passes made are run, saved, and transformed in static mode."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.nn import functional as F
from paddle_lite_py.passes import apply, function
from rewritten import SPEC, X, block_net, exp_of_log, names, program_of


def test_an_optimised_net_is_saved_and_one_that_is_loaded_is_optimised(tmp_path):
    net, x, spec = block_net(), paddle.rand([2, 2, 6, 6]), [SPEC([None, 2, 6, 6])]
    want = net(x).numpy()
    paddle.jit.save(net, str(tmp_path / "plain"), input_spec=spec)
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=spec, passes="inference")
    paddle.jit.save(paddle.jit.load(str(tmp_path / "plain")), str(tmp_path / "again"), passes="inference")
    for name in ("net", "again"):
        loaded = paddle.jit.load(str(tmp_path / name))
        assert "batch_norm" not in names(loaded.program())
        np.testing.assert_allclose(loaded(x).numpy(), want, atol=1e-5)
        assert all("frozen" in n for n in loaded.state_dict())


def test_a_program_is_saved_with_its_weights_and_state(tmp_path):
    count = paddle.zeros([])
    count.name = "count"

    def f(x):
        count.add_(paddle.ones([]))
        return x.log().exp() * count, x + 1.0

    paddle.jit.save(apply(program_of(f), exp_of_log), str(tmp_path / "p"))
    loaded = paddle.jit.load(str(tmp_path / "p"))
    assert names(loaded.program()).count("exp") == 0
    loaded(X)
    assert loaded(X)[0].tolist() == [2.0, 4.0, 6.0] and loaded(X)[0].tolist() == [3.0, 6.0, 9.0]


def test_a_function_of_a_program_counts_its_arguments():
    with pytest.raises(TypeError, match=r"program takes 1 arguments \(x\), got 2"):
        function(program_of(lambda x: x + 1.0))(X, X)


@pytest.mark.usefixtures("static_mode")
def test_programs_of_the_static_mode_are_transformed(tmp_path):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 2, 4, 4])
        h = F.dropout(F.relu(nn.BatchNorm2D(3)(nn.Conv2D(2, 3, 3)(x))), 0.5)
        out = nn.Linear(12, 2)(h.flatten(1))
        loss = (out - 1.0).square().mean()
    test = main.clone(for_test=True)
    with paddle.static.program_guard(main, startup):
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe, feed = paddle.static.Executor(), {"x": np.random.default_rng(0).random((4, 2, 4, 4), "float32")}
    exe.run(startup)
    exe.run(main, feed=feed)

    ready = apply(test, "inference")
    assert [op.type for op in ready.global_block().ops] == [
        "conv2d", "relu", "flatten", "linear", "subtract", "square", "mean"
    ]  # fmt: skip
    want = exe.run(test, feed=feed, fetch_list=[out, loss])
    for fetch in ([out, loss], [out, loss.name]):
        for a, b in zip(want, exe.run(ready, feed=feed, fetch_list=fetch), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
    paddle.static.save_inference_model(str(tmp_path / "m"), [x], [out], exe, program=test, passes="inference")
    program, names_, fetches = paddle.static.load_inference_model(str(tmp_path / "m"), exe)
    assert "batch_norm" not in [op.type for op in program.global_block().ops]
    np.testing.assert_allclose(exe.run(program, feed={names_[0]: feed["x"]}, fetch_list=fetches)[0], want[0], atol=1e-5)

    low = apply(main, "auto_cast")
    losses = [float(exe.run(low, feed=feed, fetch_list=[loss])[0]) for _ in range(6)]
    assert losses[-1] < losses[0] and "cast" in str(low) and "cast" not in str(main)
