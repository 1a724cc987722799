"""Detection on the host: prior boxes, levels of regions, suppression by matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..eager.tensor import Tensor
from ..ops.convert import shape, to_tensor
from ..ops.creation import arange
from ..ops.dynamic import concrete
from ..ops.on_host import HostResult, on_host
from .cells import corners

__all__ = ["distribute_fpn_proposals", "matrix_nms", "prior_box"]


def _shapes(least: float, most: float | None, ratios: list[float], first: bool) -> list[tuple[float, float]]:
    """Width and height of the boxes for a size."""
    by_ratio = [(least * math.sqrt(r), least / math.sqrt(r)) for r in ratios]
    between = [] if most is None else [(math.sqrt(least * most),) * 2]
    return [by_ratio[0], *between, *by_ratio[1:]] if first else [*by_ratio, *between]


def prior_box(
    input: Tensor, image: Tensor, min_sizes: Sequence[float], max_sizes: Sequence[float] | None = None,
    aspect_ratios: Sequence[float] = (1.0,), variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2), flip: bool = False,
    clip: bool = False, steps: Sequence[float] = (0.0, 0.0), offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False, name: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Generate the prior boxes (anchors) of SSD for each cell of a feature map.

    Arguments:
        input: features [N, C, H, W].
        image: images [N, 3, image height, image width].
        min_sizes: sizes of the smaller boxes in pixels.
        max_sizes: sizes of the larger boxes; each adds a box of size sqrt(min * max).
        aspect_ratios: ratios of width to height, besides 1. Default: (1.0,).
        variance: variances of the four coordinates. Default: (0.1, 0.1, 0.2, 0.2).
        flip: add the inverse aspect ratios. Default: False.
        clip: clip the boxes to [0, 1]. Default: False.
        steps: width and height of a cell in pixels; 0: image size / feature size. Default: (0.0, 0.0).
        offset: position of the center in a cell. Default: 0.5.
        min_max_aspect_ratios_order: place the boxes of max_sizes second instead of last. Default: False.

    Returns:
        The boxes [H, W, priors, 4], relative to the image, and their variances of the same shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> boxes, _ = prior_box(paddle.zeros([1, 1, 1, 2]), paddle.zeros([1, 3, 4, 8]), [2.0])
        >>> boxes.tolist()
        [[[[0.125, 0.25, 0.375, 0.75]], [[0.625, 0.25, 0.875, 0.75]]]]

    Source: Liu et al., SSD: Single Shot MultiBox Detector, 2016.
    """
    ratios = [1.0]
    for r in aspect_ratios:
        if all(abs(r - known) > 1e-6 for known in ratios):
            ratios += [r, 1.0 / r] if flip else [r]
    most = [None] * len(min_sizes) if not max_sizes else list(max_sizes)
    shapes = [
        s for a, b in zip(min_sizes, most, strict=True) for s in _shapes(a, b, ratios, min_max_aspect_ratios_order)
    ]
    cells, pixels = (shape(t)[2:].astype(input.dtype) for t in (input, image))
    step = to_tensor(list(steps)[::-1], dtype=input.dtype) if all(steps) else pixels / cells
    half = to_tensor(shapes, dtype=input.dtype).flip([1]) / 2
    y, x = [(arange(n, dtype=input.dtype) + offset) * step[i] for i, n in enumerate(input.shape[2:])]
    boxes = corners(y, x, half) / pixels.flip([0]).tile([2])
    boxes = boxes.clip(0, 1) if clip else boxes
    return boxes, to_tensor(list(variance), dtype=input.dtype).expand(boxes.shape)


def _levels(given: dict[str, Any]) -> Any:
    regions, counts = given["fpn_rois"], given["rois_num"]
    levels = range(given["min_level"], given["max_level"] + 1)
    each = None if counts is None else [HostResult(counts.shape, "int32") for _ in levels]
    found = [HostResult((f"n{i}", 4), regions.dtype.np) for i in levels]
    return found, HostResult((regions.shape[0], 1), "int32"), each


@on_host(_levels)
def distribute_fpn_proposals(
    fpn_rois: Tensor, min_level: int, max_level: int, refer_level: int, refer_scale: int, pixel_offset: bool = False,
    rois_num: Tensor | None = None, name: Any = None,
) -> tuple[list[Tensor], Tensor, list[Tensor] | None]:  # fmt: skip
    """Assign regions to the levels of a feature pyramid by their size.

    Arguments:
        fpn_rois: regions [n, 4] as (x1, y1, x2, y2).
        min_level: lowest level of the pyramid.
        max_level: highest level.
        refer_level: level of a region of size refer_scale.
        refer_scale: the reference size in pixels.
        pixel_offset: the last pixel belongs to a region. Default: False.
        rois_num: number of regions of each image, int32 [N].

    Returns:
        A list with the regions of each level; the index that restores the order, int32 [n, 1]; and a list with the
            number of regions by image of each level (None without rois_num).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> rois = paddle.to_tensor([[0.0, 0.0, 200.0, 200.0], [0.0, 0.0, 10.0, 10.0]])
        >>> levels, order, _ = distribute_fpn_proposals(rois, 2, 3, 3, 200)
        >>> [len(level) for level in levels], order.tolist()
        ([1, 1], [[1], [0]])

    Source: Lin et al., Feature Pyramid Networks for Object Detection, 2017.
    """
    boxes = concrete(fpn_rois, "distribute_fpn_proposals()", "regions that are known while tracing")
    sides = boxes[:, 2:] - boxes[:, :2] + pixel_offset
    level = np.floor(np.log2(np.sqrt(np.maximum(sides, 0).prod(1)) / refer_scale + 1e-8) + refer_level)
    level = np.clip(level, min_level, max_level).astype(int)
    counts = [len(boxes)] if rois_num is None else concrete(rois_num, "distribute_fpn_proposals()", "rois_num").tolist()
    picture = np.repeat(np.arange(len(counts)), counts)
    chosen = [np.flatnonzero(level == i) for i in range(min_level, max_level + 1)]
    place = np.argsort(np.concatenate(chosen), kind="stable").astype(np.int32)[:, None]
    each = [to_tensor(np.bincount(picture[c], minlength=len(counts)).astype(np.int32)) for c in chosen]
    return [to_tensor(boxes[c]) for c in chosen], to_tensor(place), None if rois_num is None else each


