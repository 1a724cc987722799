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
    """max(x, 0).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.relu(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, 0.0]
    """
    return x._with(F.relu(x.values()))


def relu6(x: Any, name: Any = None) -> Any:
    """min(max(x, 0), 6).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.relu6(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, 0.0]
    """
    return x._with(F.relu6(x.values()))


def leaky_relu(x: Any, negative_slope: float = 0.01, name: Any = None) -> Any:
    """x where it is positive, else negative_slope * x.

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
    """Softmax over the values along an axis; what is not kept counts as minus infinity.

    Raises:
        ValueError: there is no such axis among those of the indices.

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
    """softmax(query @ key / sqrt(size)) @ value, [batch, heads, length, size], at the places of a sparse tensor.

    Arguments:
        sparse_mask: in compressed rows, [batch * heads, length, length], of which the places count.
        key_padding_mask: [batch, length], attn_mask: [length, length]; 0 where a key does not count.

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
