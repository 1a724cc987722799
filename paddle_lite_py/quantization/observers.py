"""Observers: layers that look at what passes, to choose the scales of a network that is trained already."""

from __future__ import annotations

from typing import Any

from ..core.interpreter import no_grad
from ..core.no_effect import no_effect
from ..eager.tensor import Tensor
from ..nn.base import Layer
from ..ops.creation import zeros
from .base import BY_INPUT, BaseObserver, QuanterFactory

__all__ = ["AbsmaxObserver", "AbsmaxObserverLayer"]


class AbsmaxObserverLayer(BaseObserver):
    """Observer of the largest absolute value.

    Arguments:
        layer: no effect: the layer it belongs to.
        quant_bits: number of bits. Default: 8.
    """

    @no_effect(layer=BY_INPUT)
    def __init__(self, layer: Layer, quant_bits: int = 8) -> None:
        super().__init__()
        self._bits = quant_bits
        self.register_buffer("_max", zeros([1]))

    def forward(self, input: Any) -> Any:
        """Record the input and return it unchanged."""
        with no_grad():
            self._max.set_value(self._max.maximum(input.abs().max().reshape([1]).astype("float32")))
        return input

    def scales(self) -> Tensor:
        """Return the largest absolute value."""
        return self._max

    def bit_length(self) -> int:
        """Return the number of bits."""
        return self._bits


def AbsmaxObserver(quant_bits: int = 8) -> QuanterFactory:  # noqa: N802  (the reference's name)
    """Return the factory of AbsmaxObserverLayer, for QuantConfig.

    Arguments:
        quant_bits: number of bits. Default: 8.

    Returns:
        A QuanterFactory.
    """
    return QuanterFactory(AbsmaxObserverLayer, quant_bits=quant_bits)
