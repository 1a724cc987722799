"""Activations by the name of an operator, as `act` of layers gives them."""

from __future__ import annotations

from typing import Any

from ..ops import unary
from . import functional as F

# Operators whose functions have another name, or other defaults.
_OPERATORS: dict[str, tuple[str, dict[str, float]]] = {
    "brelu": ("hardtanh", {"min": 0.0, "max": 24.0}),
    "hard_shrink": ("hardshrink", {}),
    "hard_sigmoid": ("hardsigmoid", {"slope": 0.2}),
    "hard_swish": ("hardswish", {}),
    "leaky_relu": ("leaky_relu", {"negative_slope": 0.02}),
    "logsigmoid": ("log_sigmoid", {}),
    "tanh_shrink": ("tanhshrink", {}),
}


def apply_activation(x: Any, act: str | None) -> Any:
    """Return the activation of x with that name; None: x itself.

    Raises:
        ValueError: there is no operator or function of that name.

    Examples:
        >>> apply_activation(paddle.to_tensor([-1.0, 2.0]), "leaky_relu").tolist()
        [-0.019999999552965164, 2.0]
    """
    if act is None:
        return x
    name, settings = _OPERATORS.get(act, (act, {}))
    function = getattr(F, name, None) or (getattr(unary, name) if name in unary.__all__ else None)
    if function is None:
        raise ValueError(f"act is {act!r}; expected the name of an activation of paddle.nn.functional, such as 'relu'")
    return function(x, **settings)
