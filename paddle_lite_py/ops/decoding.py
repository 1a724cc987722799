"""Ops of decoding loops: caches of fixed capacity, attention over them, and the choice of tokens."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from . import ordering
from .types import Array


@op(name="cache_update")
def cache_update(cache: Array, new: Array, starts: Array, /) -> Any:
    """Write new [batch, n, heads, size] into cache [batch, heads, capacity, size], each row from its start on."""
    new = jnp.swapaxes(new, 1, 2).astype(cache.dtype)
    if cache.shape[0] == 1:
        return jax.lax.dynamic_update_slice_in_dim(cache, new, starts[0], 2)
    return jax.vmap(lambda row, part, at: jax.lax.dynamic_update_slice_in_dim(row, part, at, 1))(cache, new, starts)


@op(name="cached_attention", amp="white")
def cached_attention(q: Array, keys: Array, values: Array, starts: Array, /, *, scale: float) -> Any:
    """Attend from q [batch, n, heads, size] to caches [batch, key heads, capacity, size].

    Query i of a row stands at position start + i, and attends to the positions up to its own.
    """
    batch, n, heads, size = q.shape
    groups, capacity = keys.shape[1], keys.shape[2]
    grouped = jnp.moveaxis(q.reshape(batch, n, groups, heads // groups, size), 1, 3)
    scores = jnp.einsum("bgrnd,bgsd->bgrns", grouped, keys, preferred_element_type=jnp.float32) * scale
    positions = starts[:, None] + jnp.arange(n)
    is_seen = jnp.arange(capacity) <= positions[:, None, None, :, None]
    weights = jax.nn.softmax(jnp.where(is_seen, scores, -jnp.inf), axis=-1).astype(values.dtype)
    mixed = jnp.einsum("bgrns,bgsd->bgrnd", weights, values)
    return jnp.moveaxis(mixed, 3, 1).reshape(batch, n, heads, size)


@op(name="truncate_logits", grad=False)
def truncate_logits(logits: Array, top_k: Array, top_p: Array, /) -> Any:
    """Set logits [batch, words] to -inf that are not among the k largest, or not in the nucleus of probability p.

    top_k: [batch], 0: all; top_p: [batch], 1: all. The nucleus is that of the k largest.
    """
    words = logits.shape[-1]
    ordered = ordering.sort(logits, -1, descending=True)
    count = jnp.where(top_k <= 0, words, jnp.minimum(top_k, words))[:, None]
    among = jnp.where(jnp.arange(words) < count, ordered, -jnp.inf)
    probabilities = jax.nn.softmax(among, axis=-1)
    before = jnp.cumsum(probabilities, axis=-1) - probabilities
    is_kept = ((before < top_p[:, None]) | (top_p[:, None] >= 1)) & (among > -jnp.inf)
    least = jnp.take_along_axis(ordered, jnp.maximum(jnp.sum(is_kept, -1, keepdims=True) - 1, 0), -1)
    return jnp.where(logits >= least, logits, -jnp.inf)


@op(name="sample_tokens", grad=False)
def sample_tokens(logits: Array, seeds: Array, steps: Array, /) -> Any:
    """Draw a token of each row of logits [batch, words], by the random numbers of its seed and step [batch]."""

    def draw(row: Any, seed: Any, step: Any) -> Any:
        return jax.random.categorical(jax.random.fold_in(jax.random.PRNGKey(seed), step), row)

    return jax.vmap(draw)(logits, seeds, steps).astype(jnp.int64)
