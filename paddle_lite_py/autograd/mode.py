"""Gradient mode: switching the recording of operations off and on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.interpreter import state


class _GradMode:
    """A context manager, and a decorator, for one setting."""

    enabled = True

    def __init__(self, func: Callable[..., Any] | None = None) -> None:
        self._before: list[bool] = []
        self._func = func
        if func is not None:
            functools.update_wrapper(self, func)

    def __enter__(self) -> None:
        self._before.append(state.grad_enabled)
        state.grad_enabled = self.enabled

    def __exit__(self, *exc: Any) -> None:
        state.grad_enabled = self._before.pop()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._func is not None:
            with type(self)():
                return self._func(*args, **kwargs)
        (func,) = args
        kind = type(self)

        @functools.wraps(func)
        def wrapper(*a: Any, **k: Any) -> Any:
            with kind():
                return func(*a, **k)

        return wrapper


class no_grad(_GradMode):
    """Context manager and decorator in which operations are not recorded for gradients.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor(1.0, stop_gradient=False)
        >>> with paddle.no_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    enabled = False

    def __get__(self, obj: Any, owner: type) -> Any:
        return self if obj is None else functools.partial(self, obj)


class enable_grad(_GradMode):
    """Context manager and decorator in which operations are recorded again, inside no_grad().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([1]); x.stop_gradient = False
        >>> with paddle.no_grad(), paddle.enable_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        False
    """

    enabled = True


class set_grad_enabled(_GradMode):
    """Set whether operations are recorded for gradients, from now on or in a `with` block.

    Arguments:
        mode: True to record, False not to.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([1]); x.stop_gradient = False
        >>> with paddle.set_grad_enabled(False):
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.enabled = bool(mode)
        self._before.append(state.grad_enabled)
        state.grad_enabled = self.enabled

    def __enter__(self) -> None:
        state.grad_enabled = self.enabled


def is_grad_enabled() -> bool:
    """Return whether operations are recorded for gradients.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_grad_enabled()
        True
    """
    return state.grad_enabled
