"""Create tensors from data, copy them, and query their type."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.arrays import as_array, is_array
from ..core.capsules import Capsule
from ..core.dtypes import DType, get_default_dtype
from ..core.interpreter import state
from ..core.symbolic import is_symbolic
from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..dispatch.respelling import respelt
from ..eager.tensor import Tensor, wrap
from .joining import stack
from .promote import natural
from .types import Array, Ints

__all__ = [
    *("as_tensor", "asarray", "assign", "clone", "from_dlpack", "from_numpy", "is_complex", "is_floating_point"),
    *("is_integer", "is_tensor", "numel", "rank", "shape", "to_tensor", "tolist"),
]


_NUMBERS = frozenset((int, float, bool))


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Tensor:
    """Create a tensor from data, always as a copy.

    Arguments:
        data: number, nested lists of numbers, NumPy array (whose dtype is kept) or tensor.
        dtype: dtype of the result. Default: that of the data; the default floating dtype for Python floats, int64 for
            integers.
        place: device of the result. Default: the current device.
        stop_gradient: False: record gradients for the tensor. Default: True.

    Returns:
        A tensor with the values of `data`.

    Raises:
        TypeError: if the data are not numbers.
        ValueError: if nested lists are ragged.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.to_tensor([[1, 2], [3, 4]]).dtype
        paddle.int64
    """
    if data is None or isinstance(data, str | bytes):
        raise TypeError(f"to_tensor: data is {data!r}; expected a number, a list, a NumPy array or a tensor")
    if isinstance(data, np.ndarray) and data.dtype == object:  # perhaps of open sizes
        data = data.tolist()
    out = _gather(data, dtype) if _holds_tensors(data) else None
    if out is None:
        out = wrap(as_array([0.0][:0] if isinstance(data, list | tuple) and not data else data, dtype, place))
        if (made := state.interpreter.constants) is not None:
            made[id(out)] = out, out._payload
    if not stop_gradient:
        out.stop_gradient = False
    return out


def _holds_tensors(data: Any) -> bool:
    """Return True for a traced tensor or an open size, or a nested list with one: its value is not known yet."""
    if data.__class__ in _NUMBERS:
        return False
    if isinstance(data, list | tuple):
        return any(_holds_tensors(d) for d in data)
    return not is_array(data._payload) if isinstance(data, Tensor) else is_symbolic(data)


def _gather(data: Any, dtype: Any) -> Tensor:
    out = data.clone() if isinstance(data, Tensor) else _stack(data, _holds_floats(data))
    return (out if dtype is None else out.astype(dtype)).detach()


def _holds_floats(data: Any) -> bool:
    return any(map(_holds_floats, data)) if isinstance(data, list | tuple) else isinstance(data, float)


def _stack(data: Any, are_floats: bool) -> Any:
    if isinstance(data, list | tuple):
        return stack([_stack(d, are_floats) for d in data])
    if not is_symbolic(data):
        return data if isinstance(data, Tensor) else to_tensor(data, get_default_dtype() if are_floats else None)
    size = dimension(size=data)
    return size.astype(get_default_dtype()) if are_floats else size


def tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """Create a tensor from data: `to_tensor()` with PyTorch's argument names.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.as_tensor([1.0], requires_grad=True).stop_gradient
        False
    """
    return to_tensor(data, dtype, device, not requires_grad)


as_tensor = tensor


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """Convert data to a tensor; a tensor without gradients is returned as it is unless something changes.

    Returns:
        A tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.asarray([1, 2]).tolist()
        [1, 2]
    """
    stays = isinstance(obj, Tensor) and obj.stop_gradient is not requires_grad
    if stays and not copy and device is None and (dtype is None or obj.dtype == dtype):
        return obj
    return to_tensor(obj, dtype, device, not requires_grad)


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """Create a tensor from a NumPy array, as a copy.

    Returns:
        A tensor with the shape and dtype of the array.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.from_numpy(np.array([1, 2])).tolist()
        [1, 2]
    """
    return to_tensor(ndarray)


def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Create a tensor from a DLPack capsule or an object with `__dlpack__()`, as a copy.

    Arguments:
        device: device of the result; None: that of the data.
        copy: accepted; False raises an error, because the data are always copied.

    Returns:
        A tensor with the shape and dtype of the data.

    Raises:
        BufferError: for copy=False, and for data that cannot be taken: of a capsule that has been used before, or on a
            device that is not there.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.from_dlpack(np.array([1, 2])).tolist()
        [1, 2]
    """
    if copy is False:
        raise BufferError("from_dlpack: copy=False cannot be had, since tensors do not share their data; leave it out")
    try:
        shared = jnp.from_dlpack(dlpack if hasattr(dlpack, "__dlpack__") else Capsule(dlpack))
    except RuntimeError as e:  # of a device that is not there, or of a version that JAX does not read
        raise BufferError(f"from_dlpack: {str(e).splitlines()[0]}") from None
    out = wrap(jnp.copy(shared).block_until_ready())  # the owner of the memory may overwrite it
    return out if device is None else out.to(device)


