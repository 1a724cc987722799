"""Rows of operators whose result has a size that data tell, where ONNX has a form and a model file has none."""

from __future__ import annotations

import math
from typing import Any

from ...model_files.writing.pir_text import FileValue, TensorType
from ...model_files.writing.rows.table import row
from ..writer import OnnxWriter
from .indexing import distinct
from .shaping import PAD_MODES

# By name of an operator of a program; see the table of rows.
OWN: dict[str, Any] = {}


@row("_unique", table=OWN)
def unique(w: OnnxWriter, x: FileValue, size: Any, axis: int | None) -> tuple[FileValue, ...]:
    return tuple(distinct(w, x, axis, size))


@row("_count_unique", table=OWN)
def count_unique(w: OnnxWriter, x: FileValue, axis: int | None) -> FileValue:
    first, _, _ = distinct(w, x, axis, None)
    return w.node("Size", first, to=TensorType((), "int64"))


@row("pad", table=OWN)
def pad(w: OnnxWriter, x: FileValue, widths: Any, mode: str, value: Any) -> FileValue:
    around = w.sizes([pair[0] for pair in widths] + [pair[1] for pair in widths])
    number = [w.reshape(w.tensor(value, x.type.dtype), ())] if mode == "constant" else []
    return w.node("Pad", x, around, *number, to=w.out[0], mode=PAD_MODES[mode])


@row("_picture_of", table=OWN)
def picture_of(w: OnnxWriter, boxes: FileValue, counts: FileValue) -> FileValue:
    """For each box how many images have all of theirs before it."""
    n, images = boxes.type.shape[0], math.prod(counts.type.shape)
    line = w.node("Range", w.constant(0, "int64"), w.size(n), w.constant(1, "int64"), to=TensorType((n,), "int64"))
    counts = w.reshape(w.cast(counts, "int64"), (images,))
    ends = w.node("CumSum", counts, w.constant(0, "int64"), to=counts.type)
    pair = w.reshape(line, (n, 1)), w.reshape(ends, (1, images))
    past = w.node("GreaterOrEqual", *pair, to=TensorType((n, images), "bool"))
    return w.node("ReduceSum", w.cast(past, "int32"), w.ints([1]), to=TensorType((n,), "int32"), keepdims=0)


@row("roi_align", table=OWN)
def roi_align(
    w: OnnxWriter, x: FileValue, boxes: FileValue, image: FileValue, size: Any, scale: float, ratio: int, _grid: Any,
    aligned: bool,
) -> FileValue:  # fmt: skip
    attrs = {"output_height": size[0], "output_width": size[1], "sampling_ratio": max(int(ratio), 0)}
    attrs |= {"coordinate_transformation_mode": "half_pixel" if aligned else "output_half_pixel"}
    rois = w.cast(boxes, x.type.dtype)
    return w.node("RoiAlign", x, rois, w.cast(image, "int64"), to=w.out[0], spatial_scale=float(scale), **attrs)


@row("roi_pool", table=OWN)
def roi_pool(w: OnnxWriter, x: FileValue, boxes: FileValue, image: FileValue, size: Any, scale: float) -> FileValue:
    n, dtype = boxes.type.shape[0], x.type.dtype
    parts = [w.reshape(w.cast(image, dtype), (n, 1)), w.cast(boxes, dtype)]
    rois = w.joined(parts, 1, TensorType((n, 5), dtype))
    return w.node("MaxRoiPool", x, rois, to=w.out[0], pooled_shape=[int(s) for s in size], spatial_scale=float(scale))


def given_by_name(tensors: Any, names: Any, others: Any) -> dict[str, Any]:
    """Return the arguments of a function that Python computes here."""
    return dict(zip(names, tensors, strict=True)) | dict(others)
