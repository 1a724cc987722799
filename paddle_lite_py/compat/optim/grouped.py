"""Groups of parameters as torch writes them, and RMSprop as it computes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp

from ...core.argument_docs import document as _document
from ...optimizer.adaptive import RMSProp

__all__ = ["RMSprop", "groups"]

_NAMES = {"lr": "learning_rate", "eps": "epsilon", "alpha": "rho"}


def groups(params: Iterable[Any], lr: float) -> list[Any]:
    """Write torch's groups of parameters as those of paddle.optimizer, whose rates are factors of the optimizer's.

    Arguments:
        params: parameters, or groups: dicts with "params" and settings that differ from those of the optimizer.
        lr: the rate of the optimizer.

    Raises:
        ValueError: a group has a rate and lr is 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Linear(2, 2)
        >>> [group["learning_rate"] for group in paddle.compat.optim.groups([{"params": [net.bias], "lr": 0.5}], 2.0)]
        [0.25]
    """
    return [_group(p, lr) if isinstance(p, dict) else p for p in params]


def _group(given: dict[str, Any], lr: float) -> dict[str, Any]:
    made = {_NAMES.get(k, k): v for k, v in given.items()}
    if "learning_rate" in made:
        if not lr:
            raise ValueError(f"groups: lr is {lr} and a group has lr {made['learning_rate']}; expected lr above 0")
        made["learning_rate"] /= lr
    if "betas" in made:
        made["beta1"], made["beta2"] = made.pop("betas")
    return made


class RMSprop(RMSProp):
    """paddle.optimizer.RMSProp as torch has it: epsilon is added to the root, and steps are kept without their rate.

    `v = rho * v + (1 - rho) * grad**2`, `step = momentum * step + grad / (sqrt(v) + epsilon)`, `param -= lr * step`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.compat.optim.RMSprop(0.1, 0.75, 1.5, parameters=[w])
        >>> w.sum().backward(); opt.step()
        >>> round(w.item(), 4)
        0.95
    """

    @staticmethod
    def _rule(
        param: Any, grad: Any, state: Any, lr: Any, rho: float, epsilon: float, momentum: float, centered: bool
    ) -> tuple[Any, Any]:
        square = rho * state["mean_square"] + (1 - rho) * grad * grad
        mean = rho * state["mean_grad"] + (1 - rho) * grad if centered else state["mean_grad"]
        spread = square - mean * mean if centered else square
        step = momentum * state["momentum"] + grad / (jnp.sqrt(spread) + epsilon)
        return param - lr * step, {"momentum": step, "mean_square": square, "mean_grad": mean}


_document(globals())
