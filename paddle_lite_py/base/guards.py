"""The mode of a block or a function, as programs of PaddlePaddle's inside switch it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..framework import in_dynamic_mode
from ..static import disable_static, enable_static


@contextmanager
def dygraph_guard(tracer: Any) -> Iterator[None]:
    """Run the block eagerly, or in static mode if there is no tracer.

    Args:
        tracer: what _dygraph_tracer() gives, or None.
    """
    before = in_dynamic_mode()
    (enable_static if tracer is None else disable_static)()
    try:
        yield
    finally:
        (disable_static if before else enable_static)()


def switch_to_static_graph(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function run in static mode, whatever the mode of its caller.

    Args:
        function: builds or runs programs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> switch_to_static_graph(paddle.in_dynamic_mode)(), paddle.in_dynamic_mode()
        (False, True)
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with dygraph_guard(None):
            return function(*args, **kwargs)

    return call
