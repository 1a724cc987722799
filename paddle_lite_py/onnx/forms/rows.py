"""Rows of operators whose result has a size that data tell, where ONNX has a form and a model file has none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model_files.writing.emitter import Unwritable
from ...model_files.writing.pir_text import FileValue, TensorType
from ...model_files.writing.rows.table import row
from ..writer import OnnxWriter
from .indexing import distinct

# By name of an operator of a program; see the table of rows.
OWN: dict[str, Any] = {}


@row("_unique", table=OWN)
def unique(w: OnnxWriter, x: FileValue, size: Any, axis: int | None) -> tuple[FileValue, ...]:
    return tuple(distinct(w, x, axis, size))


@row("_count_unique", table=OWN)
def count_unique(w: OnnxWriter, x: FileValue, axis: int | None) -> FileValue:
    first, _, _ = distinct(w, x, axis, None)
    return w.node("Size", first, to=TensorType((), "int64"))


@row("nms_on_host", table=OWN)
def nms(w: OnnxWriter, tensors: Any, names: Any, others: Any) -> FileValue:
    """Boxes of a category are those of one class; without scores they are in order, so earlier ones score more."""
    given = dict(zip(names, tensors, strict=True)) | dict(others)
    boxes, scores, kinds = given["boxes"], given["scores"], given["category_idxs"]
    n = boxes.type.shape[0]
    if scores is None:
        line = w.node("Range", w.constant(0, "int64"), w.size(n), w.constant(1, "int64"), to=TensorType((n,), "int64"))
        scores = w.node("Neg", w.cast(line, "float32"), to=TensorType((n,), "float32"))
    scores = w.cast(scores, "float32")
    boxes, top_k = w.cast(boxes, "float32"), given["top_k"]
    per_class = _by_category(w, scores, kinds, given["categories"])
    found = _selected(w, boxes, per_class, float(given["iou_threshold"]), kinds is not None)
    found = found if kinds is None else _best_first(w, found, scores)
    return found if top_k is None else w.slice(found, 0, 0, top_k)


def _by_category(w: OnnxWriter, scores: FileValue, kinds: FileValue | None, categories: Any) -> FileValue:
    """The scores of each class [1, classes, n], the least there is for boxes of other ones."""
    n = scores.type.shape[0]
    if kinds is None:
        return w.reshape(scores, (1, 1, n))
    if categories is None:
        raise Unwritable("categories that only a run tells have no form in ONNX: name them")
    wanted = w.constant(np.array(list(categories), np.int64).reshape(-1, 1))
    shape = (len(list(categories)), n)
    is_kind = w.node("Equal", wanted, w.reshape(w.cast(kinds, "int64"), (1, n)), to=TensorType(shape, "bool"))
    chosen = w.node("Where", is_kind, w.reshape(scores, (1, n)), w.constant(_LEAST), to=TensorType(shape, "float32"))
    return w.reshape(chosen, (1, *shape))


_LEAST = np.float32(-3.0e38)


def _selected(w: OnnxWriter, boxes: FileValue, scores: FileValue, threshold: float, is_marked: bool) -> FileValue:
    """The numbers of the boxes that no better one of their class suppresses."""
    n = boxes.type.shape[0]
    most = w.row_of(w.size(n))
    options = [w.constant(np.array([threshold], np.float32))]
    options += [w.constant(np.array([_LEAST / 2], np.float32))] if is_marked else []
    image = w.reshape(boxes, (1, n, 4))
    kind = TensorType((None, 3), "int64")
    found = w.node("NonMaxSuppression", image, scores, most, *options, to=kind)
    return w.node("Gather", found, w.constant(2, "int64"), to=TensorType((None,), "int64"), axis=1)


def _best_first(w: OnnxWriter, found: FileValue, scores: FileValue) -> FileValue:
    """Boxes of several classes in the order of their scores; of equal ones the earlier box comes first."""
    count = w.node("Shape", found, to=TensorType((1,), "int64"))
    found, _ = w.nodes_of("TopK", [found, count], [found.type] * 2, axis=0, largest=0, sorted=1)
    marks = w.node("Gather", scores, found, to=TensorType((None,), "float32"), axis=0)
    _, order = w.nodes_of("TopK", [marks, count], [marks.type, found.type], axis=0, largest=1, sorted=1)
    return w.node("Gather", found, order, to=found.type, axis=0)
