"""Operators of training programs: what layers do while they are trained, and updates of parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...nn import functional as _functional
from .table import P, call, number, operator, tensor

F: Any = _functional
# The training form of operators, used where their attribute `is_test` is false.
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
def _update(
    name: str, *replaced: int, master: int, skip: int | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter an update by what it gives, which replaces these operands: the parameter first.

    Arguments:
        master: the operand that is the parameter in float32, where that is what is trained.
        skip: the operand that is true where all stays as it is.
    """
    REPLACED[name] = (*replaced, master)
    least = max(master, skip or 0) + 1

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def compute(*operands: Any, **attrs: Any) -> Any:
            given = [*map(tensor, operands), *[None] * (least - len(operands))]
            param, wide = given[0], given[master]
            given[0] = param if wide is None else wide
            new, *rest = function(*given, **attrs)
            if skip is not None and given[skip] is not None:
                new, *rest = _unless(given[skip], [given[i] for i in replaced], [new, *rest])
            return P.cast(new, param.dtype), *rest, None if wide is None else new

        operator(name)(compute)
        return function

    return enter


def _unless(skips: Any, old: list[Any], new: list[Any]) -> list[Any]:
    skips = P.reshape(skips, [])
    return [n if n is None else P.where(skips, o, n) for o, n in zip(old, new, strict=True)]


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


@_update("adam_", 0, 3, 4, 5, 6, 7, master=8, skip=9)
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


@_update("adamw_", 0, 3, 4, 5, 6, 7, master=8, skip=9)
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


@_update("lamb_", 0, 3, 4, 5, 6, master=7, skip=8)
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


@_update("asgd_", 0, 3, 4, master=6)
def asgd(param: Any, grad: Any, rate: Any, total: Any, last: Any, n: Any, *_: Any) -> Any:
    total = total - last + grad
    return param - rate / n * total, total, grad


@_update("nadam_", 0, 3, 4, 5, 6, 7, master=8)
def nadam(
    param: Any, grad: Any, rate: Any, decay_power: Any, power2: Any, product: Any, first: Any, second: Any, *_: Any,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, momentum_decay: float = 0.004,
) -> Any:  # fmt: skip
    decay_power, power2 = decay_power * 0.96, power2 * beta2
    now = beta1 * (1 - 0.5 * decay_power**momentum_decay)
    then = beta1 * (1 - 0.5 * decay_power**momentum_decay * 0.96**momentum_decay)
    product = product * now
    first = beta1 * first + (1 - beta1) * grad
    second = beta2 * second + (1 - beta2) * grad * grad
    mean = then * first / (1 - product * then) + (1 - now) * grad / (1 - product)
    new = param - rate * mean / (P.sqrt(second / (1 - power2)) + epsilon)
    return new, decay_power, power2, product, first, second


@_update("radam_", 0, 3, 4, 5, 6, 7, master=8)
def radam(
    param: Any, grad: Any, rate: Any, power1: Any, power2: Any, rho: Any, first: Any, second: Any, *_: Any,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
) -> Any:  # fmt: skip
    power1, power2 = power1 * beta1, power2 * beta2
    rho = (rho * (beta2 - power2) + power2) / (1 - power2)
    first = beta1 * first + (1 - beta1) * grad
    second = beta2 * second + (1 - beta2) * grad * grad
    most = 2 / (1 - beta2) - 1
    length = P.maximum(most - 2 * rho, P.full_like(rho, 5.0))  # the variance is tractable above 5
    rectified = P.sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))
    adapted = rectified * P.sqrt(1 - power2) / (P.sqrt(second) + epsilon)
    step = first / (1 - power1) * P.where(most - 2 * rho > 5, adapted, P.ones_like(adapted))
    return param - rate * step, power1, power2, rho, first, second


@_update("rprop_", 0, 2, 3, master=4)
def rprop(param: Any, grad: Any, last: Any, rates: Any, _master: Any, limits: Any, etas: Any) -> Any:
    sign, limits, etas = P.sign(grad * last), P.flatten(limits), P.flatten(etas)
    grad = P.where(sign < 0, P.zeros_like(grad), grad)
    factor = P.where(sign > 0, etas[1], P.where(sign < 0, etas[0], P.ones_like(grad)))
    rates = P.minimum(P.maximum(rates * factor, limits[0]), limits[1])
    return param - P.sign(grad) * rates, grad, rates


@_update("decayed_adagrad", 0, 2, master=4)
def decayed_adagrad(
    param: Any, grad: Any, moment: Any, rate: Any, *_: Any, decay: float = 0.95, epsilon: float = 1e-6
) -> Any:
    moment = decay * moment + (1 - decay) * grad * grad
    return param - rate * grad / (P.sqrt(moment) + epsilon), moment


@_update("ftrl", 0, 1, 2, master=5)
def ftrl(
    param: Any, squares: Any, linear: Any, grad: Any, rate: Any, *_: Any, l1: float = 0.0, l2: float = 0.0,
    lr_power: float = -0.5,
) -> Any:  # fmt: skip
    new = squares + grad * grad
    linear = linear + grad - (new**-lr_power - squares**-lr_power) / rate * param
    shrunk = (l1 * P.sign(linear) - linear) / (new**-lr_power / rate + 2 * l2)
    return P.where(P.abs(linear) > l1, shrunk, P.zeros_like(shrunk)), new, linear


