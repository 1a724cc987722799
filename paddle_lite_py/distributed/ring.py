"""Attention over a sequence of which each process has a part: keys and values travel around (Liu et al., 2023)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import axis

_NOTHING = -1e30


def positions(rank: Any, count: int, length: int, balanced: bool) -> Any:
    """Where in the whole sequence the elements of a process stand.

    Arguments:
        rank: its place.
        count: how many processes there are.
        length: of its part.
        balanced: whether it has one piece from the front and its mirror from the back, rather than one stretch.
    """
    if not balanced:
        return rank * length + jnp.arange(length)
    half = length // 2
    return jnp.concatenate([rank * half + jnp.arange(half), (2 * count - 1 - rank) * half + jnp.arange(length - half)])


def attention(q: Any, k: Any, v: Any, causal: bool, balanced: bool) -> Any:
    """Attention of this process's part of the queries, [batch, length, heads, size], to all keys and values.

    Arguments:
        q, k, v: this process's parts; k and v may have fewer heads, each of which serves several.
        causal: whether queries see only what stands before them, and themselves.
        balanced: see positions().
    """
    count, rank, length = axis.size(), axis.index(), q.shape[1]
    at = positions(rank, count, length, balanced)

    @jax.checkpoint  # the scores of a step are not kept for backward
    def met(k: Any, v: Any, source: Any) -> tuple[Any, Any, Any]:
        each = q.shape[2] // k.shape[2]
        k, v = (jnp.repeat(t, each, axis=2) if each > 1 else t for t in (k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) / q.shape[-1] ** 0.5
        seen = jnp.ones(scores.shape[-2:], bool)
        if causal:
            seen = at[:, None] >= positions(source, count, length, balanced)[None, :]
        scores = jnp.where(seen, scores, _NOTHING)
        top = scores.max(-1, keepdims=True)
        weights = jnp.where(seen, jnp.exp(scores - top), 0.0)
        return top, weights.sum(-1, keepdims=True), jnp.einsum("bhqk,bkhd->bhqd", weights, v.astype(weights.dtype))

    top, total, out = met(k, v, rank)
    for step in range(1, count):
        k, v = axis.shifted(k), axis.shifted(v)
        other_top, other_total, other = met(k, v, (rank - step) % count)
        new = jnp.maximum(top, other_top)
        mine, theirs = jnp.exp(top - new), jnp.exp(other_top - new)
        top, total, out = new, total * mine + other_total * theirs, out * mine + other * theirs
    return jnp.swapaxes(out / total, 1, 2).astype(q.dtype)


def gradient(q: Any, k: Any, v: Any, grad: Any, causal: bool, balanced: bool) -> tuple[Any, ...]:
    """Return the gradients of attention() for this process's parts; the other arguments are its."""
    return jax.vjp(lambda q, k, v: attention(q, k, v, causal, balanced), q, k, v)[1](grad)
