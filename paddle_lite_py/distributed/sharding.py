"""Parameters, gradients and states that are spread over processes. One process holds them all."""

from __future__ import annotations

import os
from typing import Any

from ..framework import save

__all__ = ["group_sharded_parallel", "save_group_sharded_model"]

LEVELS = ("os", "os_g", "p_g_os")


def group_sharded_parallel(
    model: Any, optimizer: Any, level: str, scaler: Any = None, group: Any = None, **settings: Any
) -> tuple[Any, Any, Any]:
    """A model, its optimizer and its scaler for many processes: the same, for one.

    Args:
        model, optimizer, scaler: what trains.
        level: what is spread: "os", "os_g" or "p_g_os".
        group, settings: accepted for compatibility.

    Raises:
        ValueError: if there is no such level.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> model = paddle.nn.Linear(1, 1)
        >>> opt = paddle.optimizer.AdamW(parameters=model.parameters())
        >>> group_sharded_parallel(model, opt, "os_g")[0] is model
        True
    """
    if level not in LEVELS:
        raise ValueError(f"group_sharded_parallel: level is {level!r}; expected one of {', '.join(LEVELS)}")
    return model, optimizer, scaler


def save_group_sharded_model(model: Any, output: str, optimizer: Any = None) -> None:
    """Save model.pdmodel, and model.pdopt of an optimizer, into a folder.

    Args:
        model: a layer.
        output: the folder.
        optimizer: its optimizer.
    """
    os.makedirs(output, exist_ok=True)
    save(model.state_dict(), os.path.join(output, "model.pdmodel"))
    if optimizer is not None:
        save(optimizer.state_dict(), os.path.join(output, "model.pdopt"))
