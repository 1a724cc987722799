"""Other names of functions."""

from __future__ import annotations

import math
from typing import Any

from ..core import dtypes
from ..core.dtypes import VarType
from ..core.no_effect import Immaterial, no_effect
from ..dispatch.define import add_methods, composite
from ..eager import views
from ..eager.pending import payload_of
from ..eager.tensor import Tensor
from . import binary, creation, decomposition, gather, joining, linalg, manipulation, norms, scatter, signal, slicing
from .dynamic import is_eager
from .inplace import filled
from .logic import (
    equal,
    greater_equal,
    greater_than,
    less_equal,
    less_than,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from .math import add_n, increment
from .random import _randint, bounds, drawn_from
from .search import where
from .softmax import softmax as softmax_along
from .types import DTypeLike

__all__ = [
    *("equal_", "greater_equal_", "greater_than_", "hann_window", "less_", "less_equal_", "less_than_", "logical_and_"),
    *("logical_not_", "logical_or_", "logical_xor_", "not_equal_", "softmax", "where_"),
]


@composite
def softmax(input: Tensor, dim: int | None = None, dtype: DTypeLike = None) -> Any:
    """Compute the softmax along a dimension: `out = exp(x) / sum(exp(x))`.

    Without `dim`, tensors of 1 or 3 dimensions use the first one here, others the second, as PyTorch does.

    Returns:
        A tensor with the shape of `input`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.softmax(paddle.zeros([1, 4])).tolist()
        [[0.25, 0.25, 0.25, 0.25]]
    """
    return softmax_along(input, (0 if input.ndim in (0, 1, 3) else 1) if dim is None else dim, dtype)


@composite(creates=True)
@no_effect(layout=Immaterial("tensors are dense"))
def hann_window(window_length: int, periodic: bool = True, *, dtype: DTypeLike = "float32", layout: Any = None) -> Any:
    """Create a Hann window: `0.5 - 0.5 * cos(2 * pi * n / N)`.

    Arguments:
        periodic: True: N = `window_length`, for spectral analysis; False: N = `window_length - 1`, symmetric. Default:
            True.

    Returns:
        A 1-D tensor [window_length].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [round(x, 4) for x in paddle.hann_window(4).tolist()]
        [0.0, 0.5, 1.0, 0.5]
    """
    length = window_length if periodic else window_length - 1
    at = creation.arange(0, window_length, dtype=dtype)
    return 0.5 - 0.5 * (at * (2 * math.pi / max(length, 1))).cos()


# -- methods that are functions of the facade ----------------------------------------------------------------------
add_methods(
    (f.__name__, f)
    for f in (
        *(add_n, increment, binary.polar, joining.block_diag, manipulation.broadcast_shape, linalg.multi_dot),
        *(
            manipulation.broadcast_shapes,
            joining.broadcast_tensors,
            norms.cdist,
            gather.shard_index,
            scatter.scatter_nd,
        ),
        *(decomposition.svd_lowrank, decomposition.pca_lowrank, signal.stft, signal.istft),
    )
)
add_methods({"reverse": slicing.flip})


def _dtype_method(name: str) -> Any:
    def convert(self: Tensor) -> Tensor:
        return self.astype(name)

    convert.__doc__ = f"Convert the elements to {name}."
    return convert


_NAMED = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "complex64", "complex128")
add_methods((name, _dtype_method(name)) for name in _NAMED)


_BOOLEANS = """In-place form of `{of}()`: the tensor becomes boolean.

Examples:
    >>> import paddle_lite_py as paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.{name}(x, paddle.ones([2])) is x, x.dtype
    (True, paddle.bool)
"""


