"""Loss scaling of mixed precision, with all of its state in tensors, so that a compiled step never asks the host."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array


@op(grad=False, amp="keep")
def unscale_gradients(grads: list[Any], scale: Array, /) -> Any:
    """Whether a gradient holds an infinity or NaN (bool[1]), and the gradients divided by scale."""
    found = jnp.stack([jnp.any(~jnp.isfinite(g)) for g in grads]).any().reshape(1)
    inverse = 1.0 / scale.reshape(())
    return found, *[(g.astype(jnp.promote_types(g.dtype, jnp.float32)) * inverse).astype(g.dtype) for g in grads]


@op(grad=False, amp="keep")
def update_loss_scaling(scale: Array, counts: Array, settings: Array, found: Array, /) -> Any:
    """The next scale and counts of good and bad steps.

    `settings` holds the factors and the numbers of steps in a row: grow by, shrink by, after good ones, after bad ones.
    """
    grow, shrink, good_steps, bad_steps = settings
    found = found.reshape(())
    good, bad = jnp.where(found, 0, counts[0] + 1), jnp.where(found, counts[1] + 1, 0)
    up, down = good >= good_steps, bad >= bad_steps
    new = (scale * jnp.where(up, grow, jnp.where(down, shrink, 1.0))).astype(scale.dtype)
    counts = jnp.stack([jnp.where(up, 0, good), jnp.where(down, 0, bad)]).astype(counts.dtype)
    return jnp.where(jnp.isfinite(new), new, scale), counts