def _overlaps(boxes: np.ndarray, extra: float) -> np.ndarray:
    low, high = np.maximum(boxes[:, None, :2], boxes[None, :, :2]), np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    shared = np.where((high >= low).all(-1), (high - low + extra).prod(-1), 0)
    area = (boxes[:, 2:] - boxes[:, :2] + extra).prod(1)
    return shared / np.maximum(area[:, None] + area[None] - shared, 1e-10)


def _decayed(boxes: np.ndarray, scores: np.ndarray, sigma: float | None, extra: float) -> np.ndarray:
    """Scores, the best first, lowered by how much better boxes cover each."""
    over = np.triu(_overlaps(boxes, extra), 1)
    worst = over.max(0, initial=0.0)[:, None]  # of the box that covers, how far it is covered itself
    with np.errstate(divide="ignore", invalid="ignore"):  # a box that another covers whole lowers nothing
        factor = np.exp((worst**2 - over**2) * sigma) if sigma is not None else (1 - over) / (1 - worst)
    return scores * np.fmin.reduce(np.where(np.triu(np.ones_like(over), 1) > 0, factor, 1.0), 0, initial=1.0)


def _matrix(given: dict[str, Any]) -> Any:
    boxes, index, counts = given["bboxes"], given["return_index"], given["return_rois_num"]
    counted = HostResult((boxes.shape[0],), "int32") if counts else None
    return HostResult(("n", 6), boxes.dtype.np), counted, HostResult(("n", 1), "int32") if index else None


@on_host(_matrix)
def matrix_nms(
    bboxes: Tensor, scores: Tensor, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int,
    use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True,
    return_index: bool = False, return_rois_num: bool = True, name: Any = None,
) -> Any:  # fmt: skip
    """Matrix non-maximum suppression: reduce scores by the overlap with better boxes of the class, in parallel.

    Arguments:
        bboxes: boxes [N, m, 4].
        scores: scores [N, classes, m].
        score_threshold: boxes with a lower score are dropped before the suppression.
        post_threshold: boxes with a lower score are dropped after it.
        nms_top_k: largest number of boxes of a class that enter; -1: all.
        keep_top_k: largest number of boxes of an image that are returned; -1: all.
        use_gaussian: reduce scores by a Gaussian instead of linearly. Default: False.
        gaussian_sigma: its parameter. Default: 2.0.
        background_label: class that is ignored; -1: none. Default: 0.
        normalized: False: coordinates are pixels, and the last pixel belongs to a box. Default: True.
        return_index: also return the indices of the boxes. Default: False.
        return_rois_num: also return the number of boxes of each image. Default: True.

    Returns:
        Boxes [found, 6] as (class, score, x1, y1, x2, y2); the numbers by image [N], or None; the indices [found, 1],
            or None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> boxes = paddle.to_tensor([[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.0]]])
        >>> found, count, _ = matrix_nms(boxes, paddle.to_tensor([[[0.9, 0.8]]]), 0.1, 0.3, -1, -1, background_label=-1)
        >>> [round(score, 2) for score in found[:, 1].tolist()], count.tolist()
        ([0.9, 0.4], [2])

    Source: Wang et al., SOLOv2: Dynamic and Fast Instance Segmentation, 2020.
    """
    places = concrete(bboxes, "matrix_nms()", "scores and masks").astype(np.float64)
    marks, extra = concrete(scores, "matrix_nms()", "masks").astype(np.float64), 0.0 if normalized else 1.0
    rows: list[Any] = []
    counts = []
    for n in range(len(places)):
        found: list[Any] = []
        for kind in (k for k in range(marks.shape[1]) if k != background_label):
            order = np.argsort(-marks[n, kind], kind="stable")
            order = order[marks[n, kind][order] > score_threshold][: nms_top_k if nms_top_k > -1 else None]
            lowered = _decayed(places[n, order], marks[n, kind, order], gaussian_sigma if use_gaussian else None, extra)
            found += [
                (s, kind, n * places.shape[1] + i) for s, i in zip(lowered, order, strict=True) if s > post_threshold
            ]
        found = sorted(found, key=lambda f: -f[0])[: keep_top_k if keep_top_k > -1 else None]
        rows += [(kind, s, *places.reshape(-1, 4)[i], i) for s, kind, i in found]
        counts.append(len(found))
    table = np.array(rows).reshape(len(rows), 7)
    index = to_tensor(table[:, 6:].astype(np.int32)) if return_index else None
    count = to_tensor(np.array(counts, np.int32)) if return_rois_num else None
    return to_tensor(table[:, :6].astype(np.float32)), count, index
