"""The loss of a YOLOv3 head."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array


def _cross_entropy(logit: Any, target: Any) -> Any:
    return jnp.maximum(logit, 0) - logit * target + jnp.log1p(jnp.exp(-jnp.abs(logit)))


def _overlap(a: Any, b: Any) -> Any:
    """Compute the intersection over union of boxes (center and size in the last axis), with broadcasting."""
    low = jnp.maximum(a[..., :2] - a[..., 2:] / 2, b[..., :2] - b[..., 2:] / 2)
    high = jnp.minimum(a[..., :2] + a[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2)
    shared = jnp.prod(jnp.maximum(high - low, 0), -1)
    return shared / (jnp.prod(a[..., 2:], -1) + jnp.prod(b[..., 2:], -1) - shared)


@op(name="yolo_loss", amp="black")
def yolo_loss(
    x: Array,
    box: Array,
    label: Array,
    score: Array | None = None,
    /,
    *,
    anchors: tuple[float, ...],
    mask: tuple[int, ...],
    classes: int,
    ignore: float,
    ratio: int,
    smooth: bool,
    scale: float,
) -> Any:
    """Compute the YOLOv3 loss [n] of a head [n, anchors * (5 + classes), h, w] and relative boxes [n, b, 4]."""
    n, _, h, w = x.shape
    head = jnp.moveaxis(x.reshape(n, len(mask), 5 + classes, h, w), 2, -1)  # [n, anchors, h, w, 5 + classes]
    shapes = jnp.asarray(anchors, x.dtype).reshape(-1, 2) / (ratio * h)
    own = shapes[jnp.array(mask)]
    score = jnp.ones(box.shape[:2], x.dtype) if score is None else score.astype(x.dtype)
    there = (box[..., 2] > 1e-6) & (box[..., 3] > 1e-6)

    # Confident predictions that overlap a box well enough are not penalized.
    cells = jnp.stack(jnp.meshgrid(jnp.arange(w), jnp.arange(h)), -1).astype(x.dtype)
    size = jnp.array([w, h], x.dtype)
    center = (jax.nn.sigmoid(head[..., :2]) * scale - 0.5 * (scale - 1) + cells) / size
    guess = jnp.concatenate([center, jnp.exp(head[..., 2:4]) * own[:, None, None]], -1)
    near = _overlap(guess[..., None, :], box[:, None, None, None])
    best = jnp.max(jnp.where(there[:, None, None, None], near, 0), -1)
    wanted = jnp.where(jax.lax.stop_gradient(best) > ignore, -1.0, 0.0)

    # Each box is assigned to the most similar anchor, in the cell of its center.
    alike = _overlap(
        jnp.concatenate([jnp.zeros_like(box[..., :2]), box[..., 2:]], -1)[..., None, :],
        jnp.concatenate([jnp.zeros_like(shapes), shapes], -1),
    )
    chosen = jnp.argmax(alike, -1)
    slot = jnp.full(len(anchors) // 2, -1).at[jnp.array(mask)].set(jnp.arange(len(mask)))[chosen]
    mine = there & (slot >= 0)
    at = jnp.floor(box[..., :2] * size).astype(jnp.int32)
    batch = jnp.arange(n)[:, None]
    column, row = jnp.clip(at[..., 0], 0, w - 1), jnp.clip(at[..., 1], 0, h - 1)
    seen = head[batch, jnp.maximum(slot, 0), row, column]  # [n, b, 5 + classes]
    place = jnp.sum(_cross_entropy(seen[..., :2], box[..., :2] * size - at), -1)
    extent = jnp.log(jnp.where(there[..., None], box[..., 2:], 1.0) / shapes[chosen])
    place = place + jnp.sum(jnp.abs(seen[..., 2:4] - extent), -1)
    rest = min(1 / classes, 1 / 40) if smooth else 0.0
    kind = jnp.where(jax.nn.one_hot(label, classes) > 0, 1 - rest, rest)
    each = place * (2 - box[..., 2] * box[..., 3]) + jnp.sum(_cross_entropy(seen[..., 5:], kind), -1)

    wanted = wanted.astype(x.dtype).at[batch, jnp.where(mine, slot, len(mask)), row, column].set(score, mode="drop")
    sure = head[..., 4]
    positive = jnp.where(wanted > 1e-5, _cross_entropy(sure, 1.0) * wanted, 0)
    negative = jnp.where((wanted <= 1e-5) & (wanted > -0.5), _cross_entropy(sure, 0.0), 0)
    return jnp.sum(jnp.where(mine, each * score, 0), 1) + jnp.sum(positive + negative, (1, 2, 3))
