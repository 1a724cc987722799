"""The base of initializers, the global ones, and the gain of nonlinearities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.no_effect import Immaterial, no_effect
from ...eager.tensor import Tensor

Shape = tuple[int, ...]


class Initializer:
    """Draws the first value of a parameter: NumPy on the host, so that a new shape costs no compilation.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.nn.initializer.Constant(1.0), paddle.nn.initializer.Initializer)
        True
    """

    def draw(self, shape: Shape, dtype: dtypes.DType) -> np.ndarray:
        """An array of this shape and dtype."""
        return np.asarray(self._values(shape), np.float64).astype(dtype.np)

    def _values(self, shape: Shape) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say what it draws")

    @no_effect(block=Immaterial("a parameter knows its program"))
    def __call__(self, param: Tensor, block: Any = None) -> Tensor:
        """Draw a parameter anew."""
        param.set_value(self.draw(tuple(param.shape), param.dtype))
        return param

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r:.40}' for k, v in vars(self).items())})"


class _Global:
    weight: Initializer | None = None
    bias: Initializer | None = None


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Draw all parameters made from here on in this way, unless their ParamAttr says how; None: as the layers do.

    Raises:
        TypeError: if an argument is neither an Initializer nor None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.initializer.set_global_initializer(paddle.nn.initializer.Constant(3.0))
        >>> paddle.nn.Linear(1, 1).weight.item()
        3.0
        >>> paddle.nn.initializer.set_global_initializer(None)
    """
    for name, given in (("weight_init", weight_init), ("bias_init", bias_init)):
        if given is not None and not isinstance(given, Initializer):
            raise TypeError(
                f"set_global_initializer: {name} is a {type(given).__name__}; expected an Initializer or None"
            )
    _Global.weight, _Global.bias = weight_init, bias_init


def default_for(is_bias: bool, default: Initializer | None) -> Initializer:
    """The initializer of a parameter whose ParamAttr names none.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.initializer.default_for(True, paddle.nn.initializer.Constant(0.0)) is not None
        True
    """
    from .fixed import Constant
    from .random import XavierUniform

    chosen = (_Global.bias if is_bias else _Global.weight) or default
    return chosen or (Constant(0.0) if is_bias else XavierUniform())


_GAINS = {
    **dict.fromkeys(["sigmoid", "linear", "identity"], 1.0),
    **{f"conv{n}d{t}": 1.0 for n in (1, 2, 3) for t in ("", "_transpose")},
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor on the standard deviation that a nonlinearity asks for; `param` is the slope of leaky_relu.

    Raises:
        ValueError: if the nonlinearity is not known.

    Examples:
        >>> calculate_gain("tanh")
        1.6666666666666667
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else float(param)) ** 2))
    if nonlinearity not in _GAINS:
        known = ", ".join(sorted([*_GAINS, "leaky_relu"]))
        raise ValueError(f"calculate_gain: nonlinearity is {nonlinearity!r}; expected one of {known}")
    return _GAINS[nonlinearity]
