"""Methods of tensors that are not public in PaddlePaddle, and that published packages call all the same."""

from __future__ import annotations

from typing import Any

import jax

from ..core.undrawn import Undrawn
from ..dispatch.define import add_methods
from ..eager.tensor import Tensor
from . import creation


def _initialize(self: Tensor) -> None:
    """Draw the first value of a parameter that was made under LazyGuard().

    Raises:
        RuntimeError: if it has values.
    """
    if not isinstance(self._data, Undrawn):
        raise RuntimeError(f"initialize(): {self.name!r} has values; only a parameter made under LazyGuard() has none")
    self._set_payload(self._data.drawn())


add_methods(
    {
        "inplace_version": property(lambda self: self._changes, doc="How often it has been changed in place."),
        "_inplace_version": lambda self: self._changes,
        "_is_initialized": lambda self: not isinstance(self._data, jax.ShapeDtypeStruct),
        "initialize": _initialize,
        "_grad_ivar": lambda self: self.grad,
        "_numel": lambda self: self.size,
        "_place_str": property(lambda self: str(self.place)),
        "_local_value": lambda self: self,
        "_local_shape": property(lambda self: self.shape),
        "_is_shared_underline_tensor_with": lambda self, other: self._is_shared_buffer_with(other),
    }
)


def _copy_to(self: Tensor, place: Any, blocking: bool = True) -> Tensor:
    """A copy at a place."""
    return self.to(place, copy=True)


def _slice(self: Tensor, begin: int, end: int) -> Tensor:
    """Its rows from `begin` to before `end`, which stay its own."""
    return self[begin:end]


def _clear(self: Tensor) -> None:
    """Let its data go: what is left has no elements."""
    self._rebind(creation.zeros([0], self.dtype), True, assigned=True)


add_methods((f.__name__, f) for f in (_copy_to, _slice, _clear))
add_methods({"_clear_data": _clear})
