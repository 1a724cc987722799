"""Initializers: their distributions, and what layers start with."""

from __future__ import annotations

import math

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.nn import initializer as init

KERNEL = (64, 16, 3, 3)
# initializer, shape, standard deviation, largest absolute value
SPREADS = [
    (init.Normal(0.0, 0.1), (300, 200), 0.1, None),
    (init.Uniform(-0.5, 0.5), (300, 200), 1 / math.sqrt(12), 0.5),
    (init.TruncatedNormal(0.0, 1.0, -1.0, 1.0), (300, 200), 0.5396, 1.0),
    (init.XavierNormal(), (300, 200), math.sqrt(2 / 500), None),
    (init.XavierUniform(), KERNEL, math.sqrt(2 / (80 * 9)), math.sqrt(6 / (80 * 9))),
    (init.XavierUniform(gain=2.0), (300, 200), 2 * math.sqrt(2 / 500), 2 * math.sqrt(6 / 500)),
    (init.KaimingNormal(), KERNEL, math.sqrt(2 / 144), None),
    (init.KaimingNormal(mode="fan_out"), (300, 200), 0.1, None),
    (init.KaimingUniform(negative_slope=0.2, nonlinearity="leaky_relu"), (300, 200), 0.08006, 0.13868),
]


@pytest.mark.parametrize(("how", "shape", "std", "limit"), SPREADS, ids=[repr(s[0]) for s in SPREADS])
def test_spread(how, shape, std, limit):
    paddle.seed(5)
    found = paddle.create_parameter(shape, "float32", default_initializer=how).numpy()
    assert found.std() == pytest.approx(std, rel=0.03) and abs(found.mean()) < 0.02
    if limit is not None:
        assert 0.97 * limit < np.abs(found).max() <= limit * 1.0001


def test_the_stream_of_paddle_seed_is_used():
    draws = []
    for seed in (3, 3, 4):
        paddle.seed(seed)
        draws.append(nn.Linear(2, 2).weight.numpy())
    assert (draws[0] == draws[1]).all() and (draws[0] != draws[2]).any()
    assert (nn.Linear(2, 2).weight.numpy() != draws[2]).any()


LAYERS = [
    (lambda: nn.Linear(30, 20).weight, math.sqrt(6 / 50)),
    (lambda: nn.Embedding(30, 20).weight, math.sqrt(6 / 50)),
    (lambda: nn.Conv2DTranspose(16, 64, 3).weight, math.sqrt(6 / (80 * 9))),
    (lambda: nn.LSTM(3, 16).weight_ih_l0, 0.25),
    (lambda: nn.LSTM(3, 16).bias_hh_l0, 0.25),
    (lambda: nn.Bilinear(20, 30, 40).weight, math.sqrt(6 / 1800)),
]


@pytest.mark.parametrize(("make", "limit"), LAYERS)
def test_layers_start_uniformly_within_the_limit_of_the_reference(make, limit):
    found = np.abs(make().numpy())
    assert 0.9 * limit < found.max() <= limit * 1.0001


def test_convolutions_start_normally_and_biases_at_zero():
    layer = nn.Conv2D(16, 64, 3)
    assert layer.weight.numpy().std() == pytest.approx(math.sqrt(2 / 144), rel=0.05)
    assert not layer.bias.numpy().any() and not nn.Linear(2, 2).bias.numpy().any()


def test_orthogonal_rows_or_columns():
    for shape in ((6, 4), (4, 6), (4, 2, 3, 1)):
        q = init.Orthogonal(gain=2.0).draw(shape, paddle.float32).reshape(shape[0], -1)
        gram = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
        np.testing.assert_allclose(gram, 4 * np.eye(min(q.shape)), atol=1e-5)


def test_dirac_passes_channels_and_bilinear_enlarges():
    layer = (
        nn.Conv1D(2, 2, 3, padding=1, weight_attr=init.Dirac(), bias_attr=False)
        if hasattr(nn.functional, "conv1d")
        else None
    )
    kernel = init.Dirac(groups=2).draw((4, 2, 3), paddle.float32)
    assert kernel.sum() == 4 and (kernel[:, :, 1] == np.tile(np.eye(2), (2, 1))).all()
    if layer is not None:
        x = paddle.rand([1, 2, 5])
        np.testing.assert_allclose(layer(x).numpy(), x.numpy(), rtol=1e-6)
    line = np.array([0.25, 0.75, 0.75, 0.25])
    np.testing.assert_allclose(init.Bilinear().draw((1, 1, 4, 4), paddle.float32)[0, 0], np.outer(line, line))


