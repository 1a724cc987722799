"""Rows of detection: boxes of a head, proposals, and those that suppress others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..emitter import Emitter, Unwritable
from ..pir_text import FileValue, TensorType
from .table import row


def _given(tensors: Sequence[FileValue], names: Sequence[str], others: Any) -> dict[str, Any]:
    """Return the arguments of a function that Python computes here, by name."""
    return dict(zip(names, tensors, strict=True)) | dict(others)


def _attributes(given: dict[str, Any], **kinds: Any) -> dict[str, Any]:
    return {name: kind(given[name]) for name, kind in kinds.items()}


@row("yolo_box")
def yolo_box(
    w: Emitter, x: Any, size: Any, anchors: Any, classes: int, threshold: float, ratio: int, clip: bool, scale: float,
    aware: bool, aware_factor: float,
) -> tuple[FileValue, ...]:  # fmt: skip
    attrs = {
        "anchors": [int(a) for a in anchors], "class_num": classes, "conf_thresh": float(threshold),
        "downsample_ratio": ratio, "clip_bbox": clip, "scale_x_y": float(scale), "iou_aware": aware,
        "iou_aware_factor": float(aware_factor),
    }  # fmt: skip
    return tuple(w.emit("yolo_box", [x, w.cast(size, "int32")], w.out, **attrs))


@row("matrix_nms_on_host")
def matrix_nms(w: Emitter, tensors: Sequence[FileValue], names: Any, others: Any) -> tuple[FileValue, ...]:
    given = _given(tensors, names, others)
    counts = TensorType((given["bboxes"].type.shape[0],), "int32")
    types = [w.out[0], TensorType((-1, 1), "int32"), counts]
    attrs = _attributes(
        given, score_threshold=float, nms_top_k=int, keep_top_k=int, post_threshold=float, use_gaussian=bool,
        gaussian_sigma=float, background_label=int, normalized=bool,
    )  # fmt: skip
    out, index, count = w.emit("matrix_nms", [given["bboxes"], given["scores"]], types, **attrs)
    wanted = (count, given["return_rois_num"]), (index, given["return_index"])
    return out, *[value for value, is_wanted in wanted if is_wanted]


@row("multiclass_nms3_on_host")
def multiclass_nms3(w: Emitter, tensors: Sequence[FileValue], names: Any, others: Any) -> tuple[FileValue, ...]:
    given = _given(tensors, names, others)
    attrs = _attributes(
        given, score_threshold=float, nms_top_k=int, keep_top_k=int, nms_threshold=float, normalized=bool,
        nms_eta=float, background_label=int,
    )  # fmt: skip
    operands = [given["bboxes"], given["scores"], given["rois_num"]]
    return tuple(w.emit("multiclass_nms3", operands, w.out, **attrs))


@row("generate_proposals_on_host")
def generate_proposals(w: Emitter, tensors: Sequence[FileValue], names: Any, others: Any) -> tuple[FileValue, ...]:
    given = _given(tensors, names, others)
    operands = [given[n] for n in ("scores", "bbox_deltas", "img_size", "anchors", "variances")]
    attrs = _attributes(
        given, pre_nms_top_n=int, post_nms_top_n=int, nms_thresh=float, min_size=float, eta=float, pixel_offset=bool
    )
    counts = TensorType((given["scores"].type.shape[0],), "int32")
    return tuple(w.emit("generate_proposals", operands, [*w.out[:2], counts], **attrs))[: len(w.out)]


@row("distribute_fpn_proposals_on_host")
def distribute_fpn_proposals(
    w: Emitter, tensors: Sequence[FileValue], names: Any, others: Any
) -> tuple[FileValue, ...]:
    given = _given(tensors, names, others)
    attrs = _attributes(given, min_level=int, max_level=int, refer_level=int, refer_scale=int, pixel_offset=bool)
    n = attrs["max_level"] - attrs["min_level"] + 1
    levels, order = list(w.out[:n]), w.out[n]
    counts = [TensorType((-1,), "int32")] * n
    operands = [given["fpn_rois"], given["rois_num"]]
    found, each, place = w.emit("distribute_fpn_proposals", operands, [levels, counts, order], **attrs)
    numbers = w.items(each) if given["rois_num"] is not None else []
    return *w.items(found), place, *numbers


@row("nms_on_host")
def nms(w: Emitter, tensors: Sequence[FileValue], names: Any, others: Any) -> FileValue:
    given = _given(tensors, names, others)
    if any(given[n] is not None for n in ("scores", "category_idxs", "top_k")):
        raise Unwritable("scores, categories and top_k have no form there: order the boxes, best first")
    return w.op("nms", given["boxes"], to=w.out[0], threshold=float(given["iou_threshold"]))
