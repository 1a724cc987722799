"""Methods of tensors that are private in PaddlePaddle, but used by published packages."""

from __future__ import annotations

from typing import Any

import jax

from ..core.uninitialized import Uninitialized
from ..dispatch.define import add_methods
from ..eager.tensor import Tensor
from . import creation


def _initialize(self: Tensor) -> None:
    """Initialize a parameter created under `LazyGuard()`.

    Raises:
        RuntimeError: if it is initialized already.
    """
    if not isinstance(self._payload, Uninitialized):
        raise RuntimeError(f"initialize(): {self.name!r} has values; only a parameter made under LazyGuard() has none")
    self._set_payload(self._payload.drawn())


add_methods(
    {
        "inplace_version": property(lambda self: self._changes, doc="Number of in-place changes."),
        "_inplace_version": lambda self: self._changes,
        "_zero_grads": lambda self: self.clear_gradient(True),
        "_register_grad_hook": lambda self, hook: self.register_hook(hook),
        "_is_initialized": lambda self: not isinstance(self._payload, jax.ShapeDtypeStruct),
        "initialize": _initialize,
        "_grad_ivar": lambda self: self.grad,
        "_set_grad_ivar": lambda self, grad: setattr(self, "grad", grad),
        "_numel": lambda self: self.size,
        "_place_str": property(lambda self: str(self.place)),
        "_local_value": lambda self: self,
        "_local_shape": property(lambda self: self.shape),
        "_is_shared_underline_tensor_with": lambda self, other: self._is_shared_buffer_with(other),
    }
)


def _copy_to(self: Tensor, place: Any, blocking: bool = True) -> Tensor:
    """Copy the tensor to a device."""
    return self.to(place, copy=True)


def _slice(self: Tensor, begin: int, end: int) -> Tensor:
    """Return the rows from `begin` to `end` (excluded), as a view."""
    return self[begin:end]


def _clear(self: Tensor) -> None:
    """Free the data: the tensor becomes empty."""
    self._rebind(creation.zeros([0], self.dtype), True, assigned=True)


def _view_of(self: Tensor, source: Tensor, shape: list[int] | None = None) -> None:
    """Move the tensor to the storage of `source`, outside of the graph; whether it requires gradient stays."""
    kept, seen = self.stop_gradient, source.detach()
    self.set_(seen, shape, None, seen.offset)
    self.stop_gradient = kept


def _share_buffer_to(self: Tensor, dst: Tensor) -> None:
    """Move `dst` to the storage of this tensor; it keeps its shape and takes the dtype.

    Raises:
        ValueError: if this tensor has fewer elements than `dst`.
    """
    dst._view_of(self, dst.shape)


add_methods((f.__name__, f) for f in (_copy_to, _slice, _clear, _view_of, _share_buffer_to))
add_methods({"_clear_data": _clear, "_unsafe_share_buffer_to": _share_buffer_to})
