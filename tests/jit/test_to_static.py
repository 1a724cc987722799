"""to_static: functions, methods, layers and training steps; the cache, guards, and errors."""

from __future__ import annotations

import functools
import gc
import weakref

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


def sign(x):
    if x.sum() > 0:
        return x * 2.0
    return -x


def fill(layer, seed=0):
    rng = np.random.RandomState(seed)
    for p in layer.parameters():
        p.set_value((rng.rand(*p.shape) - 0.4).astype("float32"))
    return layer


def test_one_program_serves_both_branches():
    f = to_static(sign)
    assert f(tensor(1.0, 2.0)).tolist() == [2.0, 4.0]
    assert f(tensor(-1.0, -2.0)).tolist() == [1.0, 2.0]
    assert len(f.program_cache) == 1 and f.retraces == ["traced for float32[2]: first call"]


def test_each_kind_of_argument_is_traced_once():
    f = to_static(lambda x, n=1: x * n)
    for _ in range(2):
        for args, kwargs in (
            ((tensor(1.0),), {}),
            ((tensor(1.0, 2.0),), {}),
            ((tensor(1.0), 3), {}),
            ((tensor(1.0),), {"n": 4}),
        ):
            f(*args, **kwargs)
    assert len(f.program_cache) == 4


def test_numbers_of_different_type_are_different_arguments():
    f = to_static(lambda x, k: x * k)
    assert [f(tensor(1, 2), k).dtype.name for k in (1, 1.0, True)] == ["int64", "float32", "int64"]


def test_nested_arguments_and_results():
    def f(batch, *rest, scale=1.0):
        return {"sum": batch["a"] + batch["b"][0], "rest": [r * scale for r in rest]}, scale

    out, scale = to_static(f)({"a": tensor(1.0), "b": (tensor(2.0),)}, tensor(3.0), scale=2.0)
    assert out["sum"].tolist() == [3.0] and out["rest"][0].tolist() == [6.0] and scale == 2.0


def test_numpy_arguments_are_tensors():
    f = to_static(lambda x: x + 1.0)
    assert f(np.array([1.0], "float32")).tolist() == [2.0]


def test_lambda_method_static_method_and_call():
    class Thing:
        k = 3.0

        @to_static
        def scaled(self, x):
            return x * self.k if x.sum() > 0 else x

        @staticmethod
        @to_static
        def plain(x):
            return x + 1.0

    thing = Thing()
    assert thing.scaled(tensor(1.0)).tolist() == [3.0]
    assert thing.scaled is thing.scaled and Thing().scaled is not thing.scaled
    assert Thing.plain(tensor(1.0)).tolist() == [2.0]
    first, second = to_static(lambda x: x + 1.0), to_static(lambda x: x * 5.0)
    assert first(tensor(1.0)).tolist() == [2.0] and second(tensor(1.0)).tolist() == [5.0]


def test_a_layer_keeps_its_identity_and_gradients():
    net, twin = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2))
    static = to_static(net)
    assert static is net
    x = paddle.ones([4, 3])
    for model in (net, twin):
        for _ in range(3):
            (model(x) ** 2).sum().backward()
    for a, b in zip(net.parameters(), twin.parameters(), strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-5)


def test_gradients_reach_arguments_and_earlier_eager_code():
    f = to_static(sign)
    for value in (2.0, -2.0):
        x, y = tensor(value, stop_gradient=False), tensor(value, stop_gradient=False)
        (f(x * 3.0) * 1.5).sum().backward()
        (sign(y * 3.0) * 1.5).sum().backward()
        assert x.grad.tolist() == y.grad.tolist()


def test_no_graph_under_no_grad():
    f = to_static(sign)
    x = tensor(1.0, stop_gradient=False)
    with paddle.no_grad():
        assert f(x).stop_gradient
    assert not f(x).stop_gradient


def test_training_mode_is_seen_and_shares_parameters():
    net = to_static(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)))
    x = paddle.ones([8, 4])
    net.train()
    assert len({tuple(net(x).numpy().ravel()) for _ in range(3)}) == 3
    net.eval()
    assert len({tuple(net(x).numpy().ravel()) for _ in range(3)}) == 1
    net.train()
    net(x)
    assert len(net.forward.program_cache) == 2


def test_running_statistics_follow_the_eager_run():
    static, eager = nn.BatchNorm1D(3), nn.BatchNorm1D(3)
    to_static(static)
    rng = np.random.RandomState(0)
    for _ in range(3):
        x = paddle.to_tensor(rng.randn(5, 3).astype("float32"))
        np.testing.assert_allclose(static(x).numpy(), eager(x).numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(static._mean.numpy(), eager._mean.numpy(), rtol=1e-5)
    np.testing.assert_allclose(static._variance.numpy(), eager._variance.numpy(), rtol=1e-5)


def test_a_storm_of_traces_warns_with_the_fix():
    f = to_static(lambda x: x + 1.0)
    with pytest.warns(UserWarning, match="InputSpec"):
        for n in range(1, 9):
            for _ in range(2):
                f(paddle.ones([n]))


def test_static_functions_nest():
    inner = to_static(sign)
    outer = to_static(lambda x: inner(x) + inner(-x))
    assert outer(tensor(3.0)).tolist() == [9.0]
    assert not inner.program_cache


def test_not_to_static_and_switch():
    @functools.lru_cache
    def seen(key):
        return key

    @paddle.jit.not_to_static
    def helper(x):
        seen(object())
        return x + 1.0

    f = to_static(lambda x: helper(x) * 2.0)
    assert f(tensor(1.0)).tolist() == [4.0] and f(tensor(2.0)).tolist() == [6.0]
    assert seen.cache_info().misses == 1
    paddle.jit.enable_to_static(False)
    try:
        assert f(tensor(3.0)).tolist() == [8.0] and seen.cache_info().misses == 2
    finally:
        paddle.jit.enable_to_static(True)


def test_code_and_program_are_readable():
    f = to_static(sign)
    with pytest.raises(ValueError, match="call it once, or give to_static an input_spec"):
        f.concrete_program  # noqa: B018
    f(tensor(1.0))
    assert "def sign(x)" in f.code
    assert "cond(" in str(f.concrete_program)


def test_print_shows_values_at_run_time(capfd):
    @to_static
    def f(x):
        print("x is", x.sum())
        return x

    for data in ((1.0, 2.0), (5.0, 2.0)):
        f(tensor(*data))
        static = capfd.readouterr().out
        print("x is", tensor(*data).sum())
        assert static == capfd.readouterr().out


def test_a_dropped_layer_is_freed():
    net = to_static(nn.Linear(2, 2))
    net(paddle.ones([1, 2]))
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None


def test_sizes_that_are_taken_from_shapes():
    def resized(x):
        size = paddle.shape(x)[2:]
        grid = nn.functional.affine_grid(paddle.ones([1, 2, 3]), paddle.shape(x), align_corners=True)
        return nn.functional.interpolate(x[:, :, :2], size, mode="bilinear"), nn.functional.grid_sample(x, grid)

    x = paddle.arange(12.0).reshape([1, 1, 3, 4])
    for static, eager in zip(paddle.jit.to_static(resized)(x), resized(x), strict=True):
        np.testing.assert_allclose(static.numpy(), eager.numpy(), rtol=1e-6)
