"""Optimizers of users that keep accumulators of their own, or change what is updated, as PaddlePaddle's do."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import _C_ops
from paddle_lite_py.base import framework

A = paddle.optimizer


class Lion(A.Optimizer):
    """Keeps a moment, added before the first update, and a power, which the end of each step changes."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.type = "lion"
        self._master_weights = {}
        self._default_dict = {"beta": 0.9}

    def _create_accumulators(self, block, parameters):
        assert isinstance(block, framework.Block)
        if isinstance(parameters, dict):
            parameters = self._update_param_group(parameters)
        for p in parameters:
            if p.name in self._already_create_accumulator:
                continue
            if self._multi_precision and self._is_dtype_fp16_or_bf16(p.dtype):
                p = self._create_master_weight(p)
            self._add_accumulator(self._moment_acc_str, p, dtype="float32")
            self._add_accumulator("power", p, dtype="float32", fill_value=1.0, shape=[1])

    def _append_optimize_op(self, block, param_and_grad):
        if isinstance(param_and_grad, dict):
            self._beta, param_and_grad = param_and_grad["beta"], self._update_param_group(param_and_grad)
        param, grad = param_and_grad
        moment = self._get_accumulator_master(self._moment_acc_str, param)
        power = self._get_accumulator_master("power", param)
        moment.set_value(moment * 0.9 + grad.astype("float32") * 0.1)
        held = self._master_weights.get(param.name, param)
        held.set_value(held - self._create_param_lr(param_and_grad) * paddle.sign(moment) * power)
        if held is not param:
            param.set_value(held.astype(param.dtype))

    def _finish_update(self, block, parameters_and_grads):
        pairs = parameters_and_grads["params"] if isinstance(parameters_and_grads, dict) else parameters_and_grads
        for param, _ in pairs:
            power = self._get_accumulator_master("power", param)
            power.set_value(power * 0.5)


class OwnAdam(A.Optimizer):
    """Adam by PaddlePaddle's kernel."""

    def _create_accumulators(self, block, parameters):
        for p in parameters:
            for name in ("moment1", "moment2"):
                self._add_accumulator(name, p)
            for name, beta in (("beta1_pow_acc", 0.9), ("beta2_pow_acc", 0.999)):
                self._add_accumulator(name, p, fill_value=beta, shape=[1])

    def _append_optimize_op(self, block, param_and_grad):
        param, grad = param_and_grad
        names = ("moment1", "moment2", None, "beta1_pow_acc", "beta2_pow_acc")
        held = [n and self._get_accumulator(n, param) for n in names]
        rate = self._create_param_lr(param_and_grad)
        _, _, _, largest, _, _, master = _C_ops.adam_(
            param, grad, rate, *held, None, None, 0.9, 0.999, 1e-8, False, 1000, False, False, False
        )
        assert largest is None and master is None


class Clipped(A.Momentum):
    """Changes the pairs, and has the rest done."""

    def _apply_optimize(self, loss, startup_program, params_grads, param_group_idx=0):
        if isinstance(params_grads, dict):
            params_grads["params"] = [(p, g.clip(-0.1, 0.1)) for p, g in params_grads["params"]]
        else:
            params_grads = [(p, g.clip(-0.1, 0.1)) for p, g in params_grads]
        return super()._apply_optimize(loss, startup_program, params_grads, param_group_idx)


class Passed(A.SGD):
    """Decays by the public helper and leaves out what comes before the updates."""

    def _apply_optimize(self, loss, startup_program, params_grads):
        params_grads = self.append_regularization_ops(params_grads, paddle.regularizer.L2Decay(0.5))
        return self._create_optimization_pass(params_grads)


class Counting(A.Adam):
    """Adds an accumulator to those of the rule."""

    def _create_accumulators(self, block, parameters):
        super()._create_accumulators(block, parameters)
        for p in parameters:
            self._add_accumulator("steps", p, shape=[1])

    def _finish_update(self, block, parameters_and_grads):
        for param, _ in parameters_and_grads:
            steps = self._get_accumulator("steps", param)
            steps.set_value(steps + 1.0)


MAKERS = {
    "lion": lambda ps: Lion(0.1, ps, weight_decay=0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)),
    "lion in groups": lambda ps: Lion(0.1, [{"params": ps[:2], "beta": 0.5}, {"params": ps[2:]}]),
    "adam by its kernel": lambda ps: OwnAdam(0.1, ps),
    "changed pairs": lambda ps: Clipped(0.1, parameters=ps),
    "changed pairs in groups": lambda ps: Clipped(0.1, parameters=[{"params": ps[:1]}, {"params": ps[1:]}]),
    "passed": lambda ps: Passed(0.1, parameters=ps),
    "counting": lambda ps: Counting(0.1, parameters=ps),
}
X = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")


def net_and_optimizer(make):
    paddle.seed(1)
    with paddle.utils.unique_name.guard():
        net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 2))
        return net, make(net.parameters())


def stepper(net, optimizer, static):
    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return paddle.jit.to_static(step) if static else step


def losses(make, static, reload_after=None):
    net, optimizer = net_and_optimizer(make)
    step, found = stepper(net, optimizer, static), []
    for i in range(5):
        if i == reload_after:
            state = {k: paddle.to_tensor(v.numpy()) for k, v in optimizer.state_dict().items()}
            with paddle.utils.unique_name.guard():
                optimizer = make(net.parameters())
            optimizer.set_state_dict(state)
            step = stepper(net, optimizer, static)
        found.append(step(paddle.to_tensor(X)).item())
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_an_update_of_users_trains_alike_in_programs_and_from_saved_state(name):
    wanted = losses(MAKERS[name], False)
    assert len(set(wanted)) == 5
    np.testing.assert_allclose(losses(MAKERS[name], True), wanted, rtol=1e-5)
    np.testing.assert_allclose(losses(MAKERS[name], False, reload_after=2), wanted, rtol=1e-5)
    np.testing.assert_allclose(losses(MAKERS[name], True, reload_after=2), wanted, rtol=1e-5)


OF_RULES = {
    "adam by its kernel": lambda ps: A.Adam(0.1, parameters=ps),
    "passed": lambda ps: A.SGD(0.1, parameters=ps, weight_decay=0.5),
    "counting": lambda ps: A.Adam(0.1, parameters=ps),
}


@pytest.mark.parametrize("name", OF_RULES)
def test_they_give_what_the_rules_give(name):
    np.testing.assert_allclose(losses(MAKERS[name], False), losses(OF_RULES[name], False), rtol=1e-5)


def test_what_it_keeps_has_the_names_of_saved_state():
    net, optimizer = net_and_optimizer(MAKERS["lion"])
    stepper(net, optimizer, False)(paddle.to_tensor(X))
    name = net.parameters()[0].name
    assert {f"{name}_moment_0", f"{name}_power_0"} < set(optimizer.state_dict())
    assert optimizer._accumulators["power"][name].item() == 0.5 and optimizer.type == "lion"
    with pytest.raises(KeyError, match=rf"Lion: there is no accumulator 'velocity' of parameter '{name}'"):
        optimizer._get_accumulator("velocity", net.parameters()[0])


def test_a_narrow_parameter_is_trained_by_its_copy():
    w = paddle.create_parameter([2], "bfloat16", default_initializer=paddle.nn.initializer.Constant(1.0))
    optimizer = Lion(1e-3, [w], multi_precision=True)
    for _ in range(3):
        (w.astype("float32") ** 2).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    np.testing.assert_allclose(optimizer._master_weights[w.name].numpy(), 1 - 1e-3 * 1.75, rtol=1e-6)
