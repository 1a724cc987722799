"""Quanters: layers that round as 8-bit arithmetic does, while a network is trained."""

from __future__ import annotations

from typing import Any

from ..core.interpreter import no_grad
from ..core.no_effect import no_effect
from ..eager.tensor import Tensor
from ..nn.base import Layer
from ..ops.creation import full
from .base import BY_INPUT, BaseQuanter, QuanterFactory, fake_quantize

__all__ = ["FakeQuanterWithAbsMaxObserver", "FakeQuanterWithAbsMaxObserverLayer"]


class FakeQuanterWithAbsMaxObserverLayer(BaseQuanter):
    """Fake quantization: `round(x / scale * q_max) * scale / q_max`.

    The scale is a moving average of the largest absolute value.

    Arguments:
        layer: no effect: the layer it belongs to.
        moving_rate: decay rate of the moving average. Default: 0.9.
        bit_length: number of bits. Default: 8.
        dtype: dtype of the scale. Default: 'float32'.

    Source: Jacob et al., Quantization and Training of Neural Networks, 2017.
    """

    @no_effect(layer=BY_INPUT)
    def __init__(
        self,
        layer: Layer,
        name: str | None = None,
        moving_rate: float = 0.9,
        bit_length: int = 8,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._rate, self._bits = moving_rate, bit_length
        for buffer, value in (("_scale", 0.001), ("_state", 1.0), ("_accum", 1.0)):
            self.register_buffer(buffer, full([1], value, dtype))

    def forward(self, input: Any) -> Any:
        """Return the fake-quantized input."""
        if self.training:
            with no_grad():
                largest = input.abs().max().reshape([1]).astype(self._scale.dtype)
                self._state.set_value(self._state * self._rate + 1)
                self._accum.set_value(self._accum * self._rate + largest)
                self._scale.set_value(self._accum / self._state)
        fn: Any = fake_quantize
        return fn(input, self._scale, most=float(2 ** (self._bits - 1) - 1))

    def scales(self) -> Tensor:
        """Return the scale."""
        return self._scale

    def bit_length(self) -> int:
        """Return the number of bits."""
        return self._bits


def FakeQuanterWithAbsMaxObserver(  # noqa: N802  (the reference's name)
    moving_rate: float = 0.9, bit_length: int = 8, dtype: str = "float32", name: str | None = None
) -> QuanterFactory:
    """Return the factory of FakeQuanterWithAbsMaxObserverLayer, for QuantConfig.

    Arguments:
        moving_rate: decay rate of the moving average. Default: 0.9.
        bit_length: number of bits. Default: 8.
        dtype: dtype of the scale. Default: 'float32'.

    Returns:
        A QuanterFactory.

    Examples:
        >>> FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
        FakeQuanterWithAbsMaxObserver(name=None,moving_rate=0.9,bit_length=8,dtype=float32)
    """
    kind = FakeQuanterWithAbsMaxObserverLayer
    return QuanterFactory(kind, name=name, moving_rate=moving_rate, bit_length=bit_length, dtype=dtype)
