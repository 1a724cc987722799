"""Operators of training programs: what layers do while they are trained, and updates of parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...nn import functional as _functional
from .table import P, number, operator, tensor

F: Any = _functional
# What an operator does in training, where its attribute `is_test` says that it is not used in inference.
IN_TRAINING = {
    "batch_norm": "batch_norm_in_training",
    "batch_norm_": "batch_norm_in_training",
    "sync_batch_norm_": "batch_norm_in_training",
    "dropout": "dropout_in_training",
}
# The operands that updates replace, by the results that they become; None for those that are none.
REPLACED: dict[str, tuple[int | None, ...]] = {"batch_norm_in_training": (None, 1, 2)}


@operator("batch_norm_in_training")
def batch_norm(
    x: Any, mean: Any, variance: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5,
    momentum: float = 0.9, data_format: str = "NCHW", use_global_stats: bool = False,
) -> Any:  # fmt: skip
    mean, variance = P.assign(tensor(mean)), P.assign(tensor(variance))
    x, scale, bias = map(tensor, (x, scale, bias))
    form = {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}[x.ndim]
    form = {"NCL": "NLC", "NCHW": "NHWC", "NCDHW": "NDHWC"}.get(form, form) if data_format.endswith("C") else form
    out = F.batch_norm(x, mean, variance, scale, bias, not use_global_stats, momentum, epsilon, form)
    return out, mean, variance, None, None, None


@operator("dropout_in_training")
def dropout(x: Any, _seed: Any = None, p: Any = None, *, mode: str = "upscale_in_train") -> Any:
    x = tensor(x)
    mask = P.cast(P.rand(P.shape(x)) >= _chance(p), "uint8")
    return x * _weight(mask, x, p, mode), mask


@operator("dropout_grad")
def dropout_gradient(
    mask: Any, grad: Any, p: Any = None, *, dropout_prob: Any = None, mode: str = "upscale_in_train"
) -> Any:
    return tensor(grad) * _weight(tensor(mask), tensor(grad), dropout_prob if p is None else p, mode)


def _chance(p: Any) -> Any:
    return 0.5 if p is None else number(p)


def _weight(mask: Any, like: Any, p: Any, mode: str) -> Any:
    kept = P.cast(mask, like.dtype)
    return kept / (1.0 - _chance(p)) if mode == "upscale_in_train" else kept


# -- updates -------------------------------------------------------------------------------------------------------
def _update(name: str, *replaced: int, master: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter an update by what it gives, which replaces these operands: the parameter first.

    Arguments:
        master: the operand that is the parameter in float32, where that is what is trained.
    """
    REPLACED[name] = (*replaced, master)

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def compute(*operands: Any, **attrs: Any) -> Any:
            given = [*map(tensor, operands), *[None] * (master + 1 - len(operands))]
            param, wide = given[0], given[master]
            given[0] = param if wide is None else wide
            new, *rest = function(*given, **attrs)
            return P.cast(new, param.dtype), *rest, None if wide is None else new

        operator(name)(compute)
        return function

    return enter


@_update("sgd_", 0, master=3)
def sgd(param: Any, rate: Any, grad: Any, *_: Any) -> Any:
    return (param - rate * grad,)


@_update("momentum_", 0, 2, master=4)
def momentum(
    param: Any, grad: Any, velocity: Any, rate: Any, *_: Any, mu: float, use_nesterov: bool = False,
    regularization_method: str = "", regularization_coeff: float = 0.0, rescale_grad: float = 1.0,
) -> Any:  # fmt: skip
    grad = grad * rescale_grad
    grad = grad + regularization_coeff * param if regularization_method == "l2_decay" else grad
    velocity = mu * velocity + grad
    return param - rate * (grad + mu * velocity if use_nesterov else velocity), velocity


@_update("adam_", 0, 3, 4, 5, 6, 7, master=8)
def adam(
    param: Any, grad: Any, rate: Any, first: Any, second: Any, largest: Any, power1: Any, power2: Any, _master: Any,
    _skip: Any, beta1: Any, beta2: Any, epsilon: Any, *, amsgrad: bool = False,
) -> Any:  # fmt: skip
    first = beta1 * first + (1 - beta1) * grad
    second = beta2 * second + (1 - beta2) * grad * grad
    largest = P.maximum(largest, second) if amsgrad else largest
    correction = P.sqrt(1 - power2)
    divisor = P.sqrt(largest if amsgrad else second) + epsilon * correction
    new = param - rate * correction / (1 - power1) * (first / divisor)
    return new, first, second, largest, power1 * beta1, power2 * beta2


