"""Where the gradient of a parameter is: in `grad`, or, added up in float32, in `main_grad`."""

from __future__ import annotations

from typing import Any


def gradient_of(parameter: Any) -> Any:
    """Return the gradient; None where there is none."""
    wide = getattr(parameter, "main_grad", None)
    return parameter.grad if wide is None else wide


def set_gradient(parameter: Any, gradient: Any) -> None:
    """Put another one in its place."""
    if getattr(parameter, "main_grad", None) is None:
        parameter.grad = gradient
    else:
        parameter.main_grad = gradient
