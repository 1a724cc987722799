"""What quanters and observers share: layers that round, and recipes that make them."""

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
    """Base of the layers that round what passes through them.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.quantization.BaseQuanter, paddle.nn.Layer)
        True
    """

    def scales(self) -> Tensor:
        """The largest absolute value that is kept."""
        raise NotImplementedError(f"{type(self).__name__} must define scales()")

    def zero_points(self) -> Tensor | None:
        """None: zero stays zero."""
        return None

    def quant_axis(self) -> int | None:
        """The axis with a scale for each place; None: there is one scale."""
        return None

    def bit_length(self) -> int:
        """Bits of the numbers."""
        return 8


class BaseObserver(BaseQuanter):
    """Base of the layers that only look at what passes, to choose scales.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.quantization.BaseObserver, paddle.nn.Layer)
        True
    """

    def cal_thresholds(self) -> None:
        """Choose the scales from what was seen."""


class QuanterFactory:
    """A kind of quanter with its settings: makes one for each place.

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
    """Decorate a quanter (a Layer whose first argument is the layer that it serves) to name its recipe.

    The recipe is put beside the class, under class_name.

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
