"""Detection: the loss of YOLOv3, and the regions that a first stage proposes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..eager.tensor import Tensor
from ..ops import yolo
from ..ops.convert import to_tensor
from ..ops.dynamic import concrete
from ..ops.on_host import HostResult, on_host

__all__ = ["generate_proposals", "yolo_loss"]

# The greatest growth of a side from an anchor to a box.
_GROWTH = math.log(1000 / 16)


def yolo_loss(
    x: Tensor,
    gt_box: Tensor,
    gt_label: Tensor,
    anchors: Any,
    anchor_mask: Any,
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Tensor | None = None,
    use_label_smooth: bool = True,
    name: Any = None,
    scale_x_y: float = 1.0,
) -> Tensor:
    """Compute the YOLOv3 loss of each image: the sum of losses of location, confidence and classes.

    Arguments:
        x: output of the head [N, anchors * (5 + class_num), H, W].
        gt_box: true boxes [N, b, 4] as center and size, relative to the image; boxes of size 0 are ignored.
        gt_label: their classes, int32 [N, b].
        anchors: width and height of all anchors in pixels, in a flat list.
        anchor_mask: indices of the anchors of this head.
        class_num: number of classes.
        ignore_thresh: predictions whose IoU with a true box exceeds this have no confidence loss.
        downsample_ratio: ratio of image size to feature size.
        gt_score: weight of each true box [N, b]; None: ones.
        use_label_smooth: smooth the class labels by 1 / class_num. Default: True.
        scale_x_y: factor of the decoded centers. Default: 1.0.

    Returns:
        The losses [N].

    Raises:
        ValueError: if the number of channels does not match anchors and classes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> box, label = paddle.to_tensor([[[0.5, 0.5, 0.5, 0.5]]]), paddle.to_tensor([[0]])
        >>> x = paddle.zeros([1, 6, 1, 1])
        >>> round(paddle.vision.ops.yolo_loss(x, box, label, [4, 4], [0], 1, 0.7, 8, use_label_smooth=False).item(), 4)
        3.8123

    Source: Redmon and Farhadi, YOLOv3, 2018.
    """
    want = len(anchor_mask) * (5 + class_num)
    if x.shape[1] != want:
        raise ValueError(f"yolo_loss: x has {x.shape[1]} channels; expected {want} for {len(anchor_mask)} anchors")
    fn: Any = yolo.yolo_loss
    settings: dict[str, Any] = {"anchors": tuple(anchors), "mask": tuple(anchor_mask), "classes": class_num}
    settings |= {"ignore": float(ignore_thresh), "ratio": downsample_ratio, "smooth": use_label_smooth}
    return fn(x, gt_box, gt_label, gt_score, **settings, scale=float(scale_x_y))


def _decode(anchor: np.ndarray, delta: np.ndarray, variance: np.ndarray, size: np.ndarray, one: float) -> np.ndarray:
    """Boxes [m, 4] from anchors moved and stretched, within the picture."""
    extent = anchor[:, 2:] - anchor[:, :2] + one
    center = anchor[:, :2] + extent / 2 + variance[:, :2] * delta[:, :2] * extent
    extent = extent * np.exp(np.minimum(variance[:, 2:] * delta[:, 2:], _GROWTH))
    corners = np.concatenate([center - extent / 2, center + extent / 2 - one], 1)
    height, width = size[:2]  # with the scale of the picture behind, as in the reference
    return np.clip(corners, 0, np.array([width, height, width, height], corners.dtype) - one)


def _suppress(boxes: np.ndarray, threshold: float, eta: float, most: int, one: float) -> list[int]:
    """Return those of the boxes, the best first, that overlap no better one too much; the threshold falls by eta."""
    left, top, right, bottom = np.ascontiguousarray(boxes.T)
    area = (right - left + one) * (bottom - top + one)
    most_shared = np.zeros_like(area)  # of each box, the largest overlap with a box that stays
    kept: list[int] = []
    for i in range(len(boxes)):
        if not most_shared[i] <= threshold:
            continue
        kept.append(i)
        if len(kept) == most > 0:
            break
        threshold *= eta if eta < 1 and threshold > 0.5 else 1.0
        after = slice(i + 1, None)
        width = np.minimum(right[i], right[after]) - np.maximum(left[i], left[after])
        height = np.minimum(bottom[i], bottom[after]) - np.maximum(top[i], top[after])
        shared = (width + one) * (height + one)
        with np.errstate(invalid="ignore", divide="ignore"):  # boxes without area that meet overlap by 0 / 0: too much
            overlap = np.where((width >= 0) & (height >= 0), shared / (area[i] + area[after] - shared), 0)
        np.maximum(most_shared[after], overlap, out=most_shared[after])
    return kept


def _proposals(given: dict[str, Any]) -> Any:
    scores = given["scores"]
    counts = HostResult((scores.shape[0],), "int32") if given["return_rois_num"] else None
    return HostResult(("n", 4), scores.dtype.np), HostResult(("n", 1), scores.dtype.np), counts


@on_host(_proposals)
def generate_proposals(
    scores: Tensor,
    bbox_deltas: Tensor,
    img_size: Tensor,
    anchors: Tensor,
    variances: Tensor,
    pre_nms_top_n: float = 6000,
    post_nms_top_n: float = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: Any = None,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Generate region proposals (RPN): decode anchors, keep the best, and apply non-maximum suppression.

    Arguments:
        scores: objectness [N, A, H, W].
        bbox_deltas: box codes [N, 4 * A, H, W].
        img_size: height and width of each image [N, 2].
        anchors: anchors [H, W, A, 4].
        variances: their variances [H, W, A, 4].
        pre_nms_top_n: number of best boxes that enter the suppression. Default: 6000.
        post_nms_top_n: largest number of boxes to keep. Default: 1000.
        nms_thresh: a box is removed if its IoU with a better one exceeds this. Default: 0.5.
        min_size: smallest height and width of a region, at least 1. Default: 0.1.
        eta: factor of nms_thresh after each kept box (adaptive suppression). Default: 1.0.
        pixel_offset: the last pixel belongs to a box. Default: False.
        return_rois_num: also return the number of regions of each image. Default: False.

    Returns:
        The regions [m, 4], their scores [m, 1], and with return_rois_num their numbers int32 [N]. An image without
        regions has one of zeros.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> anchors = paddle.to_tensor([[[[0.0, 0.0, 4.0, 4.0]]]])
        >>> sizes, ones = paddle.to_tensor([[8.0, 8.0]]), paddle.ones([1, 1, 1, 4])
        >>> boxes, scores, _ = paddle.vision.ops.generate_proposals(
        ...     paddle.ones([1, 1, 1, 1]), paddle.zeros([1, 4, 1, 1]), sizes, anchors, ones
        ... )
        >>> boxes.tolist(), scores.tolist()
        ([[0.0, 0.0, 4.0, 4.0]], [[1.0]])

    Source: Ren et al., Faster R-CNN, 2015.
    """
    given = (scores, bbox_deltas, img_size, anchors, variances)
    score, delta, size, anchor, variance = (concrete(t, "generate_proposals()", "all scores") for t in given)
    one, boxes, marks = float(pixel_offset), [], []
    for i in range(len(score)):
        mark = score[i].transpose(1, 2, 0).reshape(-1)
        moved = delta[i].reshape(-1, 4, *delta.shape[2:]).transpose(2, 3, 0, 1).reshape(-1, 4)
        order = np.argsort(-mark, kind="stable")[: int(pre_nms_top_n) if pre_nms_top_n > 0 else None]
        found = _decode(anchor.reshape(-1, 4)[order], moved[order], variance.reshape(-1, 4)[order], size[i], one)
        extent = found[:, 2:] - found[:, :2] + one
        order, found = (t[(extent >= max(min_size, 1.0)).all(1)] for t in (order, found))
        best = _suppress(found, nms_thresh, eta, int(post_nms_top_n), one)
        # As in the reference, an image without regions has an empty one.
        boxes.append(found[best] if len(best) else np.zeros((1, 4), found.dtype))
        marks.append(mark[order][best, None] if len(best) else np.zeros((1, 1), mark.dtype))
    counts = to_tensor(np.array([len(b) for b in boxes], np.int32)) if return_rois_num else None
    return to_tensor(np.concatenate(boxes)), to_tensor(np.concatenate(marks)), counts
