"""Kernels of detectors that no public function has: suppression by class, and anchors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..eager.tensor import Tensor
from ..ops.convert import to_tensor
from ..ops.creation import arange
from ..ops.dynamic import concrete
from ..ops.on_host import HostResult, on_host
from .cells import corners
from .proposals import _suppress

__all__ = ["anchor_generator", "multiclass_nms3"]


def anchor_generator(
    input: Tensor, anchor_sizes: Sequence[float] = (), aspect_ratios: Sequence[float] = (),
    variances: Sequence[float] = (), stride: Sequence[float] = (), offset: float = 0.5,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Generate the anchors of Faster R-CNN for each cell of a feature map.

    Arguments:
        input: features [N, C, H, W].
        anchor_sizes: sizes in pixels. Default: ().
        aspect_ratios: ratios of height to width. Default: ().
        variances: variances of the four coordinates. Default: ().
        stride: width and height of a cell in pixels. Default: ().
        offset: position of the center in a cell. Default: 0.5.

    Returns:
        The anchors [H, W, anchors, 4], and their variances of the same shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> anchors, _ = anchor_generator(paddle.zeros([1, 1, 1, 1]), [8.0], [1.0], [0.1, 0.1, 0.2, 0.2], [4.0, 4.0])
        >>> anchors.tolist()
        [[[[-2.0, -2.0, 5.0, 5.0]]]]

    Source: Ren et al., Faster R-CNN, 2015.
    """
    ratio, size = (a.reshape(-1) for a in np.meshgrid(aspect_ratios, anchor_sizes, indexing="ij"))
    wide = np.floor(np.sqrt(stride[0] * stride[1] / ratio) + 0.5)  # whole pixels, halves upwards
    high = np.floor(wide * ratio + 0.5)
    half = np.stack([size / stride[1] * high - 1, size / stride[0] * wide - 1], -1) / 2
    y, x = [
        arange(n, dtype=input.dtype) * s + offset * (s - 1) for n, s in zip(input.shape[2:], stride[::-1], strict=True)
    ]
    anchors = corners(y, x, to_tensor(half, dtype=input.dtype))
    return anchors, to_tensor(list(variances), dtype=input.dtype).expand(anchors.shape)


def _suppress_by_class(
    boxes: np.ndarray, scores: np.ndarray, least: float, most: int, rule: Any, background: int
) -> np.ndarray:
    """Of a picture, class and number of the boxes [found, 2] that stay of each class; boxes [m, 1 or classes, 4]."""
    kinds: list[np.ndarray] = []
    for kind in (k for k in range(scores.shape[1]) if k != background):
        order = np.argsort(-scores[:, kind], kind="stable")
        order = order[scores[order, kind] > least][: most if most > -1 else None]
        kept = order[_suppress(boxes[order, kind % boxes.shape[1]], *rule)]
        kinds.append(np.stack([np.full_like(kept, kind), kept], -1))
    return np.concatenate([np.zeros((0, 2), np.int64), *kinds])


def _pictures(boxes: np.ndarray, scores: np.ndarray, counts: np.ndarray | None) -> Any:
    """Boxes [m, 1 or classes, 4], scores [m, classes] and the number of the first box, for each picture."""
    if counts is None:
        firsts = range(0, boxes.shape[0] * boxes.shape[1], boxes.shape[1])
        return zip(boxes[:, :, None], scores.transpose(0, 2, 1), firsts, strict=True)
    cuts = np.cumsum(counts)[:-1]
    return zip(np.split(boxes, cuts), np.split(scores, cuts), [0, *cuts], strict=True)


def _multiclass(given: dict[str, Any]) -> Any:
    boxes, counts = given["bboxes"], given["rois_num"]
    pictures = (counts if counts is not None else boxes).shape[0]
    return HostResult(("n", 6), boxes.dtype.np), HostResult(("n", 1), "int32"), HostResult((pictures,), "int32")


@on_host(_multiclass)
def multiclass_nms3(
    bboxes: Tensor, scores: Tensor, rois_num: Tensor | None = None, score_threshold: float = 0.0, nms_top_k: int = -1,
    keep_top_k: int = -1, nms_threshold: float = 0.3, normalized: bool = True, nms_eta: float = 1.0,
    background_label: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Non-maximum suppression for each class.

    Arguments:
        bboxes: boxes [N, m, 4], or with rois_num [m, classes, 4].
        scores: scores [N, classes, m], or with rois_num [m, classes].
        rois_num: number of boxes of each image.
        score_threshold: boxes with a lower score are dropped. Default: 0.0.
        nms_top_k: largest number of boxes of a class that enter; -1: all. Default: -1.
        keep_top_k: largest number of boxes of an image that are returned; -1: all. Default: -1.
        nms_threshold: a box is removed if its IoU with a better one exceeds this. Default: 0.3.
        normalized: False: coordinates are pixels, and the last pixel belongs to a box. Default: True.
        nms_eta: factor of nms_threshold after each kept box. Default: 1.0.
        background_label: class that is ignored. Default: 0.

    Returns:
        Boxes [found, 6] as (class, score, x1, y1, x2, y2), their indices, and the numbers by image.

    Raises:
        ValueError: boxes are not given by four numbers.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> boxes = paddle.to_tensor([[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9]]])
        >>> found, index, count = multiclass_nms3(boxes, paddle.to_tensor([[[0.5, 0.75]]]), background_label=-1)
        >>> found[:, :2].tolist(), index.tolist(), count.tolist()
        ([[0.0, 0.75]], [[1]], [1])
    """
    if bboxes.shape[-1] != 4:
        raise ValueError(f"multiclass_nms3: boxes are given by {bboxes.shape[-1]} numbers; expected 4")
    given: Any = (t if t is None else concrete(t, "multiclass_nms3()", "all boxes") for t in (bboxes, scores, rois_num))
    rule, rows, places, counts = (nms_threshold, nms_eta, -1, float(not normalized)), [], [], []
    for boxes, marks, first in _pictures(*given):
        kind, number = _suppress_by_class(boxes, marks, score_threshold, nms_top_k, rule, background_label).T
        if -1 < keep_top_k < len(kind):
            best = np.argsort(-marks[number, kind], kind="stable")[:keep_top_k]
            best = best[np.argsort(kind[best], kind="stable")]
            kind, number = kind[best], number[best]
        if rois_num is not None:
            kind, number = (a[np.lexsort((number, kind))] for a in (kind, number))
        box = boxes[number, kind % boxes.shape[1]]
        rows.append(np.concatenate([kind[:, None], marks[number, kind, None], box], 1))
        places.append(first + number if rois_num is None else (first + number) * marks.shape[1] + kind)
        counts.append(len(kind))
    out = np.concatenate(rows).astype(bboxes.numpy().dtype)
    index = np.concatenate(places).astype(np.int32)[:, None]
    return to_tensor(out), to_tensor(index), to_tensor(np.array(counts, np.int32))
