"""Ops of a paged cache: blocks of tokens in any order, and a table of the blocks of each row."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array

CHUNK = 8  # blocks that attention reads at a time: the gathered rows stay in the caches of a CPU


@op(name="paged_update", grad=False)
def paged_update(pool: Array, new: Array, tables: Array, starts: Array, /) -> Any:
    """Write new [batch, n, heads, size] into pool [blocks, heads, block, size], each row from its start on.

    The blocks of a row are those in tables [batch, most]. What is beyond them goes to block 0.
    """
    block = pool.shape[2]
    positions = starts[:, None] + jnp.arange(new.shape[1])
    places = jnp.take_along_axis(tables, positions // block, axis=1, mode="fill", fill_value=0)
    return pool.at[places, :, positions % block].set(new.astype(pool.dtype))


@op(name="paged_attention", amp="white", grad=False, loops=True)
def paged_attention(q: Array, keys: Array, values: Array, tables: Array, starts: Array, /, *, scale: float) -> Any:
    """Attend from q [batch, n, heads, size] to pools [blocks, key heads, block, size].

    Query i of a row stands at position start + i, and attends to the positions up to its own. Only blocks up to the
    last position of the longest row are read: scores are normalized as they come (online softmax).

    Source: Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, 2023; Milakov
    and Gimelshein, Online normalizer calculation for softmax, 2018.
    """
    batch, n, heads, size = q.shape
    groups, block, width = keys.shape[1], keys.shape[2], min(CHUNK, tables.shape[1])
    grouped = jnp.moveaxis(q.reshape(batch, n, groups, heads // groups, size), 1, 3)
    positions = starts[:, None] + jnp.arange(n)
    tables = jnp.pad(tables, [(0, 0), (0, -tables.shape[1] % width)])

    def gathered(pool: Any, at: Any) -> Any:
        found = jnp.take(pool, jax.lax.dynamic_slice_in_dim(tables, at * width, width, 1), axis=0, mode="clip")
        return jnp.moveaxis(found, 2, 1).reshape(batch, groups, width * block, -1)

    def body(at: Any, carried: Any) -> Any:
        highest, total, mixed = carried
        there = at * width * block + jnp.arange(width * block)
        scores = jnp.einsum("bgrnd,bgsd->bgrns", grouped, gathered(keys, at), preferred_element_type=jnp.float32)
        is_seen = there <= positions[:, None, None, :, None]
        scores = jnp.where(is_seen, scores * scale, -jnp.inf)
        higher = jnp.maximum(highest, scores.max(-1))
        weights, factor = jnp.exp(scores - higher[..., None]), jnp.exp(highest - higher)
        # Old content of a block may not be finite.
        present = jnp.where((there <= positions[:, -1:])[:, None, :, None], gathered(values, at), 0)
        added = jnp.einsum("bgrns,bgsd->bgrnd", weights.astype(values.dtype), present,
                           preferred_element_type=jnp.float32)  # fmt: skip
        return higher, total * factor + weights.sum(-1), mixed * factor[..., None] + added

    count = jnp.max(positions) // (width * block) + 1
    first = grouped.shape[:-1]
    start = jnp.full(first, -jnp.inf, jnp.float32), jnp.zeros(first, jnp.float32), jnp.zeros(grouped.shape, jnp.float32)
    _, total, mixed = jax.lax.fori_loop(0, jnp.minimum(count, tables.shape[1] // width), body, start)
    return jnp.moveaxis(mixed / total[..., None], 3, 1).reshape(batch, n, heads, size).astype(values.dtype)
