"""A place in a network where activations may be rounded."""

from __future__ import annotations

from typing import Any

from ..base import Layer

__all__ = ["Stub"]


class Stub(Layer):
    """The input itself; a place for an observer of activations.

    Arguments:
        observer: a factory of the layer that watches (or rounds) what passes; none by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.quant.Stub()(paddle.ones([1])).tolist()
        [1.0]
    """

    def __init__(self, observer: Any = None) -> None:
        super().__init__()
        self._observer = None if observer is None else observer._instance(self)

    def forward(self, input: Any) -> Any:
        """The input, seen by the observer."""
        return input if self._observer is None else self._observer(input)
