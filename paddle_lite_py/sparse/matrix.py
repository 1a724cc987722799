"""Products and sums of sparse tensors."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..dispatch.define import op
from ..eager.tensor import Tensor
from .tensors import SparseCooTensor, SparseCsrTensor, _Sparse, gathered


@op(name="sparse_matmul", amp="white")
def _product(values: Any, y: Any, /, *, rows: Any, columns: Any, count: int) -> Any:
    """Sum weighted rows of `y`, without creating a dense matrix."""
    weight = values.reshape(-1, *[1] * (y.ndim - 1))
    out = jnp.zeros((count, *y.shape[1:]), y.dtype)
    return out.at[np.array(rows, np.int64)].add(weight * y[np.array(columns, np.int64)])


@op(name="sampled_matmul", amp="white")
def _sampled(x: Any, y: Any, /, *, rows: Any, columns: Any) -> Any:
    """Compute x @ y at the given indices only."""
    return jnp.sum(x[np.array(rows, np.int64)] * y.T[np.array(columns, np.int64)], -1)


def _places(x: Any) -> dict[str, Any]:
    rows, columns = x._indices
    return {"rows": tuple(rows.tolist()), "columns": tuple(columns.tolist())}


def _matrix(who: str, x: Any) -> None:
    if not isinstance(x, _Sparse) or x.ndim != 2:
        raise ValueError(f"{who}: x must be a sparse matrix, got {type(x).__name__} of shape {list(x.shape)}")


def matmul(x: Any, y: Any, name: Any = None) -> Any:
    """Compute the matrix product of a sparse matrix with a dense or a sparse one.

    Returns:
        A dense tensor for a dense `y`, a sparse one for a sparse `y`.

    Raises:
        ValueError: if `x` is not a sparse matrix, or the sizes do not match.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
        >>> paddle.sparse.matmul(x, paddle.to_tensor([[1.0], [3.0]])).tolist()
        [[3.0], [2.0]]
    """
    _matrix("sparse.matmul", x)
    if x.shape[1] != y.shape[0]:
        raise ValueError(f"sparse.matmul: x has {x.shape[1]} columns, y {y.shape[0]} rows")
    fn: Any = _product
    out = fn(x.values(), y.to_dense() if isinstance(y, _Sparse) else y, **_places(x), count=x.shape[0])
    if not isinstance(y, _Sparse):
        return out
    return out.to_sparse_csr() if isinstance(x, SparseCsrTensor) else out.to_sparse_coo(2)


def mv(x: Any, vec: Tensor, name: Any = None) -> Tensor:
    """Compute the product of a sparse matrix and a dense vector.

    Returns:
        A dense tensor [rows].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.mv(x, paddle.to_tensor([1.0, 2.0])).tolist()
        [2.0, -2.0]
    """
    return matmul(x, vec)


def addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: Any = None) -> Any:
    """Compute `beta * input + alpha * (x @ y)` with a sparse `x`.

    Returns:
        A dense or sparse matrix, as `x @ y` is.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.addmm(paddle.ones([2, 2]), x, paddle.eye(2)).tolist()
        [[1.0, 2.0], [-1.0, 1.0]]
    """
    product = matmul(x, y)
    if isinstance(product, _Sparse):
        return add(input._with(input.values() * beta), product._with(product.values() * alpha))
    return input * beta + product * alpha


def masked_matmul(x: Tensor, y: Tensor, mask: Any, name: Any = None) -> Any:
    """Compute `x @ y` of dense matrices at the indices of a sparse `mask` only (SDDMM).

    Returns:
        A sparse tensor with the sparsity pattern of `mask`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.masked_matmul(paddle.ones([2, 3]), paddle.ones([3, 2]), x).to_dense().tolist()
        [[0.0, 3.0], [3.0, 0.0]]
    """
    _matrix("sparse.masked_matmul", mask)
    fn: Any = _sampled
    return mask._with(fn(x, y, **_places(mask)))


def _alike(who: str, x: Any, y: Any) -> None:
    if list(x.shape) != list(y.shape):
        raise ValueError(f"sparse.{who}: the shapes {list(x.shape)} and {list(y.shape)} differ")


def _apply_on_union(who: str, x: Any, y: Any, function: Any) -> Any:
    """Apply a function to two sparse tensors at the union of their indices."""
    _alike(who, x, y)
    places = np.unique(np.concatenate([x._indices, y._indices], 1), axis=1)
    a, b = (gathered(v.to_dense(), places) for v in (x, y))
    found = SparseCooTensor(places, function(a, b), x.shape)
    return found.to_sparse_csr() if isinstance(x, SparseCsrTensor) else found


def add(x: Any, y: Any, name: Any = None) -> Any:
    """Add two sparse tensors, or a sparse and a dense one.

    Returns:
        A sparse tensor; dense if an operand is dense.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.add(x, x).values().tolist()
        [2.0, -4.0]
    """
    if not isinstance(y, _Sparse):
        return x.to_dense() + y
    return _apply_on_union("add", x, y, lambda a, b: a + b)


def subtract(x: Any, y: Any, name: Any = None) -> Any:
    """Subtract two sparse tensors elementwise: `out = x - y`.

    Returns:
        A sparse tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.subtract(x, x).values().tolist()
        [0.0, 0.0]
    """
    return _apply_on_union("subtract", x, y, lambda a, b: a - b)


def multiply(x: Any, y: Any, name: Any = None) -> Any:
    """Multiply two sparse tensors elementwise; `y` may be a number.

    Returns:
        A sparse tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.multiply(x, x).values().tolist()
        [1.0, 4.0]
    """
    if isinstance(y, int | float):
        return x._with(x.values() * y)
    return _apply_on_union("multiply", x, y, lambda a, b: a * b)


def divide(x: Any, y: Any, name: Any = None) -> Any:
    """Divide two sparse tensors elementwise, zeros included; `y` may be a number.

    Returns:
        A sparse tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.divide(x, x).values().tolist()
        [nan, 1.0, 1.0, nan]
    """
    if isinstance(y, int | float):
        return x._with(x.values() / y)
    _alike("divide", x, y)
    quotient = x.to_dense() / y.to_dense()  # which is NaN where neither has an element
    sparse = x.sparse_dim()
    places = np.indices(quotient.shape[:sparse]).reshape(sparse, -1)
    found = SparseCooTensor(places, gathered(quotient, places), x.shape)
    return found.to_sparse_csr() if isinstance(x, SparseCsrTensor) else found
