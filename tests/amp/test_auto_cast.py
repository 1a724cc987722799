"""Mixed precision: dtypes of ops, and loss scaling against the rules of the reference."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.nn import functional as F

LOW = ("bfloat16", "float16")


def net(seed: int = 0):
    paddle.seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 2))


def batch():
    rng = np.random.default_rng(0)
    return paddle.to_tensor(rng.normal(size=(6, 4)).astype("float32")), paddle.to_tensor(rng.integers(0, 2, 6))


@pytest.mark.parametrize("dtype", LOW)
@pytest.mark.parametrize("static", [False, True])
def test_dtypes_of_level_1(dtype, static):
    def ops(x):
        with paddle.amp.auto_cast(dtype=dtype):
            y = paddle.matmul(x, x)
            return y, y + 1.0, y + x, F.relu(y), paddle.exp(y), F.softmax(y), y.mean(), F.layer_norm(y, 2)

    run = paddle.jit.to_static(ops) if static else ops
    found = [t.dtype.name for t in run(paddle.ones([2, 2]))]
    assert found == [dtype, dtype, "float32", dtype, "float32", "float32", "float32", "float32"]


def test_dtypes_of_level_2():
    x = paddle.ones([2, 2])
    low = x.astype("bfloat16")
    table = paddle.ones([3, 2])
    with paddle.amp.auto_cast(dtype="bfloat16", level="O2"):
        promoted = [F.softmax(low), low + x, F.embedding(paddle.to_tensor([0]), table), paddle.matmul(x, x)]
    with paddle.amp.auto_cast(dtype="bfloat16", level="O2", use_promote=False):
        lowered = [low + x, x + x, F.embedding(paddle.to_tensor([0]), table)]
    assert [t.dtype.name for t in promoted] == ["bfloat16", "float32", "float32", "bfloat16"]
    assert [t.dtype.name for t in lowered] == ["bfloat16", "bfloat16", "float32"]


def test_custom_lists():
    x = paddle.ones([2, 2])
    lists = {"custom_white_list": ["exp", "elementwise_add"], "custom_black_list": {"matmul_v2"}}
    with paddle.amp.auto_cast(dtype="bfloat16", **lists):
        assert [t.dtype.name for t in (paddle.exp(x), x + x, paddle.matmul(x, x))] == ["bfloat16"] * 2 + ["float32"]
    with pytest.raises(ValueError, match="both name exp"), paddle.amp.auto_cast(True, ["exp"], ["exp"]):
        pass


def test_wrong_arguments_are_told():
    for arguments, what in (({"level": "O4"}, "level is 'O4'"), ({"dtype": "int8"}, "dtype is 'int8'")):
        with pytest.raises(ValueError, match=what), paddle.amp.auto_cast(**arguments):
            pass
    with pytest.raises(TypeError, match="list of op names"), paddle.amp.auto_cast(custom_white_list="exp"):
        pass


def test_leaving_restores_what_was():
    x = paddle.ones([2, 2])
    with paddle.amp.auto_cast(dtype="bfloat16"):
        with paddle.amp.auto_cast(enable=False):
            assert paddle.matmul(x, x).dtype == "float32" and not paddle.amp.is_autocast_enabled()
        assert paddle.matmul(x, x).dtype == "bfloat16" and paddle.amp.get_autocast_dtype() == "bfloat16"
    assert paddle.matmul(x, x).dtype == "float32" and paddle.amp.get_autocast_dtype() == "float16"


def test_a_static_function_has_a_program_for_each_precision():
    f = paddle.jit.to_static(lambda x: paddle.matmul(x, x))
    x = paddle.ones([2, 2])
    found = []
    for _ in range(2):
        found.append(f(x).dtype.name)
        with paddle.amp.auto_cast(dtype="bfloat16"):
            found += [f(x).dtype.name, f(x).dtype.name]
    assert found == ["float32", "bfloat16", "bfloat16"] * 2
    assert len(f.program_cache) == 2


@pytest.mark.parametrize("dtype", LOW)
def test_gradients_come_in_the_dtype_of_the_parameters(dtype):
    model, (x, label) = net(), batch()
    F.cross_entropy(model(x), label).backward()
    exact = [p.grad.numpy() for p in model.parameters()]
    model.clear_gradients()
    with paddle.amp.auto_cast(dtype=dtype):
        loss = F.cross_entropy(model(x), label)
    loss.backward()
    for p, g in zip(model.parameters(), exact, strict=True):
        assert p.grad.dtype == "float32"
        np.testing.assert_allclose(p.grad.numpy(), g, atol=0.02)


def test_decorate_lowers_all_but_normalization():
    model = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2), nn.BatchNorm1D(2), nn.Embedding(3, 2))
    paddle.amp.decorate(model, level="O2", dtype="float16", excluded_layers=nn.Embedding)
    found = {k: v.dtype.name for k, v in model.state_dict().items()}
    low = {k for k, v in found.items() if v == "float16"}
    assert low == {"0.weight", "0.bias"}
    paddle.amp.decorate(model, level="O2", dtype="bfloat16", save_dtype="float32")
    assert model[1].weight.dtype == "bfloat16" and model[2].weight.dtype == "float32"
    assert {v.dtype.name for v in model.state_dict().values()} == {"float32"}


def train(static: bool, steps: int, level: str, scale: float, poison: int | None = None):
    """Losses, weights and scale of a run; in step `poison` the input holds an infinity."""
    model, (x, label) = net(), batch()
    opt = paddle.optimizer.Adam(0.05, parameters=model.parameters())
    if level == "O2":
        model, opt = paddle.amp.decorate(model, opt, level="O2", dtype="float16")
    scaler = paddle.amp.GradScaler(init_loss_scaling=scale, incr_every_n_steps=3)

    def step(x, label):
        with paddle.amp.auto_cast(level=level):
            loss = F.cross_entropy(model(x), label)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()
        return loss

    run = paddle.jit.to_static(step) if static else step
    losses, weights = [], []
    for i in range(steps):
        weights.append([p.numpy() for p in model.parameters()])
        losses.append(float(run(x * float("inf") if i == poison else x, label)))
    weights.append([p.numpy() for p in model.parameters()])
    if static:
        assert len(run.program_cache) <= 2  # with and without gradients left from before
    return losses, weights, scaler.state_dict(), opt


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_static_and_eager_steps_agree(level):
    eager, static = (train(s, 5, level, 1024.0, poison=1) for s in (False, True))
    np.testing.assert_allclose(eager[0], static[0], rtol=2e-3)
    assert eager[2]["scale"] == static[2]["scale"] == 512.0 * 2
    assert eager[2]["incr_count"] == static[2]["incr_count"] == 0


@pytest.mark.parametrize("static", [False, True])
def test_an_overflow_skips_the_step_and_shrinks_the_scale(static):
    _, weights, state, opt = train(static, 2, "O1", 8.0, poison=1)
    for before, after in zip(weights[1], weights[2], strict=True):
        np.testing.assert_array_equal(before, after)
    assert (state["scale"], state["decr_count"], state["incr_count"]) == (np.float32(4.0), 0, 0)
    powers = [v for k, v in opt.state_dict().items() if "beta1_pow" in k]
    np.testing.assert_allclose(powers[0].numpy().item(), 0.9**2, rtol=1e-6)  # advanced by the first step only


def test_master_weights_keep_what_float16_would_lose():
    model = paddle.amp.decorate(nn.Linear(1, 1, bias_attr=False), level="O2")
    model.weight.set_value(np.array([[1.0]]))
    opt = paddle.optimizer.SGD(1e-4, parameters=model.parameters(), multi_precision=True)
    for _ in range(10):
        model(paddle.ones([1, 1], "float16")).sum().backward()
        opt.step()
        opt.clear_grad()
    master = opt.state_dict()["master_weights"][model.weight.name]
    assert master.dtype == "float32" and model.weight.dtype == "float16"
    np.testing.assert_allclose(master.numpy(), [[1 - 10e-4]], rtol=1e-6)


# The rules of the reference for the scale, step by step: (overflow, scale, good steps, bad steps).
RULES = [
    (0, 8, 1, 0),
    (0, 16, 0, 0),
    (1, 16, 0, 1),
    (1, 8, 0, 0),
    (1, 8, 0, 1),
    (0, 8, 1, 0),
    (1, 8, 0, 1),
    (0, 8, 1, 0),
]


def test_the_scale_follows_the_reference():
    w = paddle.create_parameter([1], "float32")
    opt = paddle.optimizer.SGD(0.0, parameters=[w])
    scaler = paddle.amp.GradScaler(True, 8.0, 2.0, 0.5, 2, 2)
    for overflow, scale, good, bad in RULES:
        scaled = scaler.scale((w * (float("inf") if overflow else 1.0)).sum())
        scaled.backward()
        scaler.minimize(opt, scaled)
        opt.clear_grad(set_to_zero=False)
        state = scaler.state_dict()
        assert (state["scale"].tolist(), state["incr_count"], state["decr_count"]) == ([scale], good, bad)


def test_unscale_then_clip():
    w = paddle.create_parameter([2], "float32")
    opt = paddle.optimizer.SGD(1.0, parameters=[w])
    scaler = paddle.amp.GradScaler(init_loss_scaling=256.0)
    scaler.scale((w * paddle.to_tensor([3.0, 4.0])).sum()).backward()
    np.testing.assert_array_equal(w.grad.numpy(), [768.0, 1024.0])
    scaler.unscale_(opt)
    np.testing.assert_array_equal(w.grad.numpy(), [3.0, 4.0])
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(opt)
    before = w.numpy()
    scaler.step(opt)
    np.testing.assert_allclose(w.numpy(), before - [3.0, 4.0], rtol=1e-6)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.step(opt)
    scaler.update()
    scaler.step(opt)


def test_state_of_a_scaler():
    scaler = paddle.amp.GradScaler(init_loss_scaling=32.0)
    scaler.set_incr_ratio(4.0)
    other = paddle.amp.GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert {k: np.asarray(v).item() for k, v in other.state_dict().items()} == {
        **{"scale": 32.0, "incr_ratio": 4.0, "decr_ratio": 0.5, "incr_every_n_steps": 2000},
        **{"decr_every_n_nan_or_inf": 1, "incr_count": 0, "decr_count": 0, "use_dynamic_loss_scaling": True},
    }
    off = paddle.amp.GradScaler(enable=False)
    assert off.state_dict() == {} and off.scale(paddle.to_tensor(2.0)).item() == 2.0
    with pytest.raises(RuntimeError, match="empty"):
        scaler.load_state_dict({})
    with pytest.raises(ValueError, match="incr_ratio is 0.5"):
        paddle.amp.GradScaler(incr_ratio=0.5)


def test_checks_of_numbers():
    debugging = paddle.amp.debugging
    debugging.enable_tensor_checker(debugging.TensorCheckerConfig(True))
    try:
        with pytest.raises(FloatingPointError, match="the result of divide: 0 NaN and 1 infinities"):
            paddle.to_tensor([1.0]) / paddle.to_tensor([0.0])
    finally:
        debugging.disable_tensor_checker()
    assert paddle.isinf(paddle.to_tensor([1.0]) / paddle.to_tensor([0.0])).item()
    with pytest.raises(FloatingPointError, match="op of x: 1 NaN"):
        debugging.check_numerics(paddle.to_tensor([float("nan")]), "op", "x")


def test_counts_of_ops(capsys):
    with paddle.amp.debugging.collect_operator_stats(), paddle.amp.auto_cast(dtype="bfloat16"):
        x = paddle.ones([2, 2])
        paddle.matmul(x, x)
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert rows["matmul"] == ["0", "1", "0", "0"] and rows["cast"] == ["0", "2", "0", "0"]
