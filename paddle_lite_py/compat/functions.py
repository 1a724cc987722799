"""Functions of torch that paddle has not, or with other arguments and results."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

from ..eager.tensor import Tensor
from ..ops import joining, reduction, splitting
from ..ops import math as _math
from ..ops.convert import to_tensor
from ..ops.creation import zeros_like
from ..ops.norms import vector_norm
from ..ops.random import randint as _randint
from ..ops.search import where

__all__ = [
    *("addcdiv_", "addcmul_", "aminmax", "cartesian_prod", "chunk", "fmod", "index_copy_", "index_fill_", "new_tensor"),
    *("augmented", "broadcast_tensors", "norm", "randint", "select", "to_type", "unravel_index", "xlogy"),
]


def addcmul_(input: Tensor, tensor1: Any, tensor2: Any, *, value: float = 1) -> Tensor:
    """Add value * tensor1 * tensor2 to a tensor in place.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.addcmul_(paddle.ones([2]), paddle.ones([2]), paddle.ones([2]), value=0.5).tolist()
        [1.5, 1.5]
    """
    return input.add_(tensor1 * tensor2 * value)


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Return the index along each dimension of the elements that stand at places of the flat tensor.

    Arguments:
        indices: integers.
        shape: the shape of the tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [i.tolist() for i in paddle.compat.unravel_index(paddle.to_tensor([4, 5]), (2, 3))]
        [[1, 1], [1, 2]]
    """
    found = []
    for size in reversed([shape] if isinstance(shape, int) else [*shape]):
        found.append(indices % size)
        indices = indices // size
    return tuple(found[::-1])


def addcdiv_(input: Tensor, tensor1: Any, tensor2: Any, *, value: float = 1) -> Tensor:
    """Add value * tensor1 / tensor2 to a tensor in place.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.addcdiv_(paddle.ones([1]), paddle.ones([1]), 2 * paddle.ones([1]), value=-1).tolist()
        [0.5]
    """
    return input.add_(tensor1 / tensor2 * value)


def broadcast_tensors(*tensors: Tensor) -> list[Tensor]:
    """Broadcast tensors, each an argument of its own, to their common shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> a, b = paddle.compat.broadcast_tensors(paddle.ones([2, 1]), paddle.ones([3]))
        >>> a.shape, b.shape
        (paddle.Size([2, 3]), paddle.Size([2, 3]))
    """
    return joining.broadcast_tensors(tensors)


