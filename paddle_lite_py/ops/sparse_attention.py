"""Attention at the query-key pairs of a sparse pattern in compressed rows."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array

__all__ = ["sparse_attention"]


@op(name="attention_where", amp="white")
def attention_where(
    query: Array,
    key: Array,
    value: Array,
    keep: Array,
    key_padding_mask: Array | None = None,
    attn_mask: Array | None = None,
    /,
) -> Any:
    """Compute attention of [batch, heads, length, head_dim] at the True places of `keep` only."""
    if key_padding_mask is not None:
        keep = keep & (key_padding_mask != 0)[:, None, None]
    if attn_mask is not None:
        keep = keep & (attn_mask != 0)
    score = jnp.einsum("bhqd,bhkd->bhqk", query, key) / jnp.sqrt(jnp.asarray(query.shape[-1], query.dtype))
    some = jnp.any(keep, -1, keepdims=True)  # rows without entries are 0
    weight = jax.nn.softmax(jnp.where(keep | ~some, score, -jnp.inf), -1)
    return jnp.einsum("bhqk,bhkd->bhqd", jnp.where(keep, weight, 0), value)


@op(name="places_of_rows", grad=False)
def _places(offset: Any, columns: Any, /) -> Any:
    """Convert compressed rows [batch, heads, length + 1] and columns [batch, heads, n] to a boolean mask."""
    length = offset.shape[-1] - 1
    at = jnp.arange(columns.shape[-1])
    row = jnp.sum(offset[..., None, 1:] <= at[:, None], -1)  # entries beyond the last are dropped
    keep = jnp.zeros((*offset.shape[:2], length, length), bool)
    batch, head = jnp.arange(offset.shape[0])[:, None, None], jnp.arange(offset.shape[1])[:, None]
    return keep.at[batch, head, row, columns].set(True, mode="drop")


def sparse_attention(
    query: Any,
    key: Any,
    value: Any,
    sparse_csr_offset: Any,
    sparse_csr_columns: Any,
    key_padding_mask: Any = None,
    attn_mask: Any = None,
    name: Any = None,
) -> Any:
    """Compute `softmax(query @ key^T / sqrt(head_dim)) @ value` at the query-key pairs of a CSR pattern.

    `query`, `key` and `value` are [batch, heads, length, head_dim].

    Arguments:
        sparse_csr_offset: int tensor [batch, heads, length + 1], the start of each row in the columns, and the end.
        sparse_csr_columns: int tensor [batch, heads, nnz], the key index of each pair.
        key_padding_mask: tensor [batch, length]; 0 masks the key. None: no mask.
        attn_mask: tensor [length, length]; 0 masks the pair. None: no mask.

    Returns:
        A tensor [batch, heads, length, head_dim].

    Raises:
        ValueError: if the shapes do not match.

    Source: Child et al., Generating Long Sequences with Sparse Transformers, 2019.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> q, v = paddle.ones([1, 1, 2, 1]), paddle.to_tensor([[[[1.0], [3.0]]]])
        >>> rows, columns = paddle.to_tensor([[[0, 1, 3]]]), paddle.to_tensor([[[0, 0, 1]]])
        >>> paddle.nn.functional.sparse_attention(q, q, v, rows, columns).tolist()
        [[[[1.0], [2.0]]]]
    """
    expected = [*query.shape[:2], query.shape[2] + 1]
    if list(sparse_csr_offset.shape) != expected:
        raise ValueError(
            f"sparse_attention: sparse_csr_offset has the shape {list(sparse_csr_offset.shape)} for query of shape "
            f"{list(query.shape)}; expected {expected}"
        )
    places: Any = _places
    fn: Any = attention_where
    return fn(query, key, value, places(sparse_csr_offset, sparse_csr_columns), key_padding_mask, attn_mask)
