"""Operators of detection and of graphs."""

from __future__ import annotations

from typing import Any

from ... import geometric as _geometric
from ...vision import kernels
from ...vision import ops as _ops
from .table import number, operator, tensor

V: Any = _ops
geometric: Any = _geometric


@operator("roi_align")
def roi_align(
    x: Any, boxes: Any, boxes_num: Any = None, *, pooled_height: int = 1, pooled_width: int = 1,
    spatial_scale: float = 1.0, sampling_ratio: int = -1, aligned: bool = False,
) -> Any:  # fmt: skip
    given = map(tensor, (x, boxes, boxes_num))
    return V.roi_align(*given, (pooled_height, pooled_width), spatial_scale, sampling_ratio, aligned)


@operator("roi_pool")
def roi_pool(
    x: Any, boxes: Any, boxes_num: Any = None, *, pooled_height: int = 1, pooled_width: int = 1,
    spatial_scale: float = 1.0,
) -> Any:  # fmt: skip
    return V.roi_pool(*map(tensor, (x, boxes, boxes_num)), (pooled_height, pooled_width), spatial_scale), None


@operator("psroi_pool")
def psroi_pool(
    x: Any, boxes: Any, boxes_num: Any = None, *, pooled_height: int = 1, pooled_width: int = 1,
    spatial_scale: float = 1.0,
) -> Any:  # fmt: skip
    return V.psroi_pool(*map(tensor, (x, boxes, boxes_num)), (pooled_height, pooled_width), spatial_scale)


@operator("deformable_conv")
def deformable_conv(
    x: Any, offset: Any, filter: Any, mask: Any = None, *, strides: Any, paddings: Any, dilations: Any,
    deformable_groups: int = 1, groups: int = 1,
) -> Any:  # fmt: skip
    x, offset, filter, mask = map(tensor, (x, offset, filter, mask))
    sizes = map(list, (strides, paddings, dilations))
    return V.deform_conv2d(x, offset, filter, None, *sizes, deformable_groups, groups, mask)


@operator("yolo_box")
def yolo_box(
    x: Any, img_size: Any, *, anchors: Any, class_num: int, conf_thresh: float, downsample_ratio: int,
    clip_bbox: bool = True, scale_x_y: float = 1.0, iou_aware: bool = False, iou_aware_factor: float = 0.5,
) -> Any:  # fmt: skip
    return V.yolo_box(
        tensor(x), tensor(img_size), list(anchors), class_num, conf_thresh, downsample_ratio, clip_bbox,
        scale_x_y=scale_x_y, iou_aware=iou_aware, iou_aware_factor=iou_aware_factor,
    )  # fmt: skip


@operator("nms")
def nms(x: Any, *, threshold: float) -> Any:
    return V.nms(tensor(x), threshold)


@operator("multiclass_nms3")
def multiclass_nms3(
    bboxes: Any, scores: Any, rois_num: Any = None, *, score_threshold: float = 0.0, nms_top_k: int = -1,
    keep_top_k: int = -1, nms_threshold: float = 0.3, normalized: bool = True, nms_eta: float = 1.0,
    background_label: int = 0,
) -> Any:  # fmt: skip
    return kernels.multiclass_nms3(
        tensor(bboxes), tensor(scores), tensor(rois_num), score_threshold, nms_top_k, keep_top_k, nms_threshold,
        normalized, nms_eta, background_label,
    )  # fmt: skip


@operator("matrix_nms")
def matrix_nms(
    bboxes: Any, scores: Any, *, score_threshold: float, nms_top_k: int, keep_top_k: int, post_threshold: float = 0.0,
    use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True,
) -> Any:  # fmt: skip
    found, counts, index = V.matrix_nms(
        tensor(bboxes), tensor(scores), score_threshold, post_threshold, nms_top_k, keep_top_k, use_gaussian,
        gaussian_sigma, background_label, normalized, return_index=True,
    )  # fmt: skip
    return found, index, counts


@operator("generate_proposals")
def generate_proposals(
    scores: Any, bbox_deltas: Any, im_shape: Any, anchors: Any, variances: Any, *, pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000, nms_thresh: float = 0.5, min_size: float = 0.1, eta: float = 1.0,
    pixel_offset: bool = True,
) -> Any:  # fmt: skip
    return V.generate_proposals(
        *map(tensor, (scores, bbox_deltas, im_shape, anchors, variances)), pre_nms_top_n, post_nms_top_n, nms_thresh,
        min_size, eta, pixel_offset, return_rois_num=True,
    )  # fmt: skip


@operator("distribute_fpn_proposals")
def distribute_fpn_proposals(
    fpn_rois: Any, rois_num: Any = None, *, min_level: int, max_level: int, refer_level: int, refer_scale: int,
    pixel_offset: bool = True,
) -> Any:  # fmt: skip
    levels, order, counts = V.distribute_fpn_proposals(
        tensor(fpn_rois), min_level, max_level, refer_level, refer_scale, pixel_offset, tensor(rois_num)
    )
    return levels, counts, order


@operator("prior_box")
def prior_box(
    input: Any, image: Any, *, min_sizes: Any, max_sizes: Any = (), aspect_ratios: Any = (), variances: Any = (),
    flip: bool = True, clip: bool = True, step_w: float = 0.0, step_h: float = 0.0, offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
) -> Any:  # fmt: skip
    return V.prior_box(
        tensor(input), tensor(image), list(min_sizes), list(max_sizes) or None, list(aspect_ratios), list(variances),
        flip, clip, [step_w, step_h], offset, min_max_aspect_ratios_order,
    )  # fmt: skip


@operator("box_coder")
def box_coder(
    prior_box: Any, prior_box_var: Any, target_box: Any, *, code_type: str = "encode_center_size",
    box_normalized: bool = True, axis: int = 0, variance: Any = (),
) -> Any:  # fmt: skip
    spread = tensor(prior_box_var) if prior_box_var is not None else list(variance) or None
    return V.box_coder(tensor(prior_box), spread, tensor(target_box), code_type, box_normalized, axis)


@operator("send_u_recv")
def send_u_recv(x: Any, src_index: Any, dst_index: Any, out_size: Any = None, *, reduce_op: str = "SUM") -> Any:
    size = number(out_size) if out_size is not None else None
    return geometric.send_u_recv(*map(tensor, (x, src_index, dst_index)), reduce_op.lower(), size or None), None


@operator("send_ue_recv")
def send_ue_recv(
    x: Any, y: Any, src_index: Any, dst_index: Any, out_size: Any = None, *, message_op: str = "ADD",
    reduce_op: str = "SUM",
) -> Any:  # fmt: skip
    size = number(out_size) if out_size is not None else None
    given = map(tensor, (x, y, src_index, dst_index))
    return geometric.send_ue_recv(*given, message_op.lower(), reduce_op.lower(), size or None), None


@operator("send_uv")
def send_uv(x: Any, y: Any, src_index: Any, dst_index: Any, *, message_op: str = "ADD") -> Any:
    return geometric.send_uv(*map(tensor, (x, y, src_index, dst_index)), message_op.lower())


@operator("segment_pool")
def segment_pool(x: Any, segment_ids: Any, *, pooltype: str = "SUM") -> Any:
    return getattr(geometric, f"segment_{pooltype.lower()}")(tensor(x), tensor(segment_ids)), None