class Extremes(NamedTuple):
    """The least and the greatest elements.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.aminmax(paddle.to_tensor([3.0, 1.0])).min.item()
        1.0
    """

    min: Tensor
    max: Tensor


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Extremes:
    """Return the least and the greatest element, with `dim` of each slice.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [x.item() for x in paddle.compat.aminmax(paddle.to_tensor([3.0, 1.0, 2.0]))]
        [1.0, 3.0]
    """
    return Extremes(reduction.amin(input, dim, keepdim), reduction.amax(input, dim, keepdim))


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all combinations of the elements of tensors of one dimension, as rows.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1, 2])
        >>> paddle.compat.cartesian_prod(x, x).tolist()
        [[1, 1], [1, 2], [2, 1], [2, 2]]
    """
    product: Any = joining.cartesian_prod
    return product([*tensors])


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into parts of one size; the last one may be smaller, and there may be fewer parts than `chunks`.

    Arguments:
        chunks: how many parts at most.

    Raises:
        ValueError: chunks is below 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [x.tolist() for x in paddle.compat.chunk(paddle.arange(5), 3)]
        [[0, 1], [2, 3], [4]]
    """
    if chunks < 1:
        raise ValueError(f"chunk: chunks is {chunks}; expected at least 1")
    n = input.shape[dim]
    size = -(-n // chunks) or 1
    sizes = [size] * (n // size) + [n % size] * (n % size > 0) or [0]
    cut: Any = splitting.split
    return tuple(cut(input, sizes, dim))


def fmod(input: Any, other: Any) -> Tensor:
    """Return the remainder of a division, with the sign of the dividend.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.fmod(paddle.to_tensor([-3.0, 3.0]), 2).tolist()
        [-1.0, 1.0]
    """
    divisor: Any = other if isinstance(other, Tensor) else to_tensor(other, dtype=input.dtype)
    sizes: Any = _math.remainder(input.abs(), divisor.abs())
    return where(input < 0, -sizes, sizes)


def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Write slices into the places of a dimension, in place.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, at, rows = paddle.zeros([3]), paddle.to_tensor([2, 0]), paddle.to_tensor([5.0, 6.0])
        >>> paddle.compat.index_copy_(x, 0, at, rows).tolist()
        [6.0, 0.0, 5.0]
    """
    input[(slice(None),) * (dim % input.ndim) + (index,)] = source
    return input


def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Fill the slices in some places of a dimension with a number, in place.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.index_fill_(paddle.zeros([3]), 0, paddle.to_tensor([2]), 1.0).tolist()
        [0.0, 0.0, 1.0]
    """
    input[(slice(None),) * (dim % input.ndim) + (index,)] = value
    return input


_AUGMENTED = {
    "+=": ("add_", operator.iadd), "-=": ("subtract_", operator.isub), "*=": ("multiply_", operator.imul),
    "/=": ("divide_", operator.itruediv), "//=": ("floor_divide_", operator.ifloordiv), "**=": ("pow_", operator.ipow),
    "%=": ("remainder_", operator.imod), "&=": ("bitwise_and_", operator.iand), "|=": ("bitwise_or_", operator.ior),
    "^=": ("bitwise_xor_", operator.ixor), "@=": ("", operator.imatmul), "<<=": ("", operator.ilshift),
    ">>=": ("", operator.irshift),
}  # fmt: skip


def augmented(target: Any, operation: str, value: Any) -> Any:
    """Do an augmented assignment as torch does: a tensor is changed in place, so that others that hold it see it.

    Arguments:
        target: a tensor, or a value of Python.
        operation: such as "+=".
        value: the other operand.

    Returns:
        What the name is assigned: the tensor itself.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> weights = [paddle.ones([2])]
        >>> for w in weights:
        ...     w = paddle.compat.augmented(w, "-=", 0.5)
        >>> weights[0].tolist(), paddle.compat.augmented(1, "+=", 2)
        ([0.5, 0.5], 3)
    """
    method, python = _AUGMENTED[operation]
    return getattr(target, method)(value) if method and isinstance(target, Tensor) else python(target, value)


def new_tensor(input: Tensor, data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor with the dtype of another one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.new_tensor(paddle.ones([2]), [1, 2]).dtype
        paddle.float32
    """
    return to_tensor(data, dtype=input.dtype if dtype is None else dtype, stop_gradient=not requires_grad)


def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """Return the p-norm of all elements, or of those along one or more dimensions, as of a vector.

    Arguments:
        p: order of the norm; "fro" is 2. Default: "fro".
        dtype: to convert to before.

    Raises:
        ValueError: p is "nuc".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.norm(paddle.ones([2, 8]), 1, dim=(0, 1)).item()
        16.0
    """
    if isinstance(p, str) and p != "fro":
        raise ValueError(f"norm: p is {p!r}; expected a number or 'fro': write paddle.linalg.norm(x, p='nuc')")
    x = input if dtype is None else input.astype(dtype)
    axis = [*dim] if isinstance(dim, tuple) else dim
    return vector_norm(x, 2.0 if isinstance(p, str) else float(p), axis, keepdim)


def randint(*args: Any, size: Any = None, low: int = 0, high: Any = None, dtype: Any = None, **more: Any) -> Tensor:
    """Draw integers below a bound: randint(high, size) or randint(low, high, size).

    Arguments:
        more: device and requires_grad, which is False.

    Raises:
        TypeError: size is not given, or an argument is not known.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.randint(1, (2, 3)).tolist()
        [[0, 0, 0], [0, 0, 0]]
    """
    if unknown := sorted({*more} - {"device", "requires_grad"}):
        raise TypeError(f"randint: {unknown[0]} is not known here; paddle.seed() begins the random stream")
    *bounds, last = args if size is None else (*args, size)
    if not isinstance(last, list | tuple):
        raise TypeError(f"randint: the last argument is {last!r}; expected the size as a tuple")
    if len(bounds) == 2:
        low, high = bounds
    elif bounds:
        low, high = (0, bounds[0]) if high is None else (bounds[0], high)
    return _randint(low, high, [*last], dtype)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return the slice at an index of a dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.select(paddle.to_tensor([[1, 2], [3, 4]]), 1, 0).tolist()
        [1, 3]
    """
    return input[(slice(None),) * (dim % input.ndim) + (index,)]


_KINDS = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8", "CharTensor": "int8", "ShortTensor": "int16", "IntTensor": "int32", "LongTensor": "int64",
    "BoolTensor": "bool",
}  # fmt: skip


def to_type(input: Tensor, dtype: Any = None) -> Tensor | str:
    """Convert a tensor to a dtype, or to that of a type of tensors such as paddle.FloatTensor, or of its name.

    Arguments:
        dtype: a dtype or a type; None: return the name that torch gives to the type of the tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([1])
        >>> paddle.compat.to_type(x, paddle.LongTensor).dtype, paddle.compat.to_type(x)
        (paddle.int64, 'torch.FloatTensor')
    """
    if dtype is None:
        found = next((kind for kind, held in _KINDS.items() if input.dtype == held), str(input.dtype))
        return f"torch.{'cuda.' if input.place.is_gpu_place() else ''}{found}"
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", "")
    return input.astype(_KINDS.get(name.rpartition(".")[2], dtype))


def xlogy(input: Any, other: Any) -> Tensor:
    """Compute input * log(other), and 0 where input is 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.xlogy(paddle.to_tensor([0.0, 2.0]), paddle.to_tensor([0.0, 1.0])).tolist()
        [0.0, 0.0]
    """
    found = input * (other.log() if isinstance(other, Tensor) else math.log(other))
    return where((input == 0) & (other == other), zeros_like(found), found)
