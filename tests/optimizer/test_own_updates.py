"""Optimizers of users whose `_append_optimize_op` replaces or extends the update of a parameter."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle

A = paddle.optimizer


class Slower(A.AdamW):
    """Layer-wise rates, as AdamWDL of several packages has them."""

    factor = 0.1

    def _append_optimize_op(self, block, param_and_grad):
        attributes = param_and_grad[0].optimize_attr
        before = attributes["learning_rate"]
        attributes["learning_rate"] = before * self.factor
        super()._append_optimize_op(block, param_and_grad)
        attributes["learning_rate"] = before


class DecayedTwice(Slower):
    def _append_optimize_op(self, block, param_and_grad):
        param, grad = param_and_grad
        rate = self._create_param_lr(param_and_grad)
        with block.program._optimized_guard([param, grad]), paddle.static.name_scope("decay"):
            self._params_name.add(param.name)
            paddle.assign(param * (1.0 - rate * 0.5), output=param)
        super()._append_optimize_op(block, param_and_grad)


class Sign(A.Optimizer):
    def _append_optimize_op(self, block, param_and_grad):
        param, grad = param_and_grad
        param.set_value(param - self.get_lr() * paddle.sign(grad))


def doubled(base):
    class Doubled(base):
        def _append_optimize_op(self, block, given):
            if isinstance(given, dict):
                param, grad = given["params"]
                return super()._append_optimize_op(block, dict(given, params=[param, grad * 2]))
            return super()._append_optimize_op(block, (given[0], given[1] * 2))

    return Doubled


class Tenth(paddle.regularizer.L2Decay):
    """Adds a tenth of the sign to the gradient, whatever its base class adds."""

    def __call__(self, param, grad, block):
        return paddle.sign(param) * 0.1


class TwiceL1(paddle.regularizer.L1Decay):
    def __call__(self, param, grad, block):
        return super().__call__(param, grad, block) * 2


def with_own(params, regularizer):
    params[1].regularizer = regularizer
    clip = paddle.nn.ClipGradByGlobalNorm(0.5)
    return A.Momentum(0.05, parameters=params, weight_decay=0.5, grad_clip=clip)


def groups(params):
    return [{"params": params[:1], "weight_decay": 0.5}, {"params": params[1:], "weight_decay": 0.0}]


def trained(make, steps=3, static=False):
    params = [paddle.create_parameter(s, "float32") for s in ([2, 2], [2])]
    for p in params:
        p.set_value(np.full(p.shape, 0.5, "float32"))
    opt = make(params)

    def step():
        loss = ((paddle.ones([1, 2]) @ params[0] + params[1]) ** 2).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()

    step = paddle.jit.to_static(step) if static else step
    for _ in range(steps):
        step()
    return [round(float(p.numpy().flat[0]), 5) for p in params], opt, step


L1 = paddle.regularizer.L1Decay(0.1)
# What PaddlePaddle computes for the first number of both parameters.
CASES = {
    "adamw": (lambda p: Slower(0.05, parameters=p, weight_decay=0.5), [0.4813, 0.4813]),
    "own decay": (lambda p: DecayedTwice(0.05, parameters=p, weight_decay=0.5), [0.44539, 0.44539]),
    "sign": (lambda p: Sign(0.05, p), [0.35, 0.35]),
    "sgd": (lambda p: doubled(A.SGD)(0.05, parameters=p), [0.032, 0.032]),
    "momentum l2": (lambda p: doubled(A.Momentum)(0.05, parameters=p, weight_decay=0.5), [-0.4377, -0.4377]),
    "momentum groups": (lambda p: doubled(A.Momentum)(0.05, parameters=groups(p)), [-0.44657, -0.40912]),
    "own regularizer": (lambda p: A.SGD(0.05, parameters=p, weight_decay=Tenth()), [0.16055, 0.16055]),
    "own regularizer of one": (lambda p: with_own(p, TwiceL1(0.1)), [0.37533, 0.38664]),
    "own regularizer and update": (
        lambda p: doubled(A.SGD)(0.05, parameters=p, weight_decay=Tenth()),
        [0.0164, 0.0164],
    ),
    "l1 and clip": (
        lambda p: doubled(A.SGD)(0.05, parameters=p, weight_decay=L1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)),
        [0.40876, 0.40876],
    ),
}


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_updates_are_those_of_paddle(case, static):
    make, expected = CASES[case]
    found, _, step = trained(make, static=static)
    np.testing.assert_allclose(found, expected, atol=2e-5)
    assert not static or len(step.retraces) == 1


def test_a_changed_attribute_of_the_optimizer_is_noticed():
    found = []
    for static in (False, True):
        _, opt, step = trained(lambda p: Slower(0.05, parameters=p), steps=1, static=static)
        opt.factor = 2.0
        step()
        found.append([p.numpy() for p in opt._parameter_list])
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-6)
    assert found[0][0].max() < 0.45


@pytest.mark.parametrize("static", [False, True])
def test_an_update_after_an_overflow_is_skipped(static):
    w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    scaler, opt = paddle.amp.GradScaler(init_loss_scaling=4.0), Sign(0.5, [w])

    def step(factor):
        scaler.scale((w * factor).sum()).backward()
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()

    step = paddle.jit.to_static(step) if static else step
    for factor in (1.0, float("inf")):
        step(paddle.to_tensor(factor))
    assert w.item() == 0.5


def test_what_is_missing_is_named():
    class Nothing(A.Optimizer):
        pass

    with pytest.raises(NotImplementedError, match="Nothing must define _append_optimize_op"):
        trained(lambda p: Nothing(0.1, p))
    w = paddle.create_parameter([1], "float32")
    with pytest.raises(ValueError, match="is not one of those that it trains"):
        A.SGD(0.1, [paddle.create_parameter([1], "float32")])._append_optimize_op(None, (w, w))
