"""Handlers around what is traced: what they catch of the user's, and that they catch nothing of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2static import ConversionError
from paddle_lite_py.core.errors import TracedValueError
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.traced_number import TracedNumber
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.frame import Frame

from .errors import GraphBreak, StagingError

# Exceptions that redirect the trace.
SIGNALS = (TracedValueError, StagingError, ConversionError, GraphBreak)


class Catching:
    """Notes that a block may catch what it raises.

    Arguments:
        kinds: gives the types that it catches, one or a tuple.
        manager: it is that of a `with`, not of a `try`.
    """

    def __init__(self, kinds: Callable[[], Any], manager: bool) -> None:
        self.kinds, self.manager = kinds, manager

    def __enter__(self) -> None:
        self.builder: Any = mode.interpreter
        if isinstance(self.builder, Builder):
            self.builder.catching.append((self.builder.frame, self.kinds, self.manager))

    def __exit__(self, _: Any, error: Any, __: Any) -> None:
        if isinstance(self.builder, Builder):
            self.builder.catching.pop()
            if _is_of_tracing(error):
                raise TracedValueError(str(error)) from error


def _is_of_tracing(error: Any) -> bool:
    """Whether eager code would not raise an error: it tells of what stands for a number, or of a depth without end."""
    return isinstance(error, RecursionError) or (isinstance(error, TypeError) and TracedNumber.__name__ in str(error))


def catcher(builder: Builder, exc: BaseException) -> Frame | None:
    """Return the frame of the innermost handler around that catches an exception; None if there is none."""
    for frame, kinds, _ in reversed(builder.catching):
        found = kinds()
        types = [
            t for k in (found if isinstance(found, tuple) else (found,)) for t in (k if type(k) is tuple else (k,))
        ]
        if isinstance(exc, tuple(types)):
            return frame
    return None


def leaves_manager(builder: Builder) -> bool:
    """Whether the innermost block around is that of a `with`."""
    return bool(builder.catching) and builder.catching[-1][2]
