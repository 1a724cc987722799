"""Eager execution, as a block and as a switch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ..autograd import no_grad
from ..device import device_guard
from ..framework import in_dynamic_mode as enabled
from ..ops.convert import to_tensor as to_variable
from .guards import dygraph_guard

__all__ = ["enabled", "guard", "no_grad", "to_variable"]


@contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Eager execution in the block.

    Args:
        place: the device of the block.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.base.dygraph.guard():
        ...     print(paddle.ones([1]).item())
        1.0
    """
    with dygraph_guard(True), nullcontext() if place is None else device_guard(place):
        yield
