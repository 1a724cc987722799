"""The agreement between processes that share gradients, and the dtypes of their parameters."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from .....core import dtypes
from ....group import init_parallel_env
from ....scaling import agreed

__all__ = ["GroupShardedScaler", "Type"]

S = TypeVar("S")


class Type(Enum):
    """Name the dtypes of parameters that processes share, for programs that count bytes by them.

    Examples:
        >>> Type.fp16.value, Type(paddle.float32).name
        (paddle.float16, 'fp32')
    """

    fp16 = dtypes.float16
    bf16 = dtypes.bfloat16
    fp32 = dtypes.float32


def GroupShardedScaler(scaler: S) -> S:
    """Return the scaler, which leaves out a step where any process has found an infinite gradient.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> scaler = paddle.amp.GradScaler()
        >>> GroupShardedScaler(scaler) is scaler
        True
    """
    return agreed(scaler, init_parallel_env())
