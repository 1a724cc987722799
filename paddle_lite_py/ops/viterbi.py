"""Viterbi decoding of a linear-chain model."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array


@op(name="viterbi_decode", grad=False, loops=True)
def viterbi(scores: Array, transition: Array, lengths: Array, /, *, ends: bool) -> Any:
    """Decode the best tag sequence of a linear-chain model: scores, and tags [batch, time] padded with 0."""
    batch, time, n = scores.shape
    lengths = lengths.astype(jnp.int32)
    start = scores[:, 0] + (transition[n - 1] if ends else 0)
    last = transition[n - 2] if ends else jnp.zeros(n, scores.dtype)
    start = start + jnp.where((lengths == 1)[:, None], last, 0)

    def forward(best: Any, at: Any) -> Any:
        t, emitted = at
        total = best[:, :, None] + transition
        here = jnp.max(total, 1) + emitted + jnp.where((lengths == t + 1)[:, None], last, 0)
        return jnp.where((t < lengths)[:, None], here, best), jnp.argmax(total, 1)

    steps = jnp.arange(1, time)
    best, back = jax.lax.scan(forward, start, (steps, jnp.moveaxis(scores[:, 1:], 1, 0)))
    tag = jnp.argmax(best, 1)

    def backward(tag: Any, at: Any) -> Any:
        t, pointers = at
        before = jnp.take_along_axis(pointers, tag[:, None], 1)[:, 0]
        return jnp.where(t < lengths, before, tag), jnp.where(t < lengths, tag, 0)

    first, rest = jax.lax.scan(backward, tag, (steps, back), reverse=True)
    path = jnp.concatenate([first[:, None], jnp.moveaxis(rest, 0, 1)], 1)
    return jnp.max(best, 1), path.astype(jnp.int64)
