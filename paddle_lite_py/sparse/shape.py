"""Sparse tensors: changes of shape, order and selection."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dispatch.respelling import respelt
from ..eager.tensor import Tensor
from ..ops import decomposition
from ..ops.manipulation import as_tuple
from .tensors import SparseCooTensor, SparseCsrTensor, gathered


def is_same_shape(x: Any, y: Any) -> bool:
    """Return True if two tensors have the same shape.

    Returns:
        A bool.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.sparse.is_same_shape(paddle.ones([2]), paddle.zeros([2]))
        True
    """
    return list(x.shape) == list(y.shape)


def coalesce(x: SparseCooTensor, name: Any = None) -> SparseCooTensor:
    """Sort the indices and sum the values of duplicates.

    Returns:
        A coalesced COO tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0]], [1.0, 2.0], [2])
        >>> paddle.sparse.coalesce(x).values().tolist()
        [3.0]
    """
    return x.coalesce()


def mask_as(x: Tensor, mask: Any, name: Any = None) -> Any:
    """Select the elements of a dense tensor at the indices of a sparse one.

    Returns:
        A sparse tensor with the sparsity pattern of `mask`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.mask_as(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), x).values().tolist()
        [2.0, 3.0]
    """
    return mask._with(gathered(x, mask._indices))


def _like(x: Any, found: SparseCooTensor) -> Any:
    return found.to_sparse_csr() if isinstance(x, SparseCsrTensor) else found


def transpose(x: Any, perm: Sequence[int], name: Any = None) -> Any:
    """Permute the dimensions of a sparse tensor.

    Returns:
        A sparse tensor whose dimension i is dimension `perm[i]` of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.transpose(x, [1, 0]).to_dense().tolist()
        [[0.0, -2.0], [1.0, 0.0]]
    """
    coo = x.to_sparse_coo()
    found = SparseCooTensor(coo._indices[list(perm)], coo.values(), [x.shape[p] for p in perm])
    return _like(x, found)


@respelt
def reshape(x: Any, shape: Sequence[int], name: Any = None) -> Any:
    """Change the shape of a sparse tensor; one size may be -1.

    Returns:
        A sparse tensor of the shape `shape`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.reshape(x, [4]).to_dense().tolist()
        [0.0, 1.0, -2.0, 0.0]
    """
    coo = x.to_sparse_coo()
    sizes = np.empty(x.shape, np.bool_).reshape(shape).shape
    at = np.ravel_multi_index(tuple(coo._indices), tuple(x.shape))
    return _like(x, SparseCooTensor(np.stack(np.unravel_index(at, sizes)), coo.values(), sizes))


def slice(x: Any, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], name: Any = None) -> Any:
    """Slice a sparse tensor: `starts[i]:ends[i]` along dimension `axes[i]`.

    Returns:
        A sparse tensor.

    Raises:
        ValueError: if the lists differ in length, or an axis does not exist.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.slice(x, [0], [1], [2]).to_dense().tolist()
        [[-2.0, 0.0]]
    """
    if not len(axes) == len(starts) == len(ends) or not all(-x.ndim <= a < x.ndim for a in axes):
        raise ValueError(f"sparse.slice: axes {axes}, starts {starts} and ends {ends} for {x.ndim} dimensions")
    coo, sizes = x.to_sparse_coo(), list(x.shape)
    places, kept = coo._indices.copy(), np.ones(coo.nnz(), bool)
    for axis, start, end in zip(axes, starts, ends, strict=True):
        low, high, _ = builtins.slice(int(start), int(end)).indices(sizes[axis])
        sizes[axis] = max(high - low, 0)
        kept &= (places[axis] >= low) & (places[axis] < high)
        places[axis] -= low
    which = np.flatnonzero(kept)
    return _like(x, SparseCooTensor(places[:, which], gathered(coo.values(), which[None]), sizes))


def pca_lowrank(x: Any, q: int | None = None, center: bool = True, niter: int = 2, name: Any = None) -> Any:
    """Compute the principal components of a sparse matrix; see `paddle.linalg.pca_lowrank()`.

    Returns:
        (U, S, V): dense tensors [m, q], [q] and [n, q].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [3, 2])
        >>> [part.shape for part in paddle.sparse.pca_lowrank(x, q=2)]
        [paddle.Size([3, 2]), paddle.Size([2]), paddle.Size([2, 2])]
    """
    dense: Any = decomposition.pca_lowrank
    return dense(x.to_dense(), q, center, niter)


def sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: Any = None) -> Any:
    """Compute the sum of a sparse tensor over the given dimensions.

    Returns:
        A sparse tensor of at least one dimension (CSR: two).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> total = paddle.sparse.sum(x)
        >>> total.shape, total.values().item()
        (paddle.Size([1]), -1.0)
    """
    coo = x.to_sparse_coo()
    over = set(range(coo.ndim)) if axis is None else {a % coo.ndim for a in as_tuple(axis)}
    dropped = set() if keepdim or isinstance(x, SparseCsrTensor) else set(over)
    if dropped.issuperset(range(coo.sparse_dim())):
        dropped.remove(0)  # indices need a dimension
    places = coo._indices.copy()
    places[[d for d in range(len(places)) if d in over]] = 0
    places = np.unique(places[[d for d in range(len(places)) if d not in dropped]], axis=1)
    total = coo.to_dense().sum(sorted(over), keepdim=True, dtype=dtype)
    total = total.reshape([n for d, n in enumerate(total.shape) if d not in dropped])
    return _like(x, SparseCooTensor(places, gathered(total, places), total.shape))
