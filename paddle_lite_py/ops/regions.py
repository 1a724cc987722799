"""Region-of-interest pooling, deformable convolution, and box decoding."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .promote import quotient
from .types import Array


def bilinear(x: Any, row: Any, column: Any) -> Any:
    """Interpolate `x` [c, h, w] bilinearly at rows and columns of one shape: [c, *shape]; zeros outside."""
    h, w = x.shape[-2:]
    near = (row > -1) & (column > -1)  # at -1 nothing is left, nor a gradient: padded taps lie there as training begins
    top, left = jnp.floor(row), jnp.floor(column)
    out = jnp.zeros((x.shape[0], *row.shape), x.dtype)
    for i, wi in ((top, top + 1 - row), (top + 1, row - top)):
        for j, wj in ((left, left + 1 - column), (left + 1, column - left)):
            inside = near & (i >= 0) & (i < h) & (j >= 0) & (j < w)
            at = jnp.clip(i, 0, h - 1).astype(jnp.int32), jnp.clip(j, 0, w - 1).astype(jnp.int32)
            out = out + jnp.where(inside, x[:, at[0], at[1]] * (wi * wj).astype(x.dtype), 0)
    return out


@op(name="roi_align")
def roi_align(
    x: Array,
    boxes: Array,
    image: Array,
    /,
    *,
    size: tuple[int, int],
    scale: float,
    ratio: int,
    grid: int,
    aligned: bool,
) -> Any:
    """Compute RoIAlign: the mean of `grid` x `grid` bilinear samples in each bin of each box."""
    h, w = x.shape[-2:]
    offset = 0.5 if aligned else 0.0

    def one(box: Any, n: Any) -> Any:
        left, top, right, bottom = box * scale - offset
        wide, high = right - left, bottom - top
        if not aligned:
            wide, high = jnp.maximum(wide, 1.0), jnp.maximum(high, 1.0)
        rows, row_weight = _samples(top, high, size[0], h)
        columns, column_weight = _samples(left, wide, size[1], w)
        found = bilinear(x[n], *jnp.broadcast_arrays(rows[:, :, None, None], columns[None, None]))
        return jnp.einsum("cpaqb,pa,qb->cpq", found, row_weight, column_weight)

    def _samples(start: Any, length: Any, bins: int, limit: int) -> Any:
        """Places of the samples [bins, grid], and their weights: zero for those beyond the picture."""
        count = jnp.asarray(float(ratio), x.dtype) if ratio > 0 else jnp.ceil(length / bins)
        k = jnp.arange(grid, dtype=x.dtype)
        at = start + (jnp.arange(bins, dtype=x.dtype)[:, None] + (k + 0.5) / jnp.maximum(count, 1)) * length / bins
        there = (k < count) & (at >= -1) & (at <= limit)
        return jnp.clip(at, 0, limit - 1), there.astype(x.dtype) / jnp.maximum(count, 1)

    return jax.vmap(one)(boxes.astype(x.dtype), image)


def _bins(start: Any, length: Any, count: int, limit: int) -> Any:
    """Return the mask [count, limit] of the pixels in each bin."""
    k, step = jnp.arange(count), quotient(length, jnp.asarray(count, length.dtype))
    low = jnp.clip(jnp.floor(k * step) + start, 0, limit)
    high = jnp.clip(jnp.ceil((k + 1) * step) + start, 0, limit)
    pixel = jnp.arange(limit)
    return (pixel >= low[:, None]) & (pixel < high[:, None])


@op(name="roi_pool")
def roi_pool(x: Array, boxes: Array, image: Array, /, *, size: tuple[int, int], scale: float) -> Any:
    """Compute RoI max pooling: the maximum in each bin of each box; 0 for empty bins."""
    h, w = x.shape[-2:]

    def one(given: Any) -> Any:
        box, n = given
        left, top, right, bottom = jnp.floor(box * scale + 0.5)
        rows = _bins(top, jnp.maximum(bottom - top + 1, 1.0), size[0], h)
        columns = _bins(left, jnp.maximum(right - left + 1, 1.0), size[1], w)
        across = jnp.max(jnp.where(columns, x[n][:, :, None, :], -jnp.inf), -1)  # [c, h, q]
        found = jnp.max(jnp.where(rows[:, :, None], across[:, None], -jnp.inf), 2)  # [c, p, q]
        return jnp.where(jnp.isfinite(found), found, 0)

    return jax.lax.map(one, (boxes.astype(x.dtype), image))


@op(name="psroi_pool")
def psroi_pool(x: Array, boxes: Array, image: Array, /, *, size: tuple[int, int], scale: float) -> Any:
    """Compute position-sensitive RoI pooling: the mean of each bin, from the bin's own channels."""
    h, w = x.shape[-2:]
    channels = x.shape[1] // (size[0] * size[1])

    def one(given: Any) -> Any:
        box, n = given
        whole = jnp.sign(box) * jnp.floor(jnp.abs(box) + 0.5)  # halves away from zero
        left, top, right, bottom = (whole + jnp.array([0, 0, 1, 1], x.dtype)) * scale
        rows = _spans(top, jnp.maximum(bottom - top, 0.1), size[0], h)
        columns = _spans(left, jnp.maximum(right - left, 0.1), size[1], w)
        own = x[n].reshape(channels, size[0], size[1], h, w)
        total = jnp.einsum("cpqhw,ph,qw->cpq", own, rows, columns)
        area = rows.sum(1)[:, None] * columns.sum(1)[None]
        return jnp.where(area > 0, total / jnp.maximum(area, 1), 0)

    def _spans(start: Any, length: Any, count: int, limit: int) -> Any:
        k, step = jnp.arange(count), quotient(length, jnp.asarray(count, length.dtype))
        low = jnp.clip(jnp.floor(k * step + start), 0, limit)
        high = jnp.clip(jnp.ceil((k + 1) * step + start), 0, limit)
        pixel = jnp.arange(limit)
        return ((pixel >= low[:, None]) & (pixel < high[:, None])).astype(x.dtype)

    return jax.lax.map(one, (boxes.astype(x.dtype), image))


