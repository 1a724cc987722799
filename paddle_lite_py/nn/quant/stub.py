"""A place in a network where activations may be rounded."""

from __future__ import annotations

from typing import Any

from ..base import Layer

__all__ = ["Stub"]


class Stub(Layer):
    """Identity layer that marks where QAT and PTQ insert an observer or quanter of activations.

    Arguments:
        observer: factory of the observer or quanter; None: that of the quantization config.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.quant.Stub()(paddle.ones([1])).tolist()
        [1.0]
    """

    def __init__(self, observer: Any = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: Any) -> Any:
        """Return the input."""
        return input


class QuanterStub(Layer):
    """Layer that replaces a Stub: an observer or quanter of activations.

    Arguments:
        layer: the stub.
        q_config: its quantization config, used if the stub has no observer; or None.
    """

    def __init__(self, layer: Stub, q_config: Any) -> None:
        super().__init__()
        factory = layer._observer or (q_config and q_config.activation)
        self._observer = None if factory is None else factory._instance(layer)

    def forward(self, input: Any) -> Any:
        """Return the input after the observer."""
        return input if self._observer is None else self._observer(input)
