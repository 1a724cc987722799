"""Base class of initializers, and the gain of nonlinearities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.arrays import as_array
from ...core.interpreter import no_grad, use
from ...core.no_effect import Immaterial, no_effect
from ...eager.execute import EAGER
from ...eager.tensor import Parameter, Tensor

Shape = tuple[int, ...]


class Initializer:
    """Base class of initializers: they compute the initial value of a parameter, in NumPy on the host.

    A new shape therefore costs no compilation.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.nn.initializer.Constant(1.0), paddle.nn.initializer.Initializer)
        True
    """

    def draw(self, shape: Shape, dtype: dtypes.DType) -> np.ndarray:
        """Return the initial value, an array of this shape and dtype."""
        if 0 in shape:  # a fan may be 0 then
            return np.zeros(shape, dtype.np)
        return np.asarray(self._values(shape), np.float64).astype(dtype.np)

    def _values(self, shape: Shape) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say what it draws")

    def __call__(self, param: Tensor, block: Any = None) -> Tensor:
        """Draw a parameter anew."""
        return self.forward(param, block)

    @no_effect(block=Immaterial("a parameter knows its program"))
    def forward(self, param: Tensor, block: Any = None) -> Tensor:
        """Draw a parameter anew; subclasses may override this or `__call__`."""
        param.set_value(self.draw(tuple(param.shape), param.dtype))
        return param

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r:.40}' for k, v in vars(self).items() if k[0] != '_')})"


def first_value(initializer: Any, shape: Shape, dtype: dtypes.DType) -> Any:
    """Return the initial value by an initializer: what it draws, or writes into a parameter when it is called.

    Example:
        >>> first_value(lambda param, block: param.fill_(2.0), (2,), dtypes.float32).tolist()
        [2.0, 2.0]
    """
    cls = type(initializer)
    if isinstance(initializer, Initializer) and cls.forward is Initializer.forward:
        if cls.__call__ is Initializer.__call__:
            return initializer.draw(shape, dtype)
    with use(EAGER), no_grad():
        param = Parameter.of_payload(as_array(np.zeros(shape, dtype.np), dtype), "", True)
        initializer(param, None)
        return param._payload


_GAINS = {
    **dict.fromkeys(["sigmoid", "linear", "identity"], 1),
    **{f"conv{n}d{t}": 1 for n in (1, 2, 3) for t in ("", "_transpose")},
    **{f"conv_transpose{n}d": 1 for n in (1, 2, 3)},
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the recommended gain (factor of the standard deviation) for an activation.

    Arguments:
        nonlinearity: name of the activation: "sigmoid", "linear", "conv1d" and so on (1), "tanh" (5 / 3), "relu"
            (sqrt(2)), "leaky_relu" (sqrt(2 / (1 + param**2))) or "selu" (3 / 4).
        param: negative slope of leaky_relu; None: 0.01.

    Returns:
        The gain, a float.

    Raises:
        ValueError: if the activation is unknown.

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
