"""Adaptive optimizers: each element is scaled by its own past gradients: Adagrad, Adadelta, RMSProp, Rprop."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from . import checks
from .optimizer import Optimizer
from .update import Accumulator, State


class Adagrad(Optimizer):
    """Adagrad: `s += grad**2`, `param -= lr * grad / (sqrt(s) + epsilon)` (Duchi et al., 2011).

    Arguments:
        epsilon: added to the denominator, for numerical stability. Default: 1e-06.
        initial_accumulator_value: initial value of the sum s. Default: 0.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.Adagrad(0.1, parameters=[w])
        >>> w.sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        0.9
    """

    _hyper = ("epsilon",)

    def __init__(
        self,
        learning_rate: Any,
        epsilon: float = 1e-6,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        self._epsilon = float(epsilon)
        self._slots = (Accumulator("moment", float(initial_accumulator_value)),)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    @staticmethod
    def _rule(param: Any, grad: Any, state: State, lr: Any, epsilon: float) -> tuple[Any, State]:
        moment = state["moment"] + grad * grad
        return param - lr * grad / (jnp.sqrt(moment) + epsilon), {"moment": moment}


class Adadelta(Optimizer):
    """Adadelta: `param -= lr * sqrt((u + epsilon) / (v + epsilon)) * grad` (Zeiler, 2012).

    v and u are moving averages of the squared gradients and of the squared steps.

    Arguments:
        epsilon: added to both averages, for numerical stability. Default: 1e-06.
        rho: decay rate of the averages. Default: 0.95.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.Adadelta(1.0, parameters=[w])
        >>> w.sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        0.9955
    """

    _slots = (Accumulator("_avg_squared_grad"), Accumulator("_avg_squared_update"))
    _hyper = ("epsilon", "rho")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        self._epsilon, self._rho = float(epsilon), float(rho)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    @staticmethod
    def _rule(param: Any, grad: Any, state: State, lr: Any, epsilon: float, rho: float) -> tuple[Any, State]:
        grads = rho * state["_avg_squared_grad"] + (1 - rho) * grad * grad
        step = grad * jnp.sqrt((state["_avg_squared_update"] + epsilon) / (grads + epsilon))
        steps = rho * state["_avg_squared_update"] + (1 - rho) * step * step
        return param - lr * step, {"_avg_squared_grad": grads, "_avg_squared_update": steps}


class RMSProp(Optimizer):
    """RMSProp: gradients divided by the root of their mean square (Hinton, 2012).

    `v = rho * v + (1 - rho) * grad**2`, `step = momentum * step + lr * grad / sqrt(v + epsilon)`, `param -= step`.

    Arguments:
        rho: decay rate of the mean square. Default: 0.95.
        epsilon: added to the mean square, for numerical stability. Default: 1e-06.
        momentum: decay rate of the steps. Default: 0.0.
        centered: divide by the standard deviation, `sqrt(v - mean(grad)**2 + epsilon)`, instead. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.RMSProp(0.1, parameters=[w])
        >>> w.sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        0.5528
    """

    _slots = (Accumulator("momentum"), Accumulator("mean_square"), Accumulator("mean_grad"))
    _hyper = ("rho", "epsilon", "momentum", "centered")

    def __init__(
        self,
        learning_rate: Any,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        checks.not_negative("RMSProp", rho=rho, epsilon=epsilon, momentum=momentum)
        self._rho, self._epsilon, self._momentum, self._centered = (
            float(rho),
            float(epsilon),
            float(momentum),
            bool(centered),
        )
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    @staticmethod
    def _rule(
        param: Any, grad: Any, state: State, lr: Any, rho: float, epsilon: float, momentum: float, centered: bool
    ) -> tuple[Any, State]:
        square = rho * state["mean_square"] + (1 - rho) * grad * grad
        mean = rho * state["mean_grad"] + (1 - rho) * grad if centered else state["mean_grad"]
        spread = square - mean * mean if centered else square
        step = momentum * state["momentum"] + lr * grad / jnp.sqrt(spread + epsilon)
        return param - step, {"momentum": step, "mean_square": square, "mean_grad": mean}


class Rprop(Optimizer):
    """Resilient backpropagation: steps by the sign of the gradient, with a step size for each element.

    The step size grows while the sign stays the same and shrinks when it changes (Riedmiller and Braun, 1993). For
    full-batch training.

    Arguments:
        learning_rate: initial step size. Default: 0.001.
        learning_rate_range: smallest and largest step size. Default: (1e-05, 50).
        etas: factors of the step size when the sign changes, and when it stays the same. Default: (0.5, 1.2).
        multi_precision: keep float32 master copies of float16 and bfloat16 parameters and update those. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.Rprop(0.1, parameters=[w])
        >>> w.sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        0.9
    """

    _hyper = ("shortest", "longest", "shrink", "grow")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_range: tuple[float, float] = (1e-5, 50),
        parameters: Any = None,
        etas: tuple[float, float] = (0.5, 1.2),
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        checks.not_negative("Rprop", learning_rate=learning_rate)
        self._shortest, self._longest = map(float, learning_rate_range)
        self._shrink, self._grow = map(float, etas)
        if not 0 < self._shortest <= self._longest:
            raise ValueError(f"Rprop: learning_rate_range is {learning_rate_range}; expected 0 < lower <= upper")
        if not 0 < self._shrink < 1 < self._grow:
            raise ValueError(f"Rprop: etas is {etas}; expected 0 < first < 1 < second")
        super().__init__(learning_rate, parameters, None, grad_clip, name, multi_precision)
        self._slots = (Accumulator("prevs"), Accumulator("learning_rates", self.get_lr()))
        for group in self._groups:
            group.use(self._slots)

    @staticmethod
    def _rule(
        param: Any, grad: Any, state: State, lr: Any, shortest: float, longest: float, shrink: float, grow: float
    ) -> tuple[Any, State]:
        agreement = grad * state["prevs"]
        factor = jnp.where(agreement > 0, grow, jnp.where(agreement < 0, shrink, 1.0)).astype(param.dtype)
        length = jnp.clip(state["learning_rates"] * factor, shortest, longest)
        grad = jnp.where(agreement < 0, 0, grad)
        return param - jnp.sign(grad) * length, {"prevs": grad, "learning_rates": length}
