"""The agreement between processes that share gradients."""

from __future__ import annotations

from typing import TypeVar

from ....group import init_parallel_env
from ....scaling import agreed

__all__ = ["GroupShardedScaler"]

S = TypeVar("S")


def GroupShardedScaler(scaler: S) -> S:
    """Return the scaler, which leaves out a step where any process has found an infinite gradient.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> scaler = paddle.amp.GradScaler()
        >>> GroupShardedScaler(scaler) is scaler
        True
    """
    return agreed(scaler, init_parallel_env())
