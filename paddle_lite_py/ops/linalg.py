"""Products of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.jax_compat.sizes import is_known
from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .promote import promote, promote_all, promote_operands
from .types import Array, TensorLike

__all__ = [
    *("addmm", "baddbmm", "bmm", "cross", "dot", "einsum", "ger", "inner", "kron", "matmul", "mm", "multi_dot"),
    *("mv", "outer", "tensordot", "vander", "vecdot"),
]


@op(methods=["matmul"], operators=["__matmul__", "__rmatmul__"], amp="white")
def matmul(x: Array, y: Array, /, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    """Compute the matrix product of two tensors; leading dimensions are broadcast.

    Arguments:
        transpose_x, transpose_y: transpose the last two dimensions first. Default: False.

    Returns:
        A tensor [..., n, m] for `x` [..., n, k] and `y` [..., k, m]; a 1-D operand's dimension is contracted and
        removed.

    Raises:
        ValueError: if the inner sizes differ.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.matmul(paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0], [4.0]])).tolist()
        [[11.0]]
    """
    x, y = promote(x, y)
    x, y = _t(x) if transpose_x else x, _t(y) if transpose_y else y
    _need_equal(x.shape[-1], y.shape[-2] if y.ndim > 1 else y.shape[0])
    return product(x, y)


# Up to this many multiplications a fused loop is faster than a GEMM call.
TINY = 512


def product(x: Any, y: Any) -> Any:
    """Compute `jnp.matmul` by the form that is faster for the sizes."""
    if _is_tiny(x, y):
        return (x[:, :, None] * y[None]).sum(1)
    return jnp.matmul(x, y)


def _is_tiny(x: Any, y: Any) -> bool:
    if not x.ndim == y.ndim == 2 or x.dtype != y.dtype or x.dtype not in (jnp.float32, jnp.float64):
        return False
    sizes = (*x.shape, y.shape[1])
    return all(map(is_known, sizes)) and math.prod(sizes) <= TINY


def _need_equal(inner: Any, other: Any) -> None:
    if is_known(inner) and is_known(other) and inner != other:
        raise ValueError(f"the last axis of x has size {inner}, but the matching axis of y has size {other}")


def _t(x: Any) -> Any:
    return jnp.swapaxes(x, -1, -2) if x.ndim > 1 else x


def _check_ndim(ndim: int, **operands: Any) -> None:
    for name, x in operands.items():
        if x.ndim != ndim:
            raise ValueError(f"{name} has {x.ndim} dimensions; expected {ndim}")


@op(methods=["mm"], amp="white")
def mm(input: Array, mat2: Array, /) -> Any:
    """Compute the matrix product of two matrices, or of batches of matrices.

    Returns:
        A tensor [..., n, m] for inputs [..., n, k] and [..., k, m].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.mm(paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0], [4.0]])).tolist()
        [[11.0]]
    """
    _need_equal(input.shape[-1], mat2.shape[-2:][0])
    return jnp.matmul(*promote(input, mat2))


@op(methods=["bmm"], amp="white")
def bmm(x: Array, y: Array, /) -> Any:
    """Compute the batched matrix product: `out[b] = x[b] @ y[b]`.

    Returns:
        A tensor [b, n, m] for `x` [b, n, k] and `y` [b, k, m].

    Raises:
        ValueError: if `x` or `y` does not have three dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 1])).shape
        paddle.Size([2, 1, 1])
    """
    _check_ndim(3, x=x, y=y)
    _need_equal(x.shape[-1], y.shape[-2])
    return jnp.matmul(*promote(x, y))


@op(methods=["mv"], amp="white")
def mv(x: Array, vec: Array, /) -> Any:
    """Compute the product of a matrix and a vector.

    Returns:
        A tensor [n] for `x` [n, k] and `vec` [k].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.mv(paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([3.0, 4.0])).tolist()
        [11.0]
    """
    _check_ndim(2, x=x)
    _check_ndim(1, vec=vec)
    return jnp.matmul(*promote(x, vec))


@op(methods=["dot"])
def dot(x: Array, y: Array, /) -> Any:
    """Compute the dot product along the last dimension.

    Returns:
        A 0-D tensor for 1-D inputs; [batch] for [batch, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.dot(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).item()
        11
    """
    if x.shape != y.shape:
        raise ValueError(f"x has the shape {list(x.shape)} and y {list(y.shape)}; expected one shape")
    x, y = promote(x, y)
    return jnp.sum(x * y, -1).astype(x.dtype)


@op
def vecdot(x: Array, y: Array, /, axis: int = -1) -> Any:
    """Compute the dot product along a dimension; the elements of `x` are conjugated.

    Returns:
        The products, without the dimension `axis`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.vecdot(paddle.to_tensor([[1, 2]]), paddle.to_tensor([[3, 4]])).tolist()
        [11]
    """
    x, y = promote(x, y)
    return jnp.sum(jnp.conj(x) * y, axis if x.ndim or y.ndim else None).astype(x.dtype)


@op(methods=["inner"])
def inner(x: Array, y: Array, /) -> Any:
    """Compute the inner product over the last dimensions of `x` and `y`.

    Returns:
        A tensor of shape `x.shape[:-1] + y.shape[:-1]`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.inner(paddle.to_tensor([1, 2]), paddle.to_tensor([[3, 4], [5, 6]])).tolist()
        [11, 17]
    """
    if 1 in (x.size, y.size):
        return jnp.multiply(*promote_operands(x, y))
    return jnp.inner(*promote(x, y))


@op(methods=["outer", "ger"])
def outer(x: Array, y: Array, /) -> Any:
    """Compute the outer product of two tensors, which are flattened.

    Returns:
        A tensor [x.size, y.size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.outer(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    return jnp.outer(*promote(x, y))


@op(methods=["cross"])
def cross(x: Array, y: Array, /, axis: int = 9) -> Any:
    """Compute the cross product of 3-element vectors.

    Arguments:
        axis: int, the dimension of size 3 that holds the vectors. Default: 9, the first dimension of size 3.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cross(paddle.to_tensor([1, 0, 0]), paddle.to_tensor([0, 1, 0])).tolist()
        [0, 0, 1]
    """
    x, y = jnp.broadcast_arrays(*promote(x, y))
    if axis == 9:
        axis = next((i for i, n in enumerate(x.shape) if n == 3), -1)
    if x.shape[axis] != 3:
        raise ValueError(f"cross() needs an axis of size 3, got shape {list(x.shape)}")
    return jnp.cross(x, y, axis=axis)


@composite(methods=["addmm"], inplace="addmm_", around=call_cached("input", "x", "y"))
def addmm(input: Tensor, x: Tensor, y: TensorLike, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """Compute `beta * input + alpha * (x @ y)` of matrices.

    Returns:
        A matrix [n, m] for `x` [n, k] and `y` [k, m].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.addmm(paddle.ones([1, 1]), paddle.ones([1, 2]), paddle.ones([2, 1])).tolist()
        [[3.0]]
    """
    return _add_product(input, x, y, beta, alpha, 2)


@composite(
    methods=["baddbmm"],
    inplace="baddbmm_",
    around=call_cached("input", "x", "y"),
)
def baddbmm(input: Tensor, x: Tensor, y: TensorLike, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """Compute `beta * input + alpha * (x @ y)` of batches of matrices.

    Returns:
        A tensor [b, n, m] for `x` [b, n, k] and `y` [b, k, m].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.baddbmm(paddle.ones([1, 1, 1]), paddle.ones([1, 1, 2]), paddle.ones([1, 2, 1])).tolist()
        [[[3.0]]]
    """
    return _add_product(input, x, y, beta, alpha, 3)


@op(name="addmm", amp="white")
def _add_product(input: Any, x: Any, y: Any, beta: Any, alpha: Any, /, ndim: int) -> Any:
    _check_ndim(ndim, x=x, y=y)
    _need_equal(x.shape[-1], y.shape[-2])
    input, x, y = promote_all([input, x, y])
    return jnp.asarray(beta).astype(x.dtype) * input + jnp.asarray(alpha).astype(x.dtype) * jnp.matmul(x, y)


@op(name="einsum", amp="white")
def _einsum(operands: list[Any], /, equation: str) -> Any:
    return jnp.einsum(equation, *promote_all(operands))


@composite
def einsum(equation: str, *operands: Any) -> Any:
    """Compute a sum of products in Einstein notation.

    Arguments:
        equation: one letter per dimension of each operand, then "->" and those of the result: "ij,jk->ik".
        operands: the tensors.

    Returns:
        A tensor with the dimensions named after "->".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.einsum("ij,kj->ik", paddle.ones([2, 3]), paddle.ones([4, 3])).shape
        paddle.Size([2, 4])
    """
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    return _einsum(list(operands), equation)


@op(methods=["kron"])
def kron(x: Array, y: Array, /) -> Any:
    """Compute the Kronecker product: each element of `x` times the whole of `y`.

    Returns:
        A tensor whose sizes are the products of those of `x` and `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.kron(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 1])).tolist()
        [1, 1, 2, 2]
    """
    return jnp.kron(*promote(x, y))


@op(methods=["tensordot"], amp="white")
def tensordot(x: Array, y: Array, /, axes: int | Sequence[Any] = 2) -> Any:
    """Contract dimensions of two tensors: the sum of products over pairs of dimensions.

    Arguments:
        axes: int, the number of last dimensions of `x` contracted with the first of `y`; a list of dimensions of both;
            or two lists, one for each, of which the longer one ends with dimensions of both. Of two contracted
            dimensions one may have size 1: it is broadcast. Default: 2.

    Returns:
        A tensor with the remaining dimensions of `x`, then those of `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.tensordot(paddle.ones([2, 3]), paddle.ones([2, 3]), axes=[[0], [0]]).shape
        paddle.Size([3, 3])
    """
    x, y = promote(x, y)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise ValueError(f"axes is {axes}; expected 0 to {min(x.ndim, y.ndim)}, as x and y have such dimensions")
        axes = [tuple(range(x.ndim - axes, x.ndim)), tuple(range(axes))]
    elif all(isinstance(a, int) for a in axes):
        axes = [axes, axes]
    if len(axes) > 2 or len(axes) == 0:
        raise ValueError(f"axes is {axes!r}; expected a number, a list of dimensions, or two such lists")
    pairs = [(a,) if isinstance(a, int) else tuple(a) for a in axes]
    first, second = (pairs[0], pairs[0]) if len(pairs) == 1 else pairs
    # The extra entries of the longer list apply to both operands.
    first, second = first + second[len(first) :], second + first[len(second) :]
    for i, j in zip(first, second, strict=True):  # one that is repeated is multiplied by the sum of the other
        if x.shape[i] == 1 != y.shape[j]:
            y = y.sum(j, keepdims=True)
        elif y.shape[j] == 1 != x.shape[i]:
            x = x.sum(i, keepdims=True)
    return jnp.tensordot(x, y, (first, second))


@op(name="multi_dot", amp="white")
def _multi_dot(x: list[Any], /) -> Any:
    return jnp.linalg.multi_dot(promote_all(x))


@composite
def multi_dot(x: Sequence[Any]) -> Any:
    """Compute the product of several matrices in the cheapest order.

    Returns:
        A matrix; a first or last operand may be 1-D, and its dimension is removed.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.multi_dot([paddle.ones([2, 3]), paddle.ones([3, 4]), paddle.ones([4, 1])]).shape
        paddle.Size([2, 1])
    """
    if len(x) < 2:
        raise ValueError(f"multi_dot(): x holds {len(x)} tensors; expected at least 2")
    return _multi_dot(list(x))


@op(methods=["vander"])
def vander(x: Array, /, n: int | None = None, increasing: bool = False) -> Any:
    """Create a Vandermonde matrix: `out[i, j] = x[i] ** (n - 1 - j)`.

    Returns:
        A matrix [len(x), n]; `n` is `len(x)` by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.vander(paddle.to_tensor([1, 2, 3])).tolist()
        [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    """
    if n is not None and n < 0:
        raise ValueError(f"n is {n}; expected at least 0")
    power = jnp.arange(x.shape[0] if n is None else n)
    raised = jax.numpy.power(x[:, None], power.astype(x.dtype))
    return raised if increasing else raised[:, ::-1]


ger = outer