def test_global_initializers_give_way_to_a_param_attr():
    init.set_global_initializer(init.Constant(3.0), init.Constant(4.0))
    try:
        layer = nn.Conv2D(1, 1, 1)
        named = nn.Linear(1, 1, weight_attr=init.Constant(9.0))
        norm = nn.BatchNorm1D(1)
    finally:
        init.set_global_initializer(None)
    assert (layer.weight.item(), layer.bias.item(), named.weight.item()) == (3.0, 4.0, 9.0)
    assert norm._mean.item() == 0.0 and nn.Linear(1, 1).bias.item() == 0.0


class _ByForward(init.Initializer):
    def forward(self, param, block=None):
        param.set_value(paddle.full(param.shape, 3.0))
        return param


class _ByCall(init.Initializer):
    def __call__(self, param, block=None):
        param.fill_(4.0)


class _Doubled(init.Constant):
    def forward(self, param, block=None):
        param.set_value(super().forward(param, block) * 2)
        return param


@pytest.mark.parametrize(
    ("how", "value"),
    [(_ByForward(), 3.0), (_ByCall(), 4.0), (_Doubled(2.5), 5.0), (lambda param, block: param.fill_(6.0), 6.0)],
    ids=["forward", "call", "override", "function"],
)
def test_an_initializer_of_a_user_fills_the_parameter(how, value):
    assert nn.Linear(1, 2, weight_attr=paddle.ParamAttr(initializer=how)).weight.tolist() == [[value, value]]
    assert nn.Embedding(2, 1, padding_idx=0, weight_attr=how).weight.tolist() == [[0.0], [value]]
    layer = nn.Linear(1, 1)
    with paddle.no_grad():
        how(layer.weight, None)
    assert layer.weight.item() == value and not layer.weight.stop_gradient
    with paddle.LazyGuard():
        lazy = nn.Linear(1, 1, weight_attr=how)
    lazy.weight.initialize()
    assert lazy.weight.item() == value


def test_an_initializer_of_a_user_in_a_program():
    paddle.enable_static()
    main, start = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, start):
        x = paddle.static.data("x", [1, 2])
        out = paddle.static.nn.fc(x, 1, weight_attr=_ByForward(), bias_attr=False)
    run = paddle.static.Executor()
    run.run(start)
    assert run.run(main, {"x": np.ones([1, 2], "float32")}, [out])[0].item() == 6.0


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: init.Assign([1.0]).draw((2,), paddle.float32), r"\[1\].*\[2\]"),
        (lambda: init.Orthogonal().draw((2,), paddle.float32), "2 dimensions"),
        (lambda: init.Dirac().draw((2, 2), paddle.float32), "3 to 5"),
        (lambda: init.Bilinear().draw((1, 1, 2, 3), paddle.float32), "square"),
        (lambda: init.KaimingNormal(mode="fan"), "mode"),
        (lambda: init.TruncatedNormal(a=1.0, b=0.0), "a is 1.0"),
        (lambda: init.calculate_gain("cube"), "cube"),
    ],
)
def test_wrong_arguments_are_named(make, part):
    with pytest.raises(ValueError, match=part):
        make()


def test_gains():
    assert init.calculate_gain("relu") == math.sqrt(2) and init.calculate_gain("conv2d") == 1.0
    assert init.calculate_gain("leaky_relu", 1.0) == 1.0 and init.calculate_gain("selu") == 0.75


def test_a_parameter_takes_the_shape_of_the_value_that_it_is_assigned():
    value = np.arange(6, dtype="float32").reshape(2, 3)
    with pytest.warns(UserWarning, match=r"declared as \[3\], and gets the shape \[2, 3\]"):
        found = paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Assign(value))
    assert found.tolist() == value.tolist()
    paddle.enable_static()
    startup = paddle.static.Program()
    with (
        paddle.static.program_guard(paddle.static.Program(), startup),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        paddle.static.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Assign(value))
        with pytest.raises(ValueError, match=r"the value has the shape \[2, 3\], the parameter \[3\]"):
            paddle.static.Executor().run(startup)
    paddle.disable_static()
