"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ..core.no_effect import no_effect
from .optimizer import ONE_CALL, Optimizer
from .update import Accumulator, State


class SGD(Optimizer):
    """Stochastic gradient descent: `param -= lr * grad`.

    Arguments:
        learning_rate: the learning rate, a float or an LRScheduler. Default: 0.001.
        parameters: the parameters to train, an iterable; or a list of dicts {"params": [...], ...} of parameter groups
            with settings of their own. Required in dynamic mode.
        weight_decay: a float or L2Decay, which adds `coeff * param` to the gradient, or L1Decay, which adds `coeff *
            sign(param)`; None: no decay.
        grad_clip: ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm, applied to the gradients before the decay;
            None: no clipping.
        multi_precision: keep float32 master copies of float16 and bfloat16 parameters and update those. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.SGD(0.5, parameters=[w])
        >>> (w * 3).sum().backward(); opt.step(); w.item()
        -0.5
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, multi_precision)

    @staticmethod
    def _rule(param: Any, grad: Any, state: State, lr: Any) -> tuple[Any, State]:
        return param - lr * grad, state


class Momentum(Optimizer):
    """SGD with momentum: `velocity = momentum * velocity + grad`, `param -= lr * velocity`.

    Arguments:
        learning_rate: the learning rate, a float or an LRScheduler. Default: 0.001.
        momentum: decay rate of the velocity. Default: 0.9.
        parameters: the parameters to train, an iterable; or a list of dicts {"params": [...], ...} of parameter groups
            with settings of their own. Required in dynamic mode.
        use_nesterov: Nesterov momentum: `param -= lr * (grad + momentum * velocity)`. Default: False.
        weight_decay: a float or L2Decay, which adds `coeff * param` to the gradient, or L1Decay, which adds `coeff *
            sign(param)`; None: no decay.
        grad_clip: ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm, applied to the gradients before the decay;
            None: no clipping.
        multi_precision: keep float32 master copies of float16 and bfloat16 parameters and update those. Default: False.
        rescale_grad: factor of the gradients. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
        >>> opt = paddle.optimizer.Momentum(0.1, momentum=0.5, parameters=[w])
        >>> for _ in range(2):
        ...     (w * 1).sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        -0.25
    """

    _slots = (Accumulator("velocity"),)
    _l2_in_rule = True
    _hyper = ("momentum", "use_nesterov", "rescale_grad")

    @no_effect(use_multi_tensor=ONE_CALL)
    def __init__(
        self,
        learning_rate: Any = 0.001,
        momentum: float = 0.9,
        parameters: Any = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        self._momentum, self._use_nesterov, self._rescale_grad = (
            float(momentum),
            bool(use_nesterov),
            float(rescale_grad),
        )
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, multi_precision)

    @staticmethod
    def _rule(
        param: Any, grad: Any, state: State, lr: Any, momentum: float, use_nesterov: bool, rescale_grad: float
    ) -> tuple[Any, State]:
        if rescale_grad != 1.0:
            grad = grad * rescale_grad
        velocity = momentum * state["velocity"] + grad
        step = grad + momentum * velocity if use_nesterov else velocity
        return param - lr * step, {"velocity": velocity}