@op(name="deform_conv2d", amp="white")
def deform_conv2d(
    x: Array,
    offset: Array,
    weight: Array,
    bias: Array | None = None,
    mask: Array | None = None,
    /,
    *,
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    deformable_groups: int,
    groups: int,
) -> Any:
    """Compute a deformable convolution: samples are displaced by `offset` and weighted by `mask`."""
    n, c, _, _ = x.shape
    o, _, kh, kw = weight.shape
    ho, wo = offset.shape[-2:]
    g, taps = deformable_groups, kh * kw
    shift = offset.reshape(n, g, taps, 2, ho, wo)
    tap = jnp.stack(jnp.meshgrid(jnp.arange(kh), jnp.arange(kw), indexing="ij"), -1).reshape(taps, 2)
    row = (jnp.arange(ho) * stride[0] - padding[0])[None, :, None] + (tap[:, 0] * dilation[0])[:, None, None]
    column = (jnp.arange(wo) * stride[1] - padding[1])[None, None] + (tap[:, 1] * dilation[1])[:, None, None]
    rows, columns = row + shift[:, :, :, 0], column + shift[:, :, :, 1]  # [n, g, taps, ho, wo]
    read = jax.vmap(jax.vmap(bilinear))(x.reshape(n, g, c // g, *x.shape[2:]), rows, columns)
    if mask is not None:
        read = read * mask.reshape(n, g, 1, taps, ho, wo)
    parts = read.reshape(n, groups, c // groups * taps, ho * wo)
    out = jnp.einsum("ngkp,gok->ngop", parts, weight.reshape(groups, o // groups, -1)).reshape(n, o, ho, wo)
    return out if bias is None else out + bias.reshape(1, -1, 1, 1)


@op(name="yolo_box", grad=False)
def yolo_box(
    x: Array,
    size: Array,
    /,
    *,
    anchors: tuple[int, ...],
    classes: int,
    threshold: float,
    ratio: int,
    clip: bool,
    scale: float,
    aware: bool,
    aware_factor: float,
) -> Any:
    """Decode boxes [n, m, 4] and scores [n, m, classes] from a YOLOv3 head."""
    n, _, h, w = x.shape
    count = len(anchors) // 2
    iou = jax.nn.sigmoid(x[:, :count]).reshape(n, count, h, w) if aware else None
    head = (x[:, count:] if aware else x).reshape(n, count, 5 + classes, h, w)
    anchor = jnp.asarray(anchors, x.dtype).reshape(1, count, 2, 1, 1)
    image = size.astype(x.dtype)[:, None, None, None]  # height, width
    centre = jax.nn.sigmoid(head[:, :, :2]) * scale - 0.5 * (scale - 1)
    cx = (centre[:, :, 0] + jnp.arange(w)) * image[..., 1] / w
    cy = (centre[:, :, 1] + jnp.arange(h)[:, None]) * image[..., 0] / h
    bw = jnp.exp(head[:, :, 2]) * anchor[:, :, 0] * image[..., 1] / (ratio * w)
    bh = jnp.exp(head[:, :, 3]) * anchor[:, :, 1] * image[..., 0] / (ratio * h)
    sure = jax.nn.sigmoid(head[:, :, 4])
    if iou is not None:
        sure = sure ** (1 - aware_factor) * iou**aware_factor
    keep = sure >= threshold
    box = [cx - bw / 2, cy - bh / 2, cx + bw / 2, cy + bh / 2]
    if clip:
        right, bottom = image[..., 1] - 1, image[..., 0] - 1
        box = [jnp.maximum(box[0], 0), jnp.maximum(box[1], 0), jnp.minimum(box[2], right), jnp.minimum(box[3], bottom)]
    boxes = jnp.stack(box, -1) * keep[..., None]
    scores = jnp.moveaxis(jax.nn.sigmoid(head[:, :, 5:]), 2, -1) * (sure * keep)[..., None]
    return boxes.reshape(n, -1, 4), scores.reshape(n, -1, classes)
