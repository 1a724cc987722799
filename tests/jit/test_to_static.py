"""to_static: functions, methods, layers and training steps; the cache, guards, and errors."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from paddle_lite_py.jit import InputSpec, to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.core.errors import TracedValueError


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


OPTIMIZERS = {
    "sgd": lambda p: paddle.optimizer.SGD(0.1, parameters=p),
    "momentum": lambda p: paddle.optimizer.Momentum(0.1, 0.9, parameters=p, use_nesterov=True),
    "adam": lambda p: paddle.optimizer.Adam(0.1, parameters=p),
    "adamw": lambda p: paddle.optimizer.AdamW(0.1, parameters=p, weight_decay=0.1),
    "clipped": lambda p: paddle.optimizer.Adam(0.1, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
}


def make_step(optimizer):
    net = nn.Sequential(fill(nn.Linear(3, 4)), nn.ReLU(), fill(nn.Linear(4, 1), 1))
    opt = OPTIMIZERS[optimizer](net.parameters())

    def step(x, y):
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return net, opt, step


def batches(n=4):
    rng = np.random.RandomState(3)
    return [
        (paddle.to_tensor(rng.randn(5, 3).astype("float32")), paddle.to_tensor(rng.randn(5, 1).astype("float32")))
        for _ in range(n)
    ]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_whole_training_step_is_one_program_and_leaves_the_eager_state(optimizer):
    net, opt, step = make_step(optimizer)
    twin, twin_opt, eager = make_step(optimizer)
    static = to_static(step)
    for x, y in batches():
        np.testing.assert_allclose(static(x, y).item(), eager(x, y).item(), rtol=1e-4)
    assert len(static.program_cache) == 1
    for a, b in zip(net.parameters(), twin.parameters(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)
    assert sorted(opt.state_dict()) == sorted(k.replace("", "") for k in opt.state_dict())
    assert len(opt.state_dict()) == len(twin_opt.state_dict())


def test_a_scheduled_learning_rate_is_an_input():
    net = fill(nn.Linear(2, 1))
    schedule = paddle.optimizer.lr.StepDecay(0.5, step_size=1, gamma=0.1)
    opt = paddle.optimizer.SGD(schedule, parameters=net.parameters())

    @to_static
    def step(x):
        net(x).sum().backward()
        opt.step()
        opt.clear_grad()

    moved = []
    for _ in range(3):
        before = net.bias.item()
        step(paddle.ones([1, 2]))
        moved.append(before - net.bias.item())
        schedule.step()
    np.testing.assert_allclose(moved, [0.5, 0.05, 0.005], rtol=1e-3)
    assert len(step.program_cache) == 1


def test_gradient_accumulation_over_calls():
    net, twin = fill(nn.Linear(2, 1)), fill(nn.Linear(2, 1))
    x = paddle.ones([3, 2])

    def accumulate(model):
        def run(v):
            model(v).sum().backward()

        return run

    static = to_static(accumulate(net))
    for _ in range(3):
        static(x)
        accumulate(twin)(x)
    np.testing.assert_allclose(net.weight.grad.numpy(), twin.weight.grad.numpy())
    assert len(static.program_cache) == 2  # without and with a gradient to add to


def test_parameters_may_be_replaced_between_calls():
    net = to_static(fill(nn.Linear(2, 1)))
    x = paddle.ones([1, 2])
    net(x)
    net.weight.set_value(np.zeros((2, 1), "float32"))
    net.bias.set_value(np.ones(1, "float32"))
    assert net(x).tolist() == [[1.0]]
    net.weight = paddle.create_parameter([2, 1], "float32", default_initializer=nn.initializer.Constant(2.0))
    assert net(x).tolist() == [[5.0]]


GLOBAL = 2.0


def uses_global(x):
    return x * GLOBAL


def test_changed_globals_closures_and_attributes_are_seen(monkeypatch):
    f = to_static(uses_global)
    assert f(tensor(1.0)).tolist() == [2.0]
    monkeypatch.setitem(globals(), "GLOBAL", 5.0)
    assert f(tensor(1.0)).tolist() == [5.0]
    k = 1.0
    g = to_static(lambda x: x * k)
    assert g(tensor(1.0)).tolist() == [1.0]
    k = 4.0
    assert g(tensor(1.0)).tolist() == [4.0]
    assert "closure variable `k` changed from 1.0 to 4.0" in g.retraces[-1]

    class Scale(nn.Layer):
        def __init__(self):
            super().__init__()
            self.k = 2.0

        def forward(self, x):
            return x * self.k

    layer = to_static(Scale())
    assert layer(tensor(1.0)).tolist() == [2.0]
    layer.k = 7.0
    assert layer(tensor(1.0)).tolist() == [7.0]


def test_input_spec_with_an_unknown_batch_traces_once():
    f = to_static(lambda x: (x * 2.0).sum(axis=1), input_spec=[InputSpec([None, 3], "float32", "x")])
    for n in (1, 4, 7):
        assert f(paddle.ones([n, 3])).shape == [n]
    assert len(f.program_cache) == 1


def test_input_spec_is_checked_before_anything_runs():
    f = to_static(lambda image: image, input_spec=[InputSpec([None, 3], "float32")])
    with pytest.raises(
        ValueError, match=r"argument `image` is float32\[2, 4\], but its InputSpec asks for float32\[-1, 3\]"
    ):
        f(paddle.ones([2, 4]))
    with pytest.raises(ValueError, match=r"argument `image` is int64\[2, 3\]"):
        f(paddle.ones([2, 3], "int64"))
    with pytest.raises(ValueError, match="is no dimension"):
        InputSpec([None, -3])


def test_a_storm_of_traces_warns_with_the_fix():
    f = to_static(lambda x: x + 1.0)
    with pytest.warns(UserWarning, match="InputSpec"):
        for n in range(1, 9):
            f(paddle.ones([n]))


def test_static_functions_nest():
    inner = to_static(sign)
    outer = to_static(lambda x: inner(x) + inner(-x))
    assert outer(tensor(3.0)).tolist() == [9.0]
    assert not inner.program_cache


def test_not_to_static_and_switch():
    calls = []

    @paddle.jit.not_to_static
    def helper(x):
        calls.append(1)
        return x + 1.0

    f = to_static(lambda x: helper(x) * 2.0)
    assert f(tensor(1.0)).tolist() == [4.0] and f(tensor(2.0)).tolist() == [6.0]
    assert len(calls) == 1
    paddle.jit.enable_to_static(False)
    try:
        assert f(tensor(3.0)).tolist() == [8.0] and len(calls) == 2
    finally:
        paddle.jit.enable_to_static(True)


def test_code_and_program_are_readable():
    f = to_static(sign)
    with pytest.raises(RuntimeError, match="call it once, or give to_static an input_spec"):
        f.concrete_program  # noqa: B018
    f(tensor(1.0))
    assert "def sign(x)" in f.code
    assert "cond(" in str(f.concrete_program)


def test_conversion_off_a_python_bool_of_a_traced_tensor_is_explained():
    @paddle.jit.not_to_static
    def helper(x):
        return 1 if x > 0 else 2

    with pytest.raises(TracedValueError, match=r"bool\(\) at test_to_static.py:\d+ needs the value of a bool"):
        to_static(lambda x: x * helper(x.sum()))(tensor(1.0))


def test_no_source_is_explained():
    namespace = {}
    exec("def f(x):\n    return x if x.sum() > 0 else -x", namespace)
    with pytest.raises(Exception, match="source of function `f`"):
        to_static(namespace["f"])(tensor(1.0))


def test_failed_traces_leave_no_program_and_no_state_behind():
    count = paddle.zeros([])
    fail = [True]

    @to_static
    def f(x):
        count.add_(paddle.ones([]))
        if fail[0]:
            raise ValueError("not now")
        return x + count

    with pytest.raises(ValueError, match="not now"):
        f(tensor(1.0))
    assert count.item() == 0.0 and not f.program_cache
    fail[0] = False
    assert f(tensor(1.0)).tolist() == [2.0]


def test_assert_and_raise_on_tensors_leave_state_alone():
    total = paddle.zeros([1])

    @to_static
    def f(x):
        total.add_(x)
        assert x.sum() > 0, "x must be positive"
        if x.sum() > 100:
            raise ValueError("x is too large")
        return x + 1.0

    assert f(tensor(1.0)).tolist() == [2.0]
    with pytest.raises(AssertionError, match="x must be positive"):
        f(tensor(-1.0))
    with pytest.raises(ValueError, match="x is too large"):
        f(tensor(500.0))
    assert total.tolist() == [1.0]


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


def test_while_with_a_gradient_and_more_iterations_than_there_was_room_for():
    w = tensor(1.01, stop_gradient=False)

    @to_static
    def f(x, n):
        i = paddle.zeros([], "int64")
        while i < n:
            x = x * w
            i += 1
        return x

    for n in (3, 100, 0):
        f(tensor(1.0), paddle.to_tensor(n)).backward()
        np.testing.assert_allclose(w.grad.numpy(), [n * 1.01 ** (n - 1) if n else 0.0], rtol=1e-4)
        w.clear_gradient(False)


def test_a_dropped_layer_is_freed():
    net = to_static(nn.Linear(2, 2))
    net(paddle.ones([1, 2]))
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None


def test_an_undefined_variable_is_an_error_only_where_it_is_read():
    @to_static
    def f(x, y):
        if x.sum() > 0:
            t = x
        if y.sum() > 0:
            return t * 2.0
        return x

    up, down = tensor(1.0), tensor(-1.0)
    assert [f(up, up).item(), f(up, down).item(), f(down, down).item()] == [2.0, 1.0, -1.0]
    with pytest.raises(UnboundLocalError, match=r"`t`.*test_to_static.py"):
        f(down, up)
    assert len(f.program_cache) == 1


def test_a_variable_read_under_the_condition_that_set_it_needs_no_check():
    @to_static
    def f(x):
        up = x.sum() > 0
        if up:
            t = x * 4.0
        y = x + 1.0
        if up:
            y = y + t
        return y

    assert [f(tensor(v)).item() for v in (1.0, -1.0)] == [6.0, 0.0]
    assert f.program_cache[0].traced.checks is None


def test_sizes_that_are_taken_from_shapes():
    def resized(x):
        size = paddle.shape(x)[2:]
        grid = nn.functional.affine_grid(paddle.ones([1, 2, 3]), paddle.shape(x), align_corners=True)
        return nn.functional.interpolate(x[:, :, :2], size, mode="bilinear"), nn.functional.grid_sample(x, grid)

    x = paddle.arange(12.0).reshape([1, 1, 3, 4])
    for static, eager in zip(paddle.jit.to_static(resized)(x), resized(x), strict=True):
        np.testing.assert_allclose(static.numpy(), eager.numpy(), rtol=1e-6)
