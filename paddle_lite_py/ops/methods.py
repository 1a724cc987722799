"""Methods and properties of Tensor that are not ops: conversion, placement, new tensors of the same dtype."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core import place as places
from ..core.arrays import put
from ..core.interpreter import no_grad, state
from ..core.named_device import Device
from ..dispatch.define import add_methods
from ..eager import views
from ..eager.tensor import Tensor, wrap
from .creation import full
from .dynamic import is_eager
from .manipulation import cast, transpose
from .splitting import split


def _method(f: Callable[..., Any]) -> Callable[..., Any]:
    add_methods({f.__name__: f})
    return f


def _property(f: Callable[..., Any]) -> None:
    add_methods({f.__name__: property(f)})


# Conversions named after a dtype: x.float(), x.long(), ...
_CONVERSIONS = {
    **{"bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64"},
    **{"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64"},
    **{"cfloat": "complex64", "cdouble": "complex128"},
}


def _conversion(name: str) -> Callable[[Tensor], Tensor]:
    def convert(self: Tensor) -> Tensor:
        return cast(self, name)

    convert.__doc__ = f"Convert the elements to {name}."
    return convert


add_methods((method, _conversion(name)) for method, name in _CONVERSIONS.items())


@_method
def to(
    self: Tensor, *args: Any, device: Any = None, dtype: Any = None, blocking: bool = True, other: Any = None,
    non_blocking: bool = False, copy: bool = False,
) -> Tensor:  # fmt: skip
    """Convert the tensor to another device or dtype: `x.to("gpu", "float16")`, or those of another tensor: `x.to(y)`.

    Arguments:
        args: device, dtype or tensor, in any order.
        device, dtype: the same by keyword; None: unchanged.
        other: tensor whose device and dtype are taken.
        copy: copy the tensor even if nothing changes. Default: False.

    Returns:
        The converted tensor; the tensor itself if nothing changes.
    """
    for a in (*args, other):
        if isinstance(a, Tensor):
            device, dtype = a.place, a.dtype
        elif isinstance(a, places.Place) or (isinstance(a, str) and not _names_dtype(a)):
            device = a
        elif not isinstance(a, bool) and a is not None:
            dtype = a
    kept = self.clone() if copy else self
    out = kept if dtype is None or self.dtype == dtypes.as_dtype(dtype) else cast(self, dtype)
    return out if device is None else _to_place(out, places.as_place(device))


@_method
def _to(self: Tensor, device: Any = None, dtype: Any = None, blocking: bool = True) -> Tensor:
    """to(), by name or in order."""
    return self.to(device=device, dtype=dtype)


@_method
def _md5sum(self: Tensor) -> str:
    """Return the MD5 sum of the bytes."""
    return hashlib.md5(self.numpy().tobytes(), usedforsecurity=False).hexdigest()


def _names_dtype(name: str) -> bool:
    try:
        return bool(dtypes.as_dtype(name))
    except TypeError:
        return False


def _to_place(x: Tensor, place: places.Place) -> Tensor:
    """Return the tensor at a place. A program is placed as a whole, so inside one this changes nothing."""
    if not is_eager() or x.place == place:
        return x
    out = wrap(put(x._payload, place.device))
    if x.stop_gradient or not state.grad_enabled:
        out.stop_gradient = x.stop_gradient
        return out
    return state.interpreter.custom_gradient(_Move, _Move(getattr(x._payload, "sharding", None)), [x], out)


class _Move:
    """A move to another device, in the place of a PyLayer: its gradient moves back."""

    name = "to"
    _materialize = False
    _blocked: frozenset[int] = frozenset()

    def __init__(self, home: Any) -> None:
        self._home = home  # a sharding of JAX's; None: the device in use

    def backward(self, grad: Tensor) -> Tensor:
        """Return the gradient where the tensor was."""
        return wrap(put(grad._payload, self._home))


@_method
def cpu(self: Tensor) -> Tensor:
    """Return the tensor on the CPU."""
    return _to_place(self, places.CPUPlace())


@_method
def cuda(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """Return the tensor on a GPU.

    Arguments:
        device_id: int, index of the GPU. Default: 0.

    Returns:
        A tensor on that GPU.
    """
    return _to_place(self, places.CUDAPlace(device_id or 0))


@_method
def pin_memory(self: Tensor, blocking: bool = True) -> Tensor:
    """Return the tensor itself: XLA pins the memory that it transfers."""
    return self


@_method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Convert the tensor to the dtype of `other`.

    Arguments:
        other: tensor whose dtype is taken.

    Returns:
        A tensor with the shape of this one.
    """
    return cast(self, other.dtype)


