"""The default initializer: the global one, the layer's own, or the usual one."""

from __future__ import annotations

from .base import Initializer
from .fixed import Constant
from .random import XavierUniform


class _Global:
    weight: Initializer | None = None
    bias: Initializer | None = None


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Set the initializers of all parameters created from now on whose ParamAttr has none.

    Arguments:
        weight_init: initializer of weights; None: the defaults of the layers.
        bias_init: initializer of biases; None: the defaults of the layers.

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
    """Return the initializer of a parameter whose ParamAttr has none.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.initializer.default_for(True, paddle.nn.initializer.Constant(0.0)) is not None
        True
    """
    chosen = (_Global.bias if is_bias else _Global.weight) or default
    return chosen or (Constant(0.0) if is_bias else XavierUniform())