@op(name="assign")
def _assign(x: Any, /) -> Any:
    return natural(x)


@composite
def assign(x: Tensor, output: Tensor | None = None) -> Tensor:
    """Copy a tensor; gradients flow through the copy.

    Arguments:
        x: tensor, array, list or number (shape [1]); as in NumPy, Python floats give float64.
        output: tensor to write the result into; None: a new tensor.

    Returns:
        The copy, or `output`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.assign([1, 2]).tolist()
        [1, 2]
    """
    if not isinstance(x, Tensor):
        x = to_tensor(x if _holds_tensors(x) else np.atleast_1d(x))
    out = _assign(x)
    return out if output is None else output._rebind(out, reshapes=True, assigned=True)


def _cloned(x: Tensor) -> Tensor:
    return _assign(x)


def clone(x: Tensor, name: str | None = None) -> Tensor:
    """Copy a tensor, by its method; gradients flow through the copy.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.clone(paddle.to_tensor([1, 2])).tolist()
        [1, 2]
    """
    return (x if isinstance(x, Tensor) else to_tensor(x)).clone()


_cloned.__name__, _cloned.__doc__ = "clone", clone.__doc__
composite(_cloned, methods=["clone"], around=call_cached("x"))


@op(name="numel", methods=["numel", "nelement"], grad=False)
def numel(x: Array, /) -> Any:
    """Return the number of elements as a tensor.

    Returns:
        A 0-D int64 tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.numel(paddle.zeros([2, 3])).item()
        6
    """
    return jnp.asarray(math.prod(x.shape), jnp.int64)


@op(name="shape", grad=False)
def shape(input: Array, /) -> Any:
    """Return the shape as a tensor.

    Returns:
        A 1-D int64 tensor of length `input.ndim`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.shape(paddle.zeros([2, 3])).tolist()
        [2, 3]
    """
    return jnp.stack([jnp.asarray(n, jnp.int64) for n in input.shape]) if input.shape else jnp.zeros(0, jnp.int64)


@op(name="dimension", grad=False)
def dimension(*, size: Ints) -> Any:
    """Return an unknown dimension of a program (`x.shape[0]`) as a tensor."""
    return jnp.asarray(size, jnp.int64)


@op(name="rank", methods=["rank"], grad=False)
def rank(input: Array, /) -> Any:
    """Return the number of dimensions as a tensor.

    Returns:
        A 0-D int32 tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.rank(paddle.zeros([2, 3])).item()
        2
    """
    return jnp.asarray(input.ndim, jnp.int32)


def tolist(x: Tensor) -> Any:
    """Convert a tensor to nested Python lists.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.tolist(paddle.to_tensor([1, 2]))
        [1, 2]
    """
    return x.tolist()


@respelt
def is_tensor(x: Any) -> bool:
    """Return True if `x` is a tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_tensor(paddle.zeros([1])), paddle.is_tensor([1])
        (True, False)
    """
    return isinstance(x, Tensor)


@respelt
def is_floating_point(x: Tensor) -> bool:
    """Return True if the dtype of `x` is floating-point.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_floating_point(paddle.zeros([1]))
        True
    """
    return _dtype_of("is_floating_point", x).is_floating


def is_integer(x: Tensor) -> bool:
    """Return True if the dtype of `x` is an integer type.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_integer(paddle.zeros([1]))
        False
    """
    return _dtype_of("is_integer", x).is_integer


@respelt
def is_complex(x: Tensor) -> bool:
    """Return True if the dtype of `x` is complex.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.is_complex(paddle.zeros([1]))
        False
    """
    return _dtype_of("is_complex", x).is_complex


def _dtype_of(function: str, x: Any) -> DType:
    if not isinstance(x, Tensor):
        raise TypeError(f"{function}: x is a {type(x).__name__}; expected a tensor")
    return x.dtype
