"""Parameters that start as what a function makes of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.arrays import is_array
from ...core.interpreter import no_grad, use
from ...core.param_attr import ParamAttr
from ...eager.execute import EAGER
from ...eager.tensor import Parameter, wrap
from ..base import Layer
from ..initializer import Initializer


class _Derived(Initializer):
    """Draws by a function of other parameters, of what they hold when the first value is made."""

    def __init__(self, function: Callable[..., Any], sources: tuple[Any, ...]) -> None:
        self.function, self.payloads = function, [s._payload for s in sources]

    def draw(self, _shape: Any, dtype: Any) -> np.ndarray:
        """Return an array of this shape and dtype."""
        arrays = [d if is_array(d) else d.concrete("a first value") for d in self.payloads]
        with use(EAGER), no_grad():
            return np.asarray(self.function(*map(wrap, arrays))._payload).astype(dtype.np)


def derive_parameter(layer: Layer, shape: list[int], function: Callable[..., Any], *sources: Any) -> Parameter:
    """Return a parameter for a layer, which starts as a function of other parameters."""
    attr = ParamAttr(initializer=_Derived(function, sources))
    return layer.create_parameter(shape, attr, sources[0].dtype)
