"""Adam and its relatives: AdamW, Adamax, Lamb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.no_effect import no_effect
from ..eager.tensor import Tensor
from . import checks
from .optimizer import ONE_CALL, Optimizer
from .parameter_group import ParameterGroup
from .update import Accumulator, Numbers, Rule, Setting, State


def moments(grad: Any, state: State, beta1: float, beta2: float) -> tuple[Any, Any]:
    """Update the exponential moving averages of the gradient and of its square."""
    # 1 - beta as the parameter's dtype rounds it, so that it cancels against 1 - beta ** steps.
    b1, b2 = np.asarray(beta1, grad.dtype), np.asarray(beta2, grad.dtype)
    return b1 * state["moment1"] + (1 - b1) * grad, b2 * state["moment2"] + (1 - b2) * grad * grad


def powers(state: State, beta1: float, beta2: float) -> State:
    """Return the powers of the betas for the next step."""
    return {"beta1_pow_acc": state["beta1_pow_acc"] * beta1, "beta2_pow_acc": state["beta2_pow_acc"] * beta2}


def adam_numbers(state: State, rates: Any, beta1: float, beta2: float, epsilon: float, **_: Any) -> tuple[State, State]:
    """Return learning rate and epsilon with bias correction."""
    correction = jnp.sqrt(1 - state["beta2_pow_acc"])
    rate = rates * correction / (1 - state["beta1_pow_acc"])
    return {"rate": rate, "epsilon": epsilon * correction}, powers(state, beta1, beta2)


def adamax_numbers(state: State, rates: Any, beta1: float, **_: Any) -> tuple[State, State]:
    """Return the learning rate with bias correction."""
    power = state["beta1_pow_acc"]
    return {"rate": rates / (1 - power)}, {"beta1_pow_acc": power * beta1}


def lamb_numbers(state: State, _rates: Any, beta1: float, beta2: float, **_: Any) -> tuple[State, State]:
    """Return the bias corrections of the moments."""
    return {k: 1 - v for k, v in state.items()}, powers(state, beta1, beta2)


def adam(
    param: Any,
    grad: Any,
    state: State,
    lr: Any,
    beta1: float,
    beta2: float,
    amsgrad: bool,
    by_rows: str = "",
    **more: Any,
) -> tuple[Any, State]:
    """Return one step of Adam (Kingma and Ba, 2014).

    Arguments:
        by_rows: "all" or "met" for a table of embeddings: which rows are updated. As in the reference, the correction
            for averages that started at zero is then that of the step after this one.
    """
    if by_rows:
        ahead = {f"beta{i}_pow_acc": state[f"beta{i}_pow_acc"] * b for i, b in ((1, beta1), (2, beta2))}
        state = state | adam_numbers(ahead, lr, beta1, beta2, **more)[0]
    first, second = moments(grad, state, beta1, beta2)
    new = {"moment1": first, "moment2": second}
    if amsgrad:
        second = new["moment2_max"] = jnp.maximum(state["moment2_max"], second)
    rate, small = state["rate"].astype(param.dtype), state["epsilon"].astype(param.dtype)
    stepped = param - rate * (first / (jnp.sqrt(second) + small))
    if by_rows != "met":
        return stepped, new
    met = jnp.any(grad != 0, axis=tuple(range(1, grad.ndim)), keepdims=True)
    return jnp.where(met, stepped, param), {k: jnp.where(met, v, state[k]) for k, v in new.items()}


def adamw(param: Any, grad: Any, state: State, lr: Any, weight_decay: float, **betas: Any) -> tuple[Any, State]:
    """Return one step of AdamW (Loshchilov and Hutter, 2017): the decay acts on the parameter itself."""
    return adam(param * (1 - lr * weight_decay), grad, state, lr, **betas)


def adamax(
    param: Any, grad: Any, state: State, _lr: Any, beta1: float, beta2: float, epsilon: float
) -> tuple[Any, State]:
    """Return one step of Adamax (Kingma and Ba, 2014)."""
    b1 = np.asarray(beta1, grad.dtype)
    moment = b1 * state["moment"] + (1 - b1) * grad
    norm = jnp.maximum(jnp.abs(grad), beta2 * state["inf_norm"] + epsilon)
    return param - state["rate"].astype(param.dtype) * (moment / norm), {"moment": moment, "inf_norm": norm}


def lamb(
    param: Any,
    grad: Any,
    state: State,
    lr: Any,
    beta1: float,
    beta2: float,
    epsilon: float,
    always_adapt: bool,
    weight_decay: float,
) -> tuple[Any, State]:
    """Return one step of LAMB (You et al., 2019)."""
    first, second = moments(grad, state, beta1, beta2)
    mean = first / state["beta1_pow_acc"].astype(param.dtype)
    square = second / state["beta2_pow_acc"].astype(param.dtype)
    step = mean / (jnp.sqrt(square) + epsilon) + weight_decay * param
    new = {"moment1": first, "moment2": second}
    if weight_decay == 0.0 and not always_adapt:
        return param - lr * step, new
    size, length = jnp.linalg.norm(param.ravel()), jnp.linalg.norm(step.ravel())
    ratio = jnp.where((size > 0) & (length > 0), size / jnp.where(length > 0, length, 1), 1)
    return param - lr * ratio * step, new


LAZY = "gradients are dense, so every row is updated"


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2014): steps scaled by moving averages of the gradient and of its square.

    `m = beta1 * m + (1 - beta1) * grad`, `v = beta2 * v + (1 - beta2) * grad**2`, `param -= lr * m_hat / (sqrt(v_hat) +
    epsilon)`, with m_hat and v_hat corrected for their bias towards zero.

    Arguments:
        weight_decay: a float or L2Decay, which adds `coeff * param` to the gradient, or L1Decay, which adds `coeff *
            sign(param)`; None: no decay.
        lazy_mode: in dynamic mode, of the table of nn.Embedding(sparse=True) update only the rows that have a gradient
            in the step. Default: False.
        amsgrad: use the largest second moment so far in the denominator (Reddi et al., 2018). Default: False.

    Raises:
        ValueError: if a beta is not in [0, 1), or epsilon is negative.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.Adam(learning_rate=0.1, parameters=[w])
        >>> (w * 3).sum().backward(); opt.step(); round(w.item(), 4)
        0.9
    """

    _rule: Rule = staticmethod(adam)
    _numbers: Numbers | None = staticmethod(adam_numbers)
    _hyper: tuple[str, ...] = ("beta1", "beta2", "epsilon", "amsgrad")

    @no_effect(use_multi_tensor=ONE_CALL)
    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        self._set_betas(beta1, beta2, epsilon, amsgrad)
        self._lazy = bool(lazy_mode)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, multi_precision)

    def _setting(self, group: ParameterGroup, i: int, hyper: tuple[tuple[str, Any], ...]) -> Setting:
        made = super()._setting(group, i, hyper)
        if self._rule is not adam or made.decay or not getattr(group.params[i], "is_table", False):
            return made
        return made._replace(hyper=(*made.hyper, ("by_rows", "met" if self._lazy else "all")))

    def _set_betas(self, beta1: float, beta2: float, epsilon: float, amsgrad: bool = False) -> None:
        who = type(self).__name__
        checks.not_none(who, beta1=beta1, beta2=beta2, epsilon=epsilon)
        checks.in_unit(who, beta1=beta1, beta2=beta2)
        checks.not_negative(who, epsilon=epsilon)
        self._beta1, self._beta2, self._epsilon, self._amsgrad = (
            float(beta1),
            float(beta2),
            float(epsilon),
            bool(amsgrad),
        )
        largest = (Accumulator("moment2_max"),) if amsgrad else ()
        numbers = (
            Accumulator("beta1_pow_acc", "beta1", scalar=True),
            Accumulator("beta2_pow_acc", "beta2", scalar=True),
        )
        self._slots = (Accumulator("moment1"), Accumulator("moment2"), *largest, *numbers)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2017).

    Before each Adam step, `param -= lr * weight_decay * param`.

    Arguments:
        weight_decay: coefficient of the decay, a float. Default: 0.01.
        use_lowprecision_moment: no effect: moments have the dtype of the updated parameter.
        lr_ratio: function from a parameter to a factor of its learning rate, for layer-wise rates; None: 1.
        apply_decay_param_fun: function from the name of a parameter to whether it decays; None: all parameters decay.
        lazy_mode: no effect: gradients are dense, so that every row is updated.
        amsgrad: use the largest second moment so far in the denominator (Reddi et al., 2018). Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.AdamW(
        ...     0.1, parameters=net.parameters(), weight_decay=0.5, apply_decay_param_fun=lambda name: ".w_" in name)
        >>> opt.state_dict()
        {}
    """

    _rule: Rule = staticmethod(adamw)
    _decoupled = True

    @no_effect(lazy_mode=LAZY, use_lowprecision_moment="moments have the dtype of what is updated")
    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        if lr_ratio is not None and not callable(lr_ratio):
            raise TypeError(f"{type(self).__name__}: lr_ratio is {lr_ratio!r:.60}; expected a function of a parameter")
        if not isinstance(getattr(weight_decay, "coeff", weight_decay), int | float | Tensor | None):
            raise TypeError(
                f"{type(self).__name__}: weight_decay is {weight_decay!r:.60}; expected a number or L2Decay"
            )
        self._lr_ratio, self._apply_decay_param_fun = lr_ratio, apply_decay_param_fun
        self._params_name: set[str] = set()  # subclasses of users that decay parameters note them here
        super().__init__(
            *(learning_rate, beta1, beta2, epsilon, parameters, weight_decay, grad_clip),
            multi_precision=multi_precision,
            amsgrad=amsgrad,
            name=name,
        )

    def _decay_of(self, param: Any, options: dict[str, Any]) -> float:
        if self._apply_decay_param_fun is not None and not self._apply_decay_param_fun(param.name):
            return 0.0
        coeff = options.get("weight_decay", self._weight_decay)
        return 0.0 if coeff is None else float(getattr(coeff, "coeff", coeff))

    def _factor(self, param: Any) -> float:
        return 1.0 if self._lr_ratio is None else float(self._lr_ratio(param))


class Adamax(Adam):
    """Adam with the infinity norm instead of the second moment (Kingma and Ba, 2014).

    `m = beta1 * m + (1 - beta1) * grad`, `u = max(beta2 * u + epsilon, |grad|)`, `param -= lr / (1 - beta1**t) * m /
    u`.

    Arguments:
        weight_decay: a float or L2Decay, which adds `coeff * param` to the gradient, or L1Decay, which adds `coeff *
            sign(param)`; None: no decay.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.Adamax(0.1, parameters=[w])
        >>> w.sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        0.9
    """

    _rule: Rule = staticmethod(adamax)
    _numbers = staticmethod(adamax_numbers)
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
        super().__init__(learning_rate, beta1, beta2, epsilon, parameters, weight_decay, grad_clip, name=name)

    def _set_betas(self, beta1: float, beta2: float, epsilon: float, amsgrad: bool = False) -> None:
        super()._set_betas(beta1, beta2, epsilon)
        self._slots = (
            Accumulator("moment"),
            Accumulator("inf_norm"),
            Accumulator("beta1_pow_acc", "beta1", scalar=True),
        )


class Lamb(Adam):
    """LAMB: Adam with layer-wise adaptive rates, for large batches (You et al., 2019).

    With r the Adam step plus `lamb_weight_decay * param`: `param -= lr * norm(param) / norm(r) * r`.

    Arguments:
        lamb_weight_decay: coefficient of the weight decay. Default: 0.01.
        exclude_from_weight_decay_fn: function from a parameter to whether it is excluded from the decay; None: all
            parameters decay.
        always_adapt: scale the steps of parameters without weight decay too. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.Lamb(0.1, parameters=[w])
        >>> w.sum().backward(); opt.step(); opt.clear_grad()
        >>> round(w.item(), 4)
        0.9
    """

    _rule: Rule = staticmethod(lamb)
    _numbers = staticmethod(lamb_numbers)
    _hyper = ("beta1", "beta2", "epsilon", "always_adapt")
    _decoupled = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameters: Any = None,
        grad_clip: Any = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        self._exclude, self._always_adapt = exclude_from_weight_decay_fn, bool(always_adapt)
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters,
            lamb_weight_decay,
            grad_clip,
            multi_precision=multi_precision,
            name=name,
        )

    def _decay_of(self, param: Any, options: dict[str, Any]) -> float:
        if self._exclude is not None and self._exclude(param):
            return 0.0
        return float(options.get("lamb_weight_decay", self._weight_decay))
