"""Named regions of code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from ..core.errors import user_frame

__all__ = ["RecordEvent"]


class RecordEvent:
    """A named stretch of the user's code in the trace: a context manager, a decorator, or begin() and end().

    Arguments:
        name: what the trace calls it.
        event_type: kept as it is; traces here have one type.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.profiler.RecordEvent("forward"):
        ...     y = paddle.ones([2]) + 1
    """

    def __init__(self, name: str, event_type: Any = None) -> None:
        self.name, self.event_type = name, event_type
        self._open: list[Any] = []

    def begin(self) -> None:
        """Start the stretch."""
        where = user_frame()
        annotation = jax.profiler.TraceAnnotation(self.name, user=1, line=f"{where.filename}:{where.lineno}")
        annotation.__enter__()
        self._open.append(annotation)

    def end(self) -> None:
        """End the stretch; nothing if none was started."""
        if self._open:
            self._open.pop().__exit__(None, None, None)

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with RecordEvent(self.name, self.event_type):
                return function(*args, **kwargs)

        return wrapper
