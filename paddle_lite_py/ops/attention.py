"""Attention."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..op import op
from .dropout import dropout

__all__ = ["scaled_dot_product_attention"]


@op(name="attention_weights", amp="black")
def _weights(q: Any, k: Any, mask: Any = None, /, *, causal: bool, scale: float) -> Any:
    """softmax(q k^T * scale + mask), [batch, heads, queries, keys]."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * jnp.asarray(scale, q.dtype)
    if causal:
        i, j = scores.shape[-2:]
        scores = jnp.where(jnp.tril(jnp.ones((i, j), bool), j - i), scores, -jnp.inf)
    if mask is not None:
        scores = jnp.where(mask, scores, -jnp.inf) if mask.dtype == bool else scores + mask
    return jax.nn.softmax(scores, axis=-1)


@op(name="attention_mix", amp="white")
def _mix(weights: Any, v: Any, /) -> Any:
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


@op(name="attention", amp="white")
def _attention(q: Any, k: Any, v: Any, mask: Any = None, /, *, causal: bool, scale: float) -> Any:
    weights = _weights.__op__.fn(q, k, mask, causal=causal, scale=scale)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    backend: Any = None,
    scale: float | None = None,
    name: Any = None,
) -> Any:
    """softmax(query key^T * scale + attn_mask) value; all are [batch, length, heads, head size].

    Arguments:
        attn_mask: added to the scores, or a boolean mask of what is seen; broadcast to [batch, heads, queries, keys].
        scale: 1 / sqrt(head size) by default.
    """
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    one: Any = _attention
    if not (training and dropout_p):
        return one(query, key, value, attn_mask, causal=is_causal, scale=factor)
    two: Any = _weights
    weights = dropout(two(query, key, attn_mask, causal=is_causal, scale=factor), dropout_p)
    return _mix(weights, value)