def _replacing(name: str, function: Any) -> Any:
    def method(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        made = function(x, *args, **kwargs)
        if made.shape != x.shape:
            raise ValueError(f"{name}: the result has the shape {[*made.shape]}; that of x, {[*x.shape]}, must stay")
        return x._rebind(made, True)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = _BOOLEANS.format(name=name, of=function.__name__)
    add_methods({name: method})
    return method


equal_, not_equal_, less_ = (
    _replacing("equal_", equal),
    _replacing("not_equal_", not_equal),
    _replacing("less_", less_than),
)
less_than_, less_equal_ = _replacing("less_than_", less_than), _replacing("less_equal_", less_equal)
greater_than_, greater_equal_ = _replacing("greater_than_", greater_than), _replacing("greater_equal_", greater_equal)
logical_and_, logical_or_ = _replacing("logical_and_", logical_and), _replacing("logical_or_", logical_or)
logical_xor_, logical_not_ = _replacing("logical_xor_", logical_xor), _replacing("logical_not_", logical_not)


def _method(f: Any) -> Any:
    add_methods({f.__name__: f})
    return f


@_method
def where_(condition: Tensor, x: Any = None, y: Any = None, name: Any = None) -> Tensor:
    """In-place form of `where()`: replace `x` by `where(condition, x, y)`.

    Returns:
        `x`, with its new value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.where_(x > 1, x, paddle.zeros([2])).tolist(), x.tolist()
        ([0.0, 2.0], [0.0, 2.0])
    """
    return x._rebind(where(condition, x, y))


@_method
def random_(x: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Tensor:
    """Fill the tensor in place with random integers from [from_, to).

    Arguments:
        from_, to: int bounds; a single one is the upper bound. Default: up to the largest integer that the dtype
            represents exactly.
        generator: random generator to use; None: the default one.

    Returns:
        The tensor itself.
    """
    most = {"float16": 2**11, "bfloat16": 2**8, "float32": 2**24, "float64": 2**53}
    if to is None and not from_:
        to = most.get(x.dtype.name) or dtypes.iinfo(x.dtype).max
    low, high = bounds("random_", from_, to)
    drawn = drawn_from(generator, _randint, (low, high), (tuple(payload_of(x).shape), dtypes.int64))
    return x._rebind(filled(x, drawn.astype(x.dtype)))


@_method
@no_effect(fill_zero=Immaterial("what is new is 0 in any case"))
def resize_(x: Tensor, shape: Any, fill_zero: bool = False, name: Any = None) -> Tensor:
    """Resize the tensor in place: excess elements are dropped, missing ones are 0.

    Arguments:
        shape: list of ints, the new shape.

    Returns:
        The tensor itself.
    """
    count, flat = math.prod(shape), x.reshape([-1])
    kept = flat[:count] if count <= x.size else joining.concat([flat, creation.zeros([count - x.size], x.dtype)])
    return x._rebind(kept.reshape(list(shape)), True)


@_method
def set_(
    x: Tensor, source: Any = None, shape: Any = None, stride: Any = None, offset: int = 0, name: Any = None
) -> Tensor:
    """Make the tensor a view of the storage of `source`; without a source it becomes empty.

    Arguments:
        source: tensor to view; None: no elements.
        shape: list of ints. Default: the shape of `source`.
        stride: list of ints, the number of elements between neighbors in each dimension. Default: contiguous.
        offset: int, start of the view in bytes. Default: 0.

    Returns:
        The tensor itself.

    Raises:
        ValueError: if the offset is within an element, or an element lies outside of source.
    """
    if source is None:
        return x._rebind(creation.zeros([0], x.dtype), True)
    shape = list(source.shape if shape is None else shape)
    if stride is None:
        stride = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    seen = slicing.as_strided(source.contiguous(), shape, list(stride), offset)
    views.adopt(x, seen, x._twin())
    return x


@_method
def data_ptr(x: Tensor) -> int:
    """Return the address of the data.

    Raises:
        ValueError: in a program, where tensors have no data.
    """
    if not is_eager():
        raise ValueError("data_ptr(): a tensor of a program has no data before it runs; ask outside of it")
    data = x._payload
    return int(data.ctypes.data if hasattr(data, "ctypes") else data.unsafe_buffer_pointer())


@_method
def _is_shared_buffer_with(x: Tensor, other: Tensor) -> bool:
    """True if both show elements of one storage."""
    return views.shares(x, other)


@_method
def is_coalesced(self: Tensor) -> bool:
    """Return False: only sparse tensors can be coalesced."""
    return False


add_methods([("is_sparse_coo", is_coalesced), ("is_sparse_csr", is_coalesced)])
add_methods({"layout": property(lambda self: "NCHW", doc="The memory layout, always row-major.")})
add_methods({"type": property(lambda self: VarType.DENSE_TENSOR, doc="The storage type: a dense tensor.")})
add_methods({"offset": property(views.offset, doc="Offset of the first element in the storage, in bytes.")})


@_method
def sparse_dim(self: Tensor) -> int:
    """Return 0, the number of sparse dimensions of a dense tensor."""
    return 0


@_method
def dense_dim(x: Tensor) -> int:
    """Return the number of dense dimensions: all of them."""
    return x.ndim


@_method
def reconstruct_from_(x: Tensor, other: Tensor) -> None:
    """Replace the value, shape, dtype and graph position of the tensor by those of another one.

    Arguments:
        other: tensor to take over.
    """
    x._rebind(other.clone(), True, assigned=True)
    x.stop_gradient = other.stop_gradient


for _name in ("placements", "process_mesh", "num_shard"):
    add_methods({_name: property(lambda self: None, doc="None: the tensor is on one device.")})