@_update("adamw_", 0, 3, 4, 5, 6, 7, master=8)
def adamw(
    param: Any, grad: Any, rate: Any, *others: Any, lr_ratio: float = 1.0, coeff: float = 0.01,
    with_decay: bool = False, amsgrad: bool = False,
) -> Any:  # fmt: skip
    rate = rate * lr_ratio
    kept = param * (1 - rate * coeff) if with_decay else param
    return adam(kept, grad, rate, *others, amsgrad=amsgrad)


@_update("adamax_", 0, 3, 4, master=6)
def adamax(
    param: Any, grad: Any, rate: Any, moment: Any, norm: Any, power: Any, *_: Any, beta1: float = 0.9,
    beta2: float = 0.999, epsilon: float = 1e-8,
) -> Any:  # fmt: skip
    moment = beta1 * moment + (1 - beta1) * grad
    norm = P.maximum(P.abs(grad), beta2 * norm + epsilon)
    return param - rate / (1 - power) * (moment / norm), moment, norm


@_update("adagrad_", 0, 2, master=4)
def adagrad(param: Any, grad: Any, moment: Any, rate: Any, *_: Any, epsilon: float = 1e-6) -> Any:
    moment = moment + grad * grad
    return param - rate * grad / (P.sqrt(moment) + epsilon), moment


@_update("adadelta_", 0, 2, 3, master=5)
def adadelta(
    param: Any, grad: Any, squares: Any, steps: Any, rate: Any, *_: Any, rho: float = 0.95, epsilon: float = 1e-6
) -> Any:
    squares = rho * squares + (1 - rho) * grad * grad
    step = P.sqrt((steps + epsilon) / (squares + epsilon)) * grad
    return param - rate * step, squares, rho * steps + (1 - rho) * step * step


@_update("rmsprop_", 0, 3, 1, 5, master=6)
def rmsprop(
    param: Any, squares: Any, grad: Any, moment: Any, rate: Any, mean: Any, *_: Any, epsilon: float = 1e-10,
    decay: float = 0.9, momentum: float = 0.0, centered: bool = False,
) -> Any:  # fmt: skip
    squares = decay * squares + (1 - decay) * grad * grad
    mean = decay * mean + (1 - decay) * grad if centered else mean
    spread = squares - mean * mean if centered else squares
    moment = momentum * moment + rate * grad / P.sqrt(spread + epsilon)
    return param - moment, moment, squares, mean


@_update("lamb_", 0, 3, 4, 5, 6, master=7)
def lamb(
    param: Any, grad: Any, rate: Any, first: Any, second: Any, power1: Any, power2: Any, *_: Any, weight_decay: float,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6, always_adapt: bool = False,
) -> Any:  # fmt: skip
    first = beta1 * first + (1 - beta1) * grad
    second = beta2 * second + (1 - beta2) * grad * grad
    step = first / (1 - power1) / (P.sqrt(second / (1 - power2)) + epsilon) + weight_decay * param
    if weight_decay != 0.0 or always_adapt:
        size, length = P.norm(param), P.norm(step)
        step = step * P.where((size > 0) & (length > 0), size / length, P.ones_like(size))
    return param - rate * step, first, second, power1 * beta1, power2 * beta2


@operator("coalesce_tensor")
def coalesce_tensor(inputs: Any) -> Any:
    return list(inputs), P.concat([P.flatten(tensor(v)) for v in inputs])


# -- gradients as a whole ------------------------------------------------------------------------------------------
@operator("add_n")
def add_n(inputs: Any) -> Any:
    return P.add_n(tensor(inputs))


@operator("squared_l2_norm")
def squared_l2_norm(x: Any) -> Any:
    return P.reshape(P.sum(P.square(tensor(x))), [1])


@operator("clip_by_norm")
def clip_by_norm(x: Any, *, max_norm: float) -> Any:
    x = tensor(x)
    norm = P.sqrt(P.sum(P.square(x)))
    return x * P.where(norm > max_norm, max_norm / norm, P.ones_like(norm))


@operator("check_finite_and_unscale_")
def check_finite_and_unscale(grads: Any, scale: Any) -> Any:
    grads, scale = tensor(grads), tensor(scale)
    bad = P.stack([P.logical_not(P.isfinite(g).all()) for g in grads]).any()
    return [g / P.cast(scale, g.dtype) for g in grads], P.reshape(bad, [1])
