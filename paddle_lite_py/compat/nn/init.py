"""Initialization with torch's sizes: of a weight [out, in] the second one is fan_in."""

from __future__ import annotations

import math
from typing import Any

from ...core.argument_docs import document as _document
from ...nn import init as _own_init

__all__ = ["fan_in_and_fan_out", "kaiming_normal_", "kaiming_uniform_"]
_init: Any = _own_init  # whose list of names mypy cannot read


def fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """Return how many inputs and outputs a weight [out, in, ...] connects to each other.

    Raises:
        ValueError: the tensor has less than two dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.init.fan_in_and_fan_out(paddle.ones([4, 2, 3, 3]))
        (18, 36)
    """
    if tensor.ndim < 2:
        raise ValueError(f"fan_in_and_fan_out: the tensor has the shape {[*tensor.shape]}; expected [out, in, ...]")
    out, into, *rest = tensor.shape
    return into * math.prod(rest), out * math.prod(rest)


def _deviation(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is {mode!r}; expected 'fan_in' or 'fan_out'")
    fan = fan_in_and_fan_out(tensor)[mode == "fan_out"]
    return _init.calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_normal_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Fill a weight [out, in, ...] in place with normal values of the deviation gain / sqrt(fan).

    Arguments:
        a: slope of a leaky ReLU after it. Default: 0.
        mode: "fan_in" or "fan_out". Default: "fan_in".
        nonlinearity: function after it. Default: "leaky_relu".

    Raises:
        ValueError: mode is another one, or the tensor has less than two dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> weight = paddle.compat.nn.init.kaiming_normal_(paddle.zeros([400, 100]), mode="fan_out")
        >>> round(float(weight.std()), 2)  # sqrt(2 / 400)
        0.07
    """
    return _init.normal_(tensor, 0.0, _deviation(tensor, a, mode, nonlinearity))


def kaiming_uniform_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Fill a weight [out, in, ...] in place with uniform values within gain * sqrt(3 / fan).

    Arguments:
        a: slope of a leaky ReLU after it. Default: 0.
        mode: "fan_in" or "fan_out". Default: "fan_in".
        nonlinearity: function after it. Default: "leaky_relu".

    Raises:
        ValueError: mode is another one, or the tensor has less than two dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> weight = paddle.compat.nn.init.kaiming_uniform_(paddle.zeros([400, 25]), 5**0.5)
        >>> bool(weight.abs().max() <= 0.2)  # 1 / sqrt(25)
        True
    """
    bound = math.sqrt(3.0) * _deviation(tensor, a, mode, nonlinearity)
    return _init.uniform_(tensor, -bound, bound)


_document(globals())
