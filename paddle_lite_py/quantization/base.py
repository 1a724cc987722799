"""Base classes of quanters and observers: layers that round, and recipes that make them."""

from __future__ import annotations

import sys
from typing import Any

from ..core.no_effect import Immaterial
from ..eager.tensor import Tensor
from ..nn.base import Layer
from ..ops.quantize import fake_quantize

__all__ = ["BaseObserver", "BaseQuanter", "QuanterFactory", "fake_quantize", "quanter"]


BY_INPUT = Immaterial("the scale is that of the tensors that pass")


class BaseQuanter(Layer):
    """Base class of layers that quantize (round) their input.

    Arguments:
        settings: name_scope and dtype; see Layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.quantization.BaseQuanter, paddle.nn.Layer)
        True
    """

    def scales(self) -> Tensor:
        """Return the scale: the largest absolute value that can be represented."""
        raise NotImplementedError(f"{type(self).__name__} must define scales()")

    def zero_points(self) -> Tensor | None:
        """Return None: quantization is symmetric."""
        return None

    def quant_axis(self) -> int | None:
        """Return the dimension along which scales differ; None: one scale for the tensor."""
        return None

    def bit_length(self) -> int:
        """Return the number of bits."""
        return 8


class BaseObserver(BaseQuanter):
    """Base class of layers that observe their input to determine scales, and return it unchanged.

    Arguments:
        settings: name_scope and dtype; see Layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.quantization.BaseObserver, paddle.nn.Layer)
        True
    """

    def cal_thresholds(self) -> None:
        """Compute the scales from the observed values."""


class QuanterFactory:
    """Factory of a quanter or observer with its settings: creates one for each place in a network.

    Arguments:
        kind: class of the quanter.
        args: its arguments.
        kwargs: its keyword arguments.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver(), paddle.quantization.QuanterFactory)
        True
    """

    def __init__(self, kind: Any, *args: Any, **kwargs: Any) -> None:
        self.kind, self.args, self.kwargs = kind, args, kwargs

    def _instance(self, layer: Layer) -> BaseQuanter:
        return self.kind(layer, *self.args, **self.kwargs)

    def __repr__(self) -> str:
        shown = [*map(str, self.args), *(f"{k}={v}" for k, v in self.kwargs.items())]
        return f"{self.kind.__name__.removesuffix('Layer')}({','.join(shown)})"


def quanter(class_name: str) -> Any:
    """Decorate a quanter class, a Layer whose first argument is the layer it belongs to, to define its factory.

    Arguments:
        class_name: name of the factory, which is defined in the module of the class.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> @paddle.quantization.quanter("Mine")
        ... class MineLayer(paddle.quantization.BaseQuanter):
        ...     def __init__(self, layer, bits=8):
        ...         super().__init__()
        >>> MineLayer.__name__
        'MineLayer'
    """

    def decorate(kind: type[BaseQuanter]) -> type[BaseQuanter]:
        def recipe(*args: Any, **kwargs: Any) -> QuanterFactory:
            return QuanterFactory(kind, *args, **kwargs)

        recipe.__name__ = recipe.__qualname__ = class_name
        setattr(sys.modules[kind.__module__], class_name, recipe)
        return kind

    return decorate
