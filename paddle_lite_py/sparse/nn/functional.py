"""Functions of sparse tensors for networks."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.argument_docs import document as _document
from ...dispatch.define import op
from ...nn import functional as F
from ...ops.dynamic import fresh
from ...ops.sparse_attention import attention_where
from .convolution import *  # noqa: F403

__all__ = [
    *("attention", "conv2d", "conv3d", "leaky_relu", "max_pool3d", "relu", "relu6", "softmax"),
    *("subm_conv2d", "subm_conv2d_igemm", "subm_conv3d", "subm_conv3d_igemm"),
]


def relu(x: Any, name: Any = None) -> Any:
    """Apply ReLU to the values of a sparse tensor: `max(x, 0)`.

    Returns:
        A sparse tensor with the sparsity pattern of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.relu(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, 0.0]
    """
    return x._with(F.relu(x.values()))


def relu6(x: Any, name: Any = None) -> Any:
    """Apply ReLU6 to the values of a sparse tensor: `min(max(x, 0), 6)`.

    Returns:
        A sparse tensor with the sparsity pattern of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.relu6(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, 0.0]
    """
    return x._with(F.relu6(x.values()))


def leaky_relu(x: Any, negative_slope: float = 0.01, name: Any = None) -> Any:
    """Apply leaky ReLU to the values of a sparse tensor: `x` where positive, else `negative_slope * x`.

    Returns:
        A sparse tensor with the sparsity pattern of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.leaky_relu(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, -0.02]
    """
    return x._with(F.leaky_relu(x.values(), negative_slope))


@op(name="softmax_of_groups", amp="black")
def _softmax(values: Any, /, *, groups: Any, count: int) -> Any:
    at = np.array(groups, np.int64)
    shifted = jnp.exp(values - jax.ops.segment_max(values, at, count)[at])
    return shifted / jax.ops.segment_sum(shifted, at, count)[at]


def softmax(x: Any, axis: int = -1, name: Any = None) -> Any:
    """Compute the softmax over the stored values along a dimension; missing elements count as -inf.

    Returns:
        A sparse tensor with the sparsity pattern of `x`.

    Raises:
        ValueError: if `axis` is out of range.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.softmax(x).values().tolist()
        [1.0, 1.0]
    """
    along = axis % x.ndim if -x.ndim <= axis < x.ndim else x.ndim
    if along >= len(x._indices):
        raise ValueError(f"sparse softmax: axis is {axis}; expected one of the {len(x._indices)} that are sparse")
    rows, groups = np.unique(np.delete(x._indices, along, 0), axis=1, return_inverse=True)
    fn: Any = _softmax
    return x._with(fn(x.values(), groups=tuple(groups.reshape(-1).tolist()), count=rows.shape[1]))


def attention(
    query: Any,
    key: Any,
    value: Any,
    sparse_mask: Any,
    key_padding_mask: Any = None,
    attn_mask: Any = None,
    name: Any = None,
) -> Any:
    """Compute `softmax(query @ key^T / sqrt(head_dim)) @ value` at the indices of a sparse mask.

    `query`, `key` and `value` are [batch, heads, length, head_dim].

    Arguments:
        sparse_mask: CSR tensor [batch * heads, length, length]; only its indices matter.
        key_padding_mask: tensor [batch, length]; 0 masks the key. None: no mask.
        attn_mask: tensor [length, length]; 0 masks the pair. None: no mask.

    Returns:
        A dense tensor [batch, heads, length, head_dim].

    Raises:
        ValueError: if sparse_mask has another shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> q, v = paddle.ones([1, 1, 2, 1]), paddle.to_tensor([[[[1.0], [3.0]]]])
        >>> places = paddle.sparse.sparse_csr_tensor([0, 1, 3], [0, 0, 1], [1.0, 1.0, 1.0], [1, 2, 2])
        >>> attention(q, q, v, places).tolist()
        [[[[1.0], [2.0]]]]
    """
    batch, heads, length = query.shape[:3]
    expected = [batch * heads, length, length]
    if list(sparse_mask.shape) != expected:
        raise ValueError(f"sparse attention: sparse_mask has the shape {list(sparse_mask.shape)}; expected {expected}")
    keep = np.zeros(expected, bool)
    keep[tuple(sparse_mask._indices)] = True
    fn: Any = attention_where
    return fn(query, key, value, fresh(keep.reshape(batch, heads, length, length)), key_padding_mask, attn_mask)


_document(globals())
