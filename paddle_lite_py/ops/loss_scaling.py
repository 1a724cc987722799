"""Dynamic loss scaling for mixed precision, with all state in tensors, so that a compiled step needs no host sync."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array


@op(grad=False, amp="keep")
def unscale_gradients(grads: list[Any], scale: Array, /) -> Any:
    """Divide the gradients by the loss scale, and return whether one holds NaN or infinity (bool[1])."""
    found = jnp.stack([jnp.any(~jnp.isfinite(g)) for g in grads]).any().reshape(1)
    inverse = 1.0 / scale.reshape(())
    return found, *[(g.astype(jnp.promote_types(g.dtype, jnp.float32)) * inverse).astype(g.dtype) for g in grads]


@op(grad=False, amp="keep")
def update_loss_scaling(scale: Array, counts: Array, settings: Array, found: Array, /) -> Any:
    """Return the next loss scale and the counts of good and bad steps.

    `settings` holds the growth and shrink factors, and the numbers of consecutive good and bad steps that trigger them.
    """
    grow, shrink, good_steps, bad_steps = settings
    found = found.reshape(())
    good, bad = jnp.where(found, 0, counts[0] + 1), jnp.where(found, counts[1] + 1, 0)
    up, down = good >= good_steps, bad >= bad_steps
    new = (scale * jnp.where(up, grow, jnp.where(down, shrink, 1.0))).astype(scale.dtype)
    counts = jnp.stack([jnp.where(up, 0, good), jnp.where(down, 0, bad)]).astype(counts.dtype)
    return jnp.where(jnp.isfinite(new), new, scale), counts
