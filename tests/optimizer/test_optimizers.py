"""Optimizers against what PaddlePaddle computes; whole static steps against eager ones; state; donation; errors."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import optimizer_cases as cases
import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.optimizer import update

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "optimizers.json").read_text())
A = paddle.optimizer


@pytest.mark.parametrize("case", cases.CASES)
def test_parameters_and_state_are_those_of_paddle(case):
    rows, state = cases.run(paddle, case)
    np.testing.assert_allclose(rows, GOLDEN[case]["parameters"], rtol=1e-5, atol=2e-6)
    expected = GOLDEN[case]["state"]
    assert sorted(state) == sorted(expected)
    for name, values in expected.items():
        if state[name].size == len(values):  # PaddlePaddle keeps some numbers in the shape of the parameter
            np.testing.assert_allclose(state[name], values, rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(
    "case", ["sgd l1", "nesterov", "adam", "adamw groups", "lamb", "rmsprop centered", "clip global"]
)
def test_a_static_step_equals_an_eager_one(case):
    results = []
    for static in (False, True):
        params = cases.parameters(paddle, case)
        opt = cases.CASES[case](paddle, params)

        def one(x, params=params, opt=opt):
            ((paddle.matmul(x, params[0]) + params[1]) ** 2).mean().backward()
            opt.step()
            opt.clear_grad()

        step = paddle.jit.to_static(one) if static else one
        for i in range(3):
            step(paddle.to_tensor(np.array([[1.0, 2.0], [-1.0, 0.5]], "float32") * (i + 1)))
        results.append([p.numpy() for p in params] + [v.numpy() for v in opt.state_dict().values()])
    for eager, static in zip(*results, strict=True):
        np.testing.assert_allclose(eager, static, rtol=1e-5, atol=1e-6)


def test_the_learning_rate_is_an_input_of_a_static_step():
    w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(0.0))
    schedule = A.lr.ExponentialDecay(1.0, 0.5)
    opt = A.SGD(schedule, parameters=[w])

    @paddle.jit.to_static
    def step(x):
        (w * x).sum().backward()
        opt.step()
        opt.clear_grad()
        schedule.step()

    for _ in range(3):
        step(paddle.ones([1]))
    assert w.item() == -1.75 and schedule.last_epoch == 3 and len(step.program_cache) <= 2


def trained(steps=1, **kwargs):
    net = nn.Linear(2, 2)
    opt = A.Adam(0.1, parameters=net.parameters(), **kwargs)
    for _ in range(steps):
        net(paddle.ones([1, 2])).sum().backward()
        opt.step()
        opt.clear_grad()
    return net, opt


def test_an_update_never_takes_an_array_that_someone_can_reach():
    net, opt = trained()
    weight = net.weight
    held = {
        "detached": weight.detach(),
        "copy": copy.deepcopy(weight),
        "state": opt.state_dict()[f"{weight.name}_moment1_0"],
    }
    view, before, moment = np.asarray(weight._payload), weight.numpy(), held["state"].numpy()
    frozen = held["state"].clone()
    net(paddle.ones([1, 2])).sum().backward()
    opt.step()
    np.testing.assert_array_equal(held["detached"].numpy(), weight.numpy())  # it shares the elements
    np.testing.assert_array_equal(held["copy"].numpy(), before)
    np.testing.assert_array_equal(view, before)
    np.testing.assert_array_equal(frozen.numpy(), moment)
    assert (weight.numpy() != before).any()


def test_a_graph_that_is_kept_outlives_a_step():
    net, opt = trained()
    loss = net(paddle.ones([1, 2])).square().sum()
    loss.backward(retain_graph=True)
    first = net.weight.grad.numpy()
    opt.step()
    opt.clear_grad()
    loss.backward()
    np.testing.assert_array_equal(net.weight.grad.numpy(), first)


def test_a_parameter_without_a_gradient_is_left_alone():
    used, unused = (paddle.create_parameter([1], "float32") for _ in range(2))
    opt = A.AdamW(0.1, parameters=[used, unused], weight_decay=0.5)
    before = unused.numpy()
    (used * 2).sum().backward()
    opt.step()
    np.testing.assert_array_equal(unused.numpy(), before)
    assert not any(unused.name in key for key in opt.state_dict())


def test_cleared_gradients_are_zeros_and_absent_ones_none():
    net, opt = trained()
    before = net.weight.numpy()
    opt.step()  # zeros: the moments still move the weight
    moved = net.weight.numpy()
    assert (moved != before).any()
    opt.clear_grad(set_to_zero=False)
    opt.step()
    np.testing.assert_array_equal(net.weight.numpy(), moved)
    assert opt.zero_grad() is None and net.weight.grad is None


def test_one_executable_serves_all_steps_and_learning_rates():
    update._compiled.clear()
    net, opt = trained(3)
    for rate in (0.5, 0.25):
        opt.set_lr(rate)
        net(paddle.ones([1, 2])).sum().backward()
        opt.step()
    assert len(update._compiled) == 1 and opt.get_lr() == 0.25


def test_settings_changed_in_training_take_effect():
    w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
    opt = A.SGD(1.0, parameters=[w])
    (w * 1).sum().backward()
    opt.step()
    assert w.item() == 0.0
    w.optimize_attr["learning_rate"] = 0.5
    opt.step()
    assert w.item() == -0.5
    w.regularizer = paddle.regularizer.L2Decay(1.0)
    opt.step()
    assert w.item() == -0.75


def test_state_goes_to_a_new_optimizer_and_training_goes_on(tmp_path):
    net, opt = trained(2)
    path = str(tmp_path / "adam.pdopt")
    paddle.save(opt.state_dict(), path)
    other = copy.deepcopy(net)
    for p, q in zip(other.parameters(), net.parameters(), strict=True):
        p.name = q.name
    resumed = A.Adam(0.1, parameters=other.parameters())
    resumed.set_state_dict(paddle.load(path))
    for model, optimizer in ((net, opt), (other, resumed)):
        model(paddle.ones([1, 2])).sum().backward()
        optimizer.step()
    np.testing.assert_array_equal(net.weight.numpy(), other.weight.numpy())
    schedule = A.lr.StepDecay(0.1, 2)
    scheduled = A.SGD(schedule, parameters=other.parameters())
    schedule.step()
    again = A.SGD(A.lr.StepDecay(0.1, 2), parameters=other.parameters())
    again.set_state_dict(scheduled.state_dict())
    assert again._learning_rate.last_epoch == 1


def test_loading_a_foreign_state_is_noticed():
    net, opt = trained()
    with pytest.warns(UserWarning, match="none of the 1 entries"):
        opt.set_state_dict({"other_moment1_0": np.zeros([2, 2])})
    before = opt.state_dict()[f"{net.weight.name}_moment1_0"].numpy()
    with pytest.raises(ValueError, match=r"\[3\], its parameter \[2, 2\]"):
        opt.set_state_dict({f"{net.weight.name}_moment1_0": np.zeros([3])})
    np.testing.assert_array_equal(opt.state_dict()[f"{net.weight.name}_moment1_0"].numpy(), before)


def test_master_weights_keep_what_bfloat16_cannot():
    one = paddle.ones([1], dtype="bfloat16")
    moved = {}
    for multi_precision in (False, True):
        p = nn.Layer().create_parameter([1], dtype="bfloat16", default_initializer=nn.initializer.Constant(1.0))
        opt = A.SGD(0.001, parameters=[p], multi_precision=multi_precision)
        for _ in range(10):
            (p * one).sum().backward()
            opt.step()
            opt.clear_grad()
        moved[multi_precision] = p.item()
    assert moved == {False: 1.0, True: 0.98828125} and p.dtype == "bfloat16"
    assert opt.state_dict()["master_weights"][p.name].item() == pytest.approx(0.99, rel=1e-5)


def test_clipping_can_be_called_on_its_own():
    net, _ = trained(0)
    net(paddle.ones([1, 2]) * 3).sum().backward()
    pairs = nn.ClipGradByGlobalNorm(1.0)([(p, p.grad) for p in net.parameters()])
    assert sum(float((g * g).sum()) for _, g in pairs) == pytest.approx(1.0, rel=1e-5)
    assert nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True).item() == pytest.approx(
        6.1644, rel=1e-4
    )
    nn.utils.clip_grad_value_(net.parameters(), 0.1)
    assert net.weight.grad.max().item() == pytest.approx(0.1)


def half(pairs):
    return [(p, g * 0.5) for p, g in pairs]


def own_clip(base, name, *given, after=False):
    """A class of clipping whose method `name` halves gradients, those of its base class with `after`."""

    def method(self, pairs):
        return half(getattr(base, name)(self, pairs) if after else pairs)

    return type("Half", (base,), {name: method})(*given)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("name", ["__call__", "_dygraph_clip"])
@pytest.mark.parametrize(
    ("base", "given", "after", "expected"),
    [
        (paddle.nn.clip.ClipGradBase, (), False, -1.5),
        (nn.ClipGradByGlobalNorm, (1.0,), False, -1.5),
        (nn.ClipGradByNorm, (2.0,), True, -1.0),
        (nn.ClipGradByValue, (1.0,), True, -0.5),
    ],
)
def test_a_clipping_of_the_users_own(base, given, after, expected, name, static):
    w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(0.0))
    opt = A.SGD(1.0, parameters=[w], grad_clip=own_clip(base, name, *given, after=after))

    def step():
        (w * 3).sum().backward()
        opt.step()

    (paddle.jit.to_static(step) if static else step)()
    assert w.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("static", [False, True])
def test_a_tensor_that_is_no_parameter_is_trained(static):
    x = paddle.to_tensor([1.0, -2.0], stop_gradient=False)
    given = [{"params": [x], "learning_rate": 0.5}] if static else [x]
    opt = A.Adam(0.1, parameters=given, grad_clip=nn.ClipGradByGlobalNorm(1.0))

    def step():
        loss = (x * x).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    step = paddle.jit.to_static(step) if static else step
    assert [round(step().item(), 4) for _ in range(2)] == ([5.0, 4.705] if static else [5.0, 4.42])
    assert x.optimize_attr == {"learning_rate": 0.5 if static else 1.0}


def test_minimize_and_apply_gradients():
    w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(0.0))
    opt = A.SGD(1.0, parameters=[w])
    loss = (w * 2).sum()
    loss.backward()
    ops, pairs = opt.minimize(loss)
    assert ops == [] and pairs[0][0] is w and w.item() == -2.0
    opt.apply_gradients([(w, paddle.ones([1]))])
    assert w.item() == -3.0


W = paddle.create_parameter([1], "float32")


@pytest.mark.parametrize(
    ("make", "error", "part"),
    [
        (lambda: A.SGD("a", parameters=[W]), TypeError, "learning_rate"),
        (lambda: A.SGD(0.1), ValueError, "parameters is missing"),
        (lambda: A.SGD(0.1, parameters=W), TypeError, r"parameters=\[...\]"),
        (lambda: A.SGD(0.1, parameters=[3]), TypeError, r"parameters\[0\] is a int"),
        (lambda: A.SGD(0.1, parameters=[{"lr": 1}]), ValueError, "'params'"),
        (lambda: A.SGD(0.1, parameters=[{"params": [W]}, {"params": [W]}]), ValueError, "two groups"),
        (lambda: A.Adam(0.1, beta1=1.5, parameters=[W]), ValueError, "beta1 is 1.5"),
        (lambda: A.Adam(0.1, epsilon=-1, parameters=[W]), ValueError, "epsilon is -1"),
        (lambda: A.SGD(0.1, parameters=[W], grad_clip=3), TypeError, "grad_clip"),
        (lambda: A.Rprop(0.1, parameters=[W], etas=(2.0, 3.0)), ValueError, "etas"),
        (lambda: A.SGD(A.lr.StepDecay(0.1, 2), parameters=[W]).set_lr(0.2), RuntimeError, "LRScheduler"),
        (lambda: A.SGD(0.1, parameters=[W]).set_lr_scheduler(0.2), TypeError, "LRScheduler"),
        (lambda: nn.ClipGradByValue(-1.0), ValueError, "max"),
    ],
)
def test_wrong_arguments_are_named(make, error, part):
    with pytest.raises(error, match=part):
        make()


def test_gradients_of_an_optimizer():
    w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    opt = paddle.optimizer.Momentum(0.5, parameters=[w])
    loss = (w * 3.0).sum()
    loss.backward()
    ((p, g),) = opt.backward(loss)
    assert p is w and g.tolist() == [3.0, 3.0]
    opt.apply_gradients([(p, g)])
    assert w.tolist() == [-0.5, -0.5] and [n.partition("velocity")[1] for n in opt.get_opti_var_name_list()] == [
        "velocity"
    ]
