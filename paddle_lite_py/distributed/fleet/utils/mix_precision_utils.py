"""Gradients of parameters in low precision, added up in float32."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import Any

from ....core.interpreter import after_backward, no_grad
from ....eager.tensor import Tensor
from ....nn import Layer
from .hybrid_parallel_util import obtain_optimizer_parameters_list

__all__ = ["MixPrecisionLayer", "MixPrecisionOptimizer", "MixPrecisionScaler"]


class MixPrecisionLayer(Layer):
    """A layer whose gradients are added up in `main_grad` of each parameter, in float32, in the place of `grad`.

    Arguments:
        layers: the layer, in float16 or bfloat16.
        dtype: which of them.

    Raises:
        ValueError: if it is another dtype.
    """

    def __init__(self, layers: Layer, dtype: str = "float16") -> None:
        super().__init__()
        if dtype not in ("float16", "bfloat16"):
            raise ValueError(f"MixPrecisionLayer: dtype is {dtype!r}; expected 'float16' or 'bfloat16'")
        self._layers = layers
        for p in layers.parameters():
            if not hasattr(p, "main_grad"):
                p.main_grad = None
        layers.__dict__["_wide_gradients"] = self  # it lives as long as the layer
        after_backward.append(_collector(weakref.ref(self)))

    def collect(self) -> None:
        """Add the gradients that have come to those in float32."""
        with no_grad():
            for p in self._layers.parameters():
                if p.grad is not None:
                    wide = p.grad.astype("float32")
                    p.main_grad = wide if p.main_grad is None else p.main_grad + wide
                    p.clear_gradient(set_to_zero=False)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the layer's."""
        return self._layers(*inputs, **kwargs)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Return the layer's, under its own names."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Load the layer's state."""
        return self._layers.set_state_dict(state_dict, use_structured_name)


def _collector(layer: Any) -> Callable[[], None]:
    def call() -> None:
        if (found := layer()) is None:
            after_backward.remove(call)
        else:
            found.collect()

    return call


class MixPrecisionOptimizer:
    """The optimizer, with all its methods, by the gradients in `main_grad`.

    Arguments:
        optimizer: with multi_precision=True, so that it has the parameters in float32 too.
    """

    def __init__(self, optimizer: Any) -> None:
        self._inner_opt = optimizer
        self._parameter_list = obtain_optimizer_parameters_list(optimizer)

    def step(self) -> None:
        """Update the parameters."""
        for p in self._parameter_list:
            if (wide := getattr(p, "main_grad", None)) is not None:
                p.grad = wide
        try:
            self._inner_opt.step()
        finally:
            for p in self._parameter_list:
                if getattr(p, "main_grad", None) is not None:
                    p.clear_gradient(set_to_zero=False)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Forget the gradients; zeros are kept where `set_to_zero` says so."""
        for p in self._parameter_list:
            wide = getattr(p, "main_grad", None)
            if wide is not None:
                p.main_grad = wide * 0 if set_to_zero else None
            p.clear_gradient(set_to_zero=False)

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


def MixPrecisionScaler(scaler: Any) -> Any:
    """Return the scaler, which divides the gradients in `main_grad`."""
    unscaled = scaler._unscaled

    def of_main(self: Any, optimizer: Any) -> Tensor:
        held = [p for p in obtain_optimizer_parameters_list(optimizer) if getattr(p, "main_grad", None) is not None]
        for p in held:
            p.grad = p.main_grad
        found = unscaled(optimizer)
        for p in held:
            p.main_grad = p.grad
            p.clear_gradient(set_to_zero=False)
        return found

    scaler._unscaled = types.MethodType(of_main, scaler)
    return scaler