def _merged(name: str, of: str, n_lists: int) -> None:
    """Enter an update of several parameters, of which these operands are lists, by that of one."""
    REPLACED[name] = REPLACED[of]

    @operator(name)
    def compute(*operands: Any, **attrs: Any) -> Any:
        lists, others = operands[:n_lists], operands[n_lists:]
        each = [[None if v is None else v[i] for v in lists] for i in range(len(operands[0]))]
        found = [call(of, [*given, *others], _of_one(attrs, i)) for i, given in enumerate(each)]
        return tuple([None if values[0] is None else list(values) for values in zip(*found, strict=True)])


def _of_one(attrs: dict[str, Any], i: int) -> dict[str, Any]:
    lists = ("regularization_method", "regularization_coeff")
    return {k: v[i] if k in lists else v for k, v in attrs.items() if k not in lists or v}


_merged("merged_momentum_", "momentum_", 5)
_merged("merged_adam_", "adam_", 9)


REPLACED["lars_momentum_"] = (0, 2, 4)


@operator("lars_momentum_")
def lars_momentum(
    params: Any, grads: Any, velocities: Any, rates: Any, masters: Any = None, *, mu: float,
    lars_coeff: float = 0.001, lars_weight_decay: Any = (0.0005,), epsilon: float = 0.0, rescale_grad: float = 1.0,
) -> Any:  # fmt: skip
    decays = zip(masters or params, grads, velocities, rates, lars_weight_decay, strict=True)
    found = []
    for *given, decay in decays:
        param, grad, velocity, rate = map(tensor, given)
        grad = grad * rescale_grad
        size, length = P.norm(param), P.norm(grad)
        local = rate * lars_coeff * size / (length + decay * size + epsilon)
        rate = P.where((size > 0) & (length > 0), local, rate) if decay > 0 else rate
        velocity = mu * velocity + rate * (grad + decay * param)
        found.append((param - velocity, velocity))
    new, velocity = map(list, zip(*found, strict=True))
    return [P.cast(n, tensor(p).dtype) for n, p in zip(new, params, strict=True)], velocity, new if masters else None


REPLACED["average_accumulates_"] = (1, 2, 3, 4, 5, 6)


@operator("average_accumulates_")
def average_accumulates(
    param: Any, *state: Any, average_window: float = 0.0, max_average_window: int = 1 << 62,
    min_average_window: int = 10_000,
) -> Any:  # fmt: skip
    sum1, sum2, sum3, count, old, updates = map(tensor, state)
    updates, count, sum1 = updates + 1, count + 1, sum1 + tensor(param)
    is_full = updates % 16384 == 0
    sum1, sum2 = P.where(is_full, P.zeros_like(sum1), sum1), P.where(is_full, sum2 + sum1, sum2)
    window = P.minimum(
        P.full_like(updates, min(max_average_window, 1 << 62)), P.cast(updates * average_window, "int64")
    )
    ends = (count >= min_average_window) & (count >= window)
    nothing = P.zeros_like(sum1)
    sums = P.where(ends, nothing, sum1), P.where(ends, nothing, sum2), P.where(ends, sum1 + sum2, sum3)
    return *sums, P.where(ends, P.zeros_like(count), count), P.where(ends, count, old), updates


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


REPLACED["update_loss_scaling_"] = (None, 2, 3, 4)


@operator("update_loss_scaling_")
def update_loss_scaling(
    grads: Any, found: Any, scale: Any, good: Any, bad: Any, stop: Any = None, *, incr_every_n_steps: int,
    decr_every_n_nan_or_inf: int, incr_ratio: float, decr_ratio: float, stop_update: bool = False,
) -> Any:  # fmt: skip
    found, scale, good, bad = map(tensor, (found, scale, good, bad))
    grads = [P.where(P.reshape(found, []), P.zeros_like(g), g) for g in tensor(grads)]
    none, good_now, bad_now = P.zeros_like(good), good + 1, bad + 1
    grown, shrunk = scale * incr_ratio, P.maximum(scale * decr_ratio, P.ones_like(scale))
    grows, shrinks = good_now == incr_every_n_steps, bad_now == decr_every_n_nan_or_inf
    grown = P.where(grows & P.isfinite(grown), grown, scale)
    new = (
        P.where(found, P.where(shrinks, shrunk, scale), grown),
        P.where(found | grows, none, good_now),
        P.where(found & ~shrinks, bad_now, none),
    )
    stays = P.full([1], stop_update, "bool") if stop is None else P.reshape(P.cast(tensor(stop), "bool"), [1])
    return grads, *[P.where(stays, o, n) for o, n in zip((scale, good, bad), new, strict=True)]


@operator("select_output")
def select_output(mask: Any, x: Any) -> Any:
    """Return the input that is not selected is zero: it has no effect on a gradient."""
    x, mask = tensor(x), P.reshape(tensor(mask), [])
    return [[P.where(mask == k, x, P.zeros_like(x)) for k in range(2)]]
