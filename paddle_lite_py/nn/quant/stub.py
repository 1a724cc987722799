"""A place in a network where activations may be rounded."""

from __future__ import annotations

from typing import Any

from ..base import Layer

__all__ = ["Stub"]


class Stub(Layer):
    """The input itself; a place where QAT and PTQ put an observer of activations.

    Arguments:
        observer: a factory of the layer that watches (or rounds) what passes; by default what the configuration says.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.quant.Stub()(paddle.ones([1])).tolist()
        [1.0]
    """

    def __init__(self, observer: Any = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class QuanterStub(Layer):
    """What takes the place of a Stub: an observer of what passes.

    Arguments:
        layer: the stub.
        q_config: what is chosen for it, whose activation counts if the stub has no observer; or None.
    """

    def __init__(self, layer: Stub, q_config: Any) -> None:
        super().__init__()
        factory = layer._observer or (q_config and q_config.activation)
        self._observer = None if factory is None else factory._instance(layer)

    def forward(self, input: Any) -> Any:
        """The input, seen by the observer."""
        return input if self._observer is None else self._observer(input)