@_method
def apply(self: Tensor, func: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply a function to the tensor: return `func(x)`.

    Arguments:
        func: function from a tensor to a tensor.

    Returns:
        The result of `func`.
    """
    return func(self)


@_method
def apply_(self: Tensor, func: Callable[[Tensor], Tensor]) -> Tensor:
    """Replace the tensor in place by `func(x)`.

    Arguments:
        func: function from a tensor to a tensor of the same shape and dtype.

    Returns:
        The tensor itself.
    """
    return self._rebind(func(self))


def _sibling(fill: Any, what: str) -> Callable[..., Tensor]:
    """new_zeros() and its like: sizes may be spread out, or given as `size`."""

    def new(
        var: Tensor,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Tensor:
        wanted: dict[str, Any] = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        return new_full(var, _size(sizes) if size is None else size, fill, **wanted)

    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [p for p in inspect.signature(new).parameters.values() if p.name not in ("sizes", "size")]
    shown.insert(1, inspect.Parameter("size", keyword))
    new.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    new.__doc__ = f"""Create a tensor of {what}.

    Arguments:
        size: list of ints, the shape.
        dtype, device: dtype and device of the result. Default: the dtype of this tensor, the current device.
        requires_grad: record gradients for the result. Default: False.

    Returns:
        A new tensor of shape `size`.
    """
    return new


@_method
def new_full(
    var: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Create a tensor filled with one value.

    Arguments:
        size: list of ints, the shape.
        fill_value: number.
        dtype, device: dtype and device of the result. Default: the dtype of this tensor, the current device.
        requires_grad: record gradients for the result. Default: False.

    Returns:
        A new tensor of shape `size`.
    """
    made: Any = full
    return made(size, fill_value, var.dtype if dtype is None else dtype, device=device, requires_grad=requires_grad)


add_methods({"new_zeros": _sibling(0, "zeros")})
add_methods({"new_ones": _sibling(1, "ones")})
add_methods({"new_empty": _sibling(0, "unspecified values")})


def _size(size: tuple[Any, ...]) -> Any:
    return size[0] if len(size) == 1 and isinstance(size[0], list | tuple | Tensor) else size


@_method
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set whether gradients are recorded for this tensor, in place.

    Arguments:
        requires_grad: bool. Default: True.

    Returns:
        The tensor itself.
    """
    self.stop_gradient = not requires_grad
    return self


@_method
def get_device(self: Tensor) -> int:
    """Return the index of the device; -1 for the CPU."""
    return -1 if self.place.is_cpu_place() else self.place.index


@_method
def is_dense(self: Tensor) -> bool:
    """Return True: the tensor is dense."""
    return True


@_method
def is_sparse(self: Tensor) -> bool:
    """Return False: the tensor is dense."""
    return False


@_method
def is_complex(self: Tensor) -> bool:
    """Return True if the dtype is complex."""
    return self.dtype.is_complex


@_method
def is_integer(self: Tensor) -> bool:
    """Return True if the dtype is an integer type."""
    return self.dtype.is_integer


@_method
def split_with_sizes(self: Tensor, split_sizes: list[int], dim: int = 0) -> list[Tensor]:
    """Split the tensor into parts of given sizes along a dimension.

    Arguments:
        split_sizes: list of ints, the sizes of the parts.
        dim: int, the dimension to split. Default: 0.

    Returns:
        A list of tensors.
    """
    return split(self, split_sizes, dim)


add_methods([("is_selected_rows", is_sparse), ("is_dist", is_sparse), ("is_tensor", is_dense)])


@_method
def to_dense(self: Tensor) -> Tensor:
    """Return the tensor itself: it is dense."""
    return self


@_method
def is_same_shape(self: Tensor, y: Tensor) -> bool:
    """Return True if the shape equals that of `y`.

    Arguments:
        y: tensor to compare with.
    """
    return self.shape == y.shape


@_method
def get_strides(self: Tensor) -> list[int]:
    """Return the strides: the number of elements between neighbors along each dimension."""
    return views.strides(self)


add_methods({"stride": lambda self, dim=None: get_strides(self) if dim is None else get_strides(self)[dim]})


@_property
def T(self: Tensor) -> Tensor:
    """The transpose: all dimensions in reverse order."""
    return transpose(self, list(range(self.ndim))[::-1])


@_property
def mT(self: Tensor) -> Tensor:
    """The matrix transpose: the last two dimensions swapped."""
    if self.ndim < 2:
        raise ValueError(f"mT needs at least 2 dimensions, got shape {[*self.shape]}")
    return transpose(self, [*range(self.ndim - 2), self.ndim - 1, self.ndim - 2])


@_property
def strides(self: Tensor) -> list[int]:
    """The strides: the number of elements between neighbors along each dimension."""
    return get_strides(self)


@_property
def device(self: Tensor) -> Any:
    """The device, by name: "cpu" or "gpu:0"; its `type` and `index` are those parts."""
    return Device(self.place.name)


@_property
def is_cuda(self: Tensor) -> bool:
    """True if the tensor is on a GPU."""
    return self.place.is_gpu_place()


@_property
def grad_fn(self: Tensor) -> Any:
    """The node of the tape that produced the tensor; None for a leaf."""
    return self._source


def _get_data(self: Tensor) -> Tensor:
    """Return the data as a detached tensor; assigning replaces the data of this tensor."""
    return self.detach()


def _set_data(self: Tensor, value: Any) -> None:
    source = value if isinstance(value, Tensor) else Tensor(value, self.dtype)
    with no_grad():
        views.adopt(self, source.detach(), self._twin())


def _get_requires_grad(self: Tensor) -> bool:
    """True if gradients are recorded for the tensor: the opposite of `stop_gradient`."""
    return not self.stop_gradient


add_methods({"data": property(_get_data, _set_data)})
add_methods({"requires_grad": property(_get_requires_grad, requires_grad_)})


def _of_sparse(name: str) -> Callable[..., Any]:
    def method(self: Tensor) -> Any:
        raise ValueError(f"{name}() is of sparse tensors, and this one is dense; make one with to_sparse_coo() before")

    method.__doc__ = "Available for sparse tensors only; a dense tensor raises ValueError."
    return method


add_methods((name, _of_sparse(name)) for name in ("values", "indices", "crows", "cols", "nnz"))
