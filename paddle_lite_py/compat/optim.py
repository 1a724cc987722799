"""What programs written for torch.optim need besides paddle.optimizer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.argument_docs import document as _document

__all__ = ["groups"]
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


_document(globals())
