"""NAdam, RAdam and ASGD."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from . import checks
from .adam import moments
from .optimizer import Optimizer
from .update import Accumulator, State


class _TwoMoments(Optimizer):
    def _set(self, beta1: float, beta2: float, epsilon: float) -> None:
        checks.not_none(type(self).__name__, beta1=beta1, beta2=beta2, epsilon=epsilon)
        checks.in_unit(type(self).__name__, beta1=beta1, beta2=beta2)
        checks.not_negative(type(self).__name__, epsilon=epsilon)
        self._beta1, self._beta2, self._epsilon = float(beta1), float(beta2), float(epsilon)


class NAdam(_TwoMoments):
    """Adam with Nesterov momentum (Dozat, 2016).

    Arguments:
        beta1: decay rate of the first moment, in [0, 1). Default: 0.9.
        beta2: decay rate of the second moment, in [0, 1). Default: 0.999.
        epsilon: added to the denominator, for numerical stability. Default: 1e-08.
        momentum_decay: controls how the momentum approaches beta1: `mu_t = beta1 * (1 - 0.5 * 0.96**(t *
            momentum_decay))`. Default: 0.004.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.NAdam(0.1, parameters=[w])
        >>> w.sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        0.8944
    """

    _slots = (
        Accumulator("momentum_decay_pow", 1.0, scalar=True),
        Accumulator("beta2_pow", 1.0, scalar=True),
        Accumulator("mu_product", 1.0, scalar=True),
        Accumulator("moment1"),
        Accumulator("moment2"),
    )
    _hyper = ("beta1", "beta2", "epsilon", "momentum_decay")

    def __init__(
        self,
        learning_rate: Any = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        momentum_decay: float = 0.004,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        self._set(beta1, beta2, epsilon)
        checks.not_negative("NAdam", learning_rate=learning_rate, momentum_decay=momentum_decay)
        self._momentum_decay = float(momentum_decay)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    @staticmethod
    def _rule(
        param: Any, grad: Any, state: State, lr: Any, beta1: float, beta2: float, epsilon: float, momentum_decay: float
    ) -> tuple[Any, State]:
        decay = state["momentum_decay_pow"] * 0.96
        power = state["beta2_pow"] * beta2
        mu = beta1 * (1 - 0.5 * decay**momentum_decay)
        next_mu = beta1 * (1 - 0.5 * decay**momentum_decay * 0.96**momentum_decay)
        product = state["mu_product"] * mu
        first, second = moments(grad, state, beta1, beta2)
        mean = next_mu * first / (1 - product * next_mu) + (1 - mu) * grad / (1 - product)
        step = mean / (jnp.sqrt(second / (1 - power)) + epsilon)
        new = {
            "momentum_decay_pow": decay,
            "beta2_pow": power,
            "mu_product": product,
            "moment1": first,
            "moment2": second,
        }
        return param - lr * step.astype(param.dtype), new


class RAdam(_TwoMoments):
    """Rectified Adam (Liu et al., 2019).

    Steps use momentum alone until the variance of the adaptive rate is tractable, then Adam with a rectification
    factor.

    Arguments:
        beta1: decay rate of the first moment, in [0, 1). Default: 0.9.
        beta2: decay rate of the second moment, in [0, 1). Default: 0.999.
        epsilon: added to the denominator, for numerical stability. Default: 1e-08.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.RAdam(0.1, parameters=[w])
        >>> w.sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        0.9
    """

    _slots = (
        Accumulator("beta1_pow", 1.0, scalar=True),
        Accumulator("beta2_pow", 1.0, scalar=True),
        Accumulator("rho", 0.0, scalar=True),
        Accumulator("moment1"),
        Accumulator("moment2"),
    )
    _hyper = ("beta1", "beta2", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        self._set(beta1, beta2, epsilon)
        checks.not_negative("RAdam", learning_rate=learning_rate)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    @staticmethod
    def _rule(
        param: Any, grad: Any, state: State, lr: Any, beta1: float, beta2: float, epsilon: float
    ) -> tuple[Any, State]:
        limit = 2 / (1 - beta2) - 1
        power1, power2 = state["beta1_pow"] * beta1, state["beta2_pow"] * beta2
        # t * beta2**t, carried along: (t + 1) * b**(t + 1) = b * t * b**t + b**(t + 1)
        weighted = state["rho"] * beta2 + power2
        rho = limit - 2 * weighted / (1 - power2)
        first, second = moments(grad, state, beta1, beta2)
        mean = first / (1 - power1)
        safe = jnp.where(rho > 5, rho, 6)
        rectified = jnp.sqrt((safe - 4) * (safe - 2) * limit / ((limit - 4) * (limit - 2) * safe))
        adaptive = mean * rectified * jnp.sqrt(1 - power2) / (jnp.sqrt(second) + epsilon)
        step = jnp.where(rho > 5, adaptive, mean)
        new = {"beta1_pow": power1, "beta2_pow": power2, "rho": weighted, "moment1": first, "moment2": second}
        return param - lr * step.astype(param.dtype), new


class ASGD(Optimizer):
    """Steps along the average of the last batch_num gradients (Schmidt et al., 2013).

    `d = d - y_i + grad`, `y_i = grad`, `param -= lr / min(t, batch_num) * d`, with y_i the gradient that is replaced.

    Arguments:
        batch_num: number of gradients that are kept. Default: 1.
        multi_precision: keep float32 master copies of float16 and bfloat16 parameters and update those. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.ASGD(0.1, parameters=[w])
        >>> w.sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        0.9
    """

    _hyper = ("batch_num",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        batch_num: int = 1,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if batch_num < 1:
            raise ValueError(f"ASGD: batch_num is {batch_num}; expected at least 1")
        self._batch_num = int(batch_num)
        self._slots = (Accumulator("d"), Accumulator("y", lead=self._batch_num), Accumulator("m", scalar=True))
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, multi_precision)

    @staticmethod
    def _rule(param: Any, grad: Any, state: State, lr: Any, batch_num: int) -> tuple[Any, State]:
        at = state["m"].astype(jnp.int32) % batch_num
        total = state["d"] - state["y"][at] + grad
        count = jnp.minimum(state["m"] + 1, batch_num).astype(param.dtype)
        new = {"d": total, "y": state["y"].at[at].set(grad), "m": state["m"] + 1}
        return param - lr / count * total, new
