"""Lazy initialization of parameters."""

from __future__ import annotations

from contextlib import ExitStack

from ..eager.abstract import abstract


class LazyGuard:
    """Context manager in which parameters are created without data.

    Initialize each later with its `initialize()` method, or load values.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.LazyGuard():
        ...     layer = paddle.nn.Linear(2, 1)
        >>> layer.weight._is_initialized()
        False
        >>> for parameter in layer.parameters():
        ...     parameter.initialize()
        >>> layer(paddle.ones([3, 2])).shape
        paddle.Size([3, 1])
    """

    def __init__(self) -> None:
        self._entered = ExitStack()

    def __enter__(self) -> None:
        self._entered.enter_context(abstract())

    def __exit__(self, *_raised: object) -> None:
        self._entered.close()
