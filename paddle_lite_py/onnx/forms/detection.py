"""Rows of detection by ONNX's NonMaxSuppression: what Python computes between the parts of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model_files.writing.emitter import Unwritable
from ...model_files.writing.pir_text import FileValue
from ...model_files.writing.rows.table import row
from ..writer import OnnxWriter
from .formulas import Formulas
from .rows import OWN, given_by_name

_LEAST = np.float32(-3.0e38)


# -- suppression ---------------------------------------------------------------------------------------------------
@row("nms_on_host", table=OWN)
def nms(w: OnnxWriter, tensors: Any, names: Any, others: Any) -> FileValue:
    """Boxes of a category are those of one class; without scores they are in order, so earlier ones score more."""
    f, given = Formulas(w), given_by_name(tensors, names, others)
    boxes, scores, kinds = given["boxes"], given["scores"], given["category_idxs"]
    n, top_k = boxes.type.shape[0], given["top_k"]
    if scores is None:
        scores = f("Neg", w.cast(f.count(w.size(n)), "float32"))
    scores = w.cast(scores, "float32")
    per_class = _by_category(f, scores, kinds, given["categories"])
    boxes = f.reshape(w.cast(boxes, "float32"), [1, -1, 4])
    chosen = f.suppressed(boxes, per_class, float(given["iou_threshold"]), None if kinds is None else _LEAST / 2)
    found = f.column(chosen, 2)
    found = found if kinds is None else f.best_first(found, scores)
    return found if top_k is None else f("Slice", found, w.ints([0]), w.ints([top_k]))


def _by_category(f: Formulas, scores: FileValue, kinds: FileValue | None, categories: Any) -> FileValue:
    """The scores of each class [1, classes, n], the least there is for boxes of other ones."""
    if kinds is None:
        return f.reshape(scores, [1, 1, -1])
    if categories is None:
        raise Unwritable("categories known only at run time have no form in ONNX: name them")
    wanted = f.w.constant(np.array(list(categories), np.int64).reshape(-1, 1))
    is_kind = f("Equal", wanted, f.reshape(f.w.cast(kinds, "int64"), [1, -1]), dtype="bool")
    chosen = f("Where", is_kind, f.reshape(scores, [1, -1]), f.w.constant(_LEAST), dtype="float32")
    return f.reshape(chosen, [1, len(list(categories)), -1])


@row("multiclass_nms3_on_host", table=OWN)
def multiclass_nms3(w: OnnxWriter, tensors: Any, names: Any, others: Any) -> tuple[FileValue, ...]:
    """Of each image and class, in this order, the boxes that stay, the best first."""
    f, given = Formulas(w), given_by_name(tensors, names, others)
    if given["rois_num"] is not None or given["nms_eta"] != 1.0 or not given["normalized"]:
        raise Unwritable("rois_num, nms_eta and normalized=False have no form in ONNX's NonMaxSuppression")
    boxes, scores = w.cast(given["bboxes"], "float32"), w.cast(given["scores"], "float32")
    classes, background, most = scores.type.shape[1], given["background_label"], given["nms_top_k"]
    kinds = [k for k in range(classes) if k != background]
    entering = f("Gather", scores, w.ints(kinds), axis=1)
    least = given["score_threshold"]
    if most > -1:
        entering = _best_of_each(f, entering, int(most), float(least))
    chosen = f.suppressed(boxes, entering, float(given["nms_threshold"]), np.float32(least))
    image, place = (f.column(chosen, i) for i in (0, 2))
    kind = f("Gather", w.ints(kinds), f.column(chosen, 1), axis=0)
    table = _Found(f, boxes, scores, image, kind, place)
    return table.results(int(given["keep_top_k"]), given["bboxes"].type.shape[0])


def _best_of_each(f: Formulas, scores: FileValue, most: int, least: float) -> FileValue:
    """Return the scores of the best boxes of each class; others get the least there is."""
    size = f("Shape", scores, dtype="int64", start=2, end=3, rank=1)
    count = f("Min", size, f.w.ints([most]))
    best, places = f.top(scores, count, 2)
    nothing = f("Expand", f.w.constant(_LEAST), f("Shape", scores, dtype="int64", rank=1), dtype="float32", rank=3)
    return f("ScatterElements", nothing, places, best, axis=2)


class _Found:
    """Boxes that stay, each with its image, class, and place among the boxes of the image."""

    def __init__(self, f: Formulas, boxes: FileValue, scores: FileValue, *where: FileValue) -> None:
        self.f, self.boxes, self.scores = f, boxes, scores
        self.image, self.kind, self.place = where
        self.marks = f("GatherND", scores, f.columns([self.image, self.kind, self.place]), rank=1, dtype="float32")

    def results(self, keep: int, images: Any) -> tuple[FileValue, ...]:
        """Rows of class, score and box; where the boxes stand among all; and how many each image has."""
        f, w = self.f, self.f.w
        if keep > -1:
            self._keep(keep)
        box = f("GatherND", self.boxes, f.columns([self.image, self.place]), rank=2)
        numbers = [f.reshape(v, [-1, 1]) for v in (w.cast(self.kind, "float32"), self.marks)]
        rows = f("Concat", *numbers, box, axis=1)
        each = f("Shape", self.boxes, dtype="int64", start=1, end=2, rank=1)
        index = f.reshape(f("Add", f("Mul", self.image, each), self.place), [-1, 1])
        counted = f("Equal", f.reshape(f.count(w.size(images)), [-1, 1]), f.reshape(self.image, [1, -1]), dtype="bool")
        counts = f("ReduceSum", w.cast(counted, "int32"), w.ints([1]), keepdims=0, rank=1)
        return rows, w.cast(index, "int32"), counts

    def _keep(self, most: int) -> None:
        """Drop what more than that many boxes of the image are better than, earlier ones first among equals."""
        f = self.f
        same = f("Equal", f.reshape(self.image, [-1, 1]), f.reshape(self.image, [1, -1]), dtype="bool")
        mine, theirs = f.reshape(self.marks, [-1, 1]), f.reshape(self.marks, [1, -1])
        line = f.count(f("Squeeze", f("Shape", self.image, dtype="int64", rank=1), f.w.ints([0]), rank=0))
        before = f("Less", f.reshape(line, [1, -1]), f.reshape(line, [-1, 1]), dtype="bool")
        equal = f("And", f("Equal", mine, theirs, dtype="bool"), before)
        better = f("And", same, f("Or", f("Greater", theirs, mine, dtype="bool"), equal))
        count = f("ReduceSum", f.w.cast(better, "int64"), f.w.ints([1]), keepdims=0, rank=1)
        stays = f("Less", count, f.w.constant(most, "int64"), dtype="bool")
        for name in ("image", "kind", "place", "marks"):
            setattr(self, name, f("Compress", getattr(self, name), stays, axis=0, rank=1))


@row("matrix_nms_on_host", table=OWN)
def matrix_nms(w: OnnxWriter, tensors: Any, names: Any, others: Any) -> tuple[FileValue, ...]:
    """For all images and classes at once: boxes of low scores, which come last, lower none that stay."""
    f, given = Formulas(w), given_by_name(tensors, names, others)
    boxes, scores = (w.cast(given[k], "float64") for k in ("bboxes", "scores"))
    kinds = [k for k in range(scores.type.shape[1]) if k != given["background_label"]]
    most = given["nms_top_k"]
    count = f.sizes_of(scores, 2, 3)
    count = count if most < 0 else f("Min", count, w.ints([most]))
    marks, place = f.top(f("Gather", scores, w.ints(kinds), axis=1), count, 2)
    chosen = f("GatherND", boxes, f("Unsqueeze", place, w.ints([3]), rank=4), batch_dims=1, rank=4)
    sigma = float(given["gaussian_sigma"]) if given["use_gaussian"] else None
    lowered = f("Mul", marks, _decay(f, chosen, sigma, float(not given["normalized"])))
    stays = f("And", f("Greater", marks, float(given["score_threshold"]), dtype="bool"),
              f("Greater", lowered, float(given["post_threshold"]), dtype="bool"))  # fmt: skip
    return _ranked(f, given, f("Where", stays, lowered, w.constant(_NOTHING, "float64"), dtype="float64"), place, kinds)


_NOTHING = -1.0e300


def _decay(f: Formulas, boxes: FileValue, sigma: float | None, extra: float) -> FileValue:
    """How much better boxes [images, classes, n, 4], which come first, lower the score of each."""
    over = f("Trilu", _overlap(f, boxes, extra), f.w.constant(1, "int64"), upper=1, rank=4)
    worst = f("Unsqueeze", f("ReduceMax", over, f.w.ints([2]), keepdims=0, rank=3), f.w.ints([3]), rank=4)
    if sigma is None:
        factor = f("Div", f("Sub", f.like(over, 1.0), over), f("Sub", f.like(over, 1.0), worst))
    else:
        factor = f("Exp", f("Mul", f("Sub", f("Mul", worst, worst), f("Mul", over, over)), sigma))
    ones = f("Expand", f.like(over, 1.0), f.sizes_of(over, 0, 4), rank=4)
    above = f("Greater", f("Trilu", ones, f.w.constant(1, "int64"), upper=1), 0.0, dtype="bool")
    counts = f("And", above, f("Not", f("IsNaN", factor, dtype="bool")))
    lowest = f("ReduceMin", f("Where", counts, factor, ones, dtype="float64"), f.w.ints([2]), keepdims=0, rank=3)
    return f("Min", lowest, 1.0)


def _overlap(f: Formulas, boxes: FileValue, extra: float) -> FileValue:
    """Intersection over union of each pair of boxes [images, classes, n, n]."""
    a, b = (f("Unsqueeze", boxes, f.w.ints([axis]), rank=5) for axis in (3, 2))
    low = f("Max", f.part(a, 4, 0, 2), f.part(b, 4, 0, 2))
    sides = f("Sub", f("Min", f.part(a, 4, 2, 4), f.part(b, 4, 2, 4)), low)
    meets = f("GreaterOrEqual", f("ReduceMin", sides, f.w.ints([4]), keepdims=0, rank=4), 0.0, dtype="bool")
    product = f("ReduceProd", f("Add", sides, extra), f.w.ints([4]), keepdims=0, rank=4)
    shared = f("Where", meets, product, f.like(product, 0.0), dtype="float64")
    extent = f("Add", f("Sub", f.part(boxes, 3, 2, 4), f.part(boxes, 3, 0, 2)), extra)
    area = f("ReduceProd", extent, f.w.ints([3]), keepdims=0, rank=3)
    both = f("Add", *[f("Unsqueeze", area, f.w.ints([axis]), rank=4) for axis in (3, 2)])
    return f("Div", shared, f("Max", f("Sub", both, shared), 1e-10))


def _ranked(
    f: Formulas, given: dict[str, Any], marks: FileValue, place: FileValue, kinds: list[int]
) -> tuple[FileValue, ...]:
    """Return the rows of the best boxes of each image, how many it has, and where they stand among all."""
    w, keep = f.w, int(given["keep_top_k"])
    each = f.sizes_of(marks, 2, 3)
    flat = f("Reshape", marks, w.ints([0, -1]), rank=2)
    total = f.sizes_of(flat, 1, 2)
    found, order = f.top(flat, total if keep < 0 else f("Min", total, w.ints([keep])), 1)
    stays = f("Greater", found, _NOTHING, dtype="bool")
    image, at = (f.column(f("Transpose", f("NonZero", stays, dtype="int64", rank=2), perm=[1, 0]), i) for i in (0, 1))
    where = f("GatherND", order, f.columns([image, at]), rank=1)
    kind = f("Gather", w.ints(kinds), f("Div", where, each), axis=0, rank=1)
    box = f("GatherND", f("Reshape", place, w.ints([0, -1]), rank=2), f.columns([image, where]), rank=1)
    index = f("Add", f("Mul", image, f.sizes_of(given["bboxes"], 1, 2)), box)
    corners = f("GatherND", given["bboxes"], f.columns([image, box]), rank=2)
    score = f("GatherND", found, f.columns([image, at]), rank=1)
    numbers = [f.reshape(w.cast(v, "float32"), [-1, 1]) for v in (kind, score)]
    rows = f("Concat", *numbers, w.cast(corners, "float32"), axis=1)
    counts = w.cast(f("ReduceSum", w.cast(stays, "int32"), w.ints([1]), keepdims=0, rank=1), "int32")
    more = [(counts, "return_rois_num"), (w.cast(f.reshape(index, [-1, 1]), "int32"), "return_index")]
    return rows, *[value for value, wanted in more if given[wanted]]


# -- proposals -----------------------------------------------------------------------------------------------------
@row("generate_proposals_on_host", table=OWN)
def generate_proposals(w: OnnxWriter, tensors: Any, names: Any, others: Any) -> tuple[FileValue, ...]:
    """Of each image the best regions; an image without any has one of zeros."""
    f, given = Formulas(w), given_by_name(tensors, names, others)
    if given["eta"] != 1.0 or given["pixel_offset"]:
        raise Unwritable("eta and pixel_offset have no form in ONNX's NonMaxSuppression")
    dtype = given["scores"].type.dtype
    start = [w.constant(np.zeros((0, 4), dtype)), w.constant(np.zeros((0, 1), dtype)), w.ints([])]

    def step(i: FileValue, *before: FileValue) -> list[FileValue]:
        more = _of_image(f, given, i)
        return [f("Concat", a, b, axis=0) for a, b in zip(before, more, strict=True)]

    boxes, marks, counts = f.for_each(w.size(given["scores"].type.shape[0]), start, step)
    return (boxes, marks, w.cast(counts, "int32"))[: len(w.out)]


def _of_image(f: Formulas, given: dict[str, Any], at: FileValue) -> tuple[FileValue, ...]:
    w = f.w
    marks = f.reshape(f("Transpose", f("Gather", given["scores"], at, axis=0, rank=3), perm=[1, 2, 0]), [-1])
    each = f("Gather", given["bbox_deltas"], at, axis=0, rank=3)
    a = given["scores"].type.shape[1]
    cells = f.sizes_of(each, 1, 3)
    codes = f("Reshape", each, f("Concat", w.ints([a, 4]), cells, axis=0), rank=4)
    deltas = f.reshape(f("Transpose", codes, perm=[2, 3, 0, 1]), [-1, 4])
    size = f("Size", marks, dtype="int64", rank=0)
    most = int(given["pre_nms_top_n"])
    count = f.reshape(size if most <= 0 else f("Min", size, w.constant(most, "int64")), [1])
    marks, order = f.top(marks, count, 0)
    anchors, spread = (f("Gather", f.reshape(given[k], [-1, 4]), order, axis=0) for k in ("anchors", "variances"))
    image = f("Gather", given["img_size"], at, axis=0, rank=1)
    boxes = _decoded(f, anchors, f("Gather", deltas, order, axis=0), spread, image)
    stays = _large_enough(f, boxes, max(float(given["min_size"]), 1.0))
    boxes, marks = (f("Compress", v, stays, axis=0) for v in (boxes, marks))
    return _proposed(f, boxes, marks, float(given["nms_thresh"]), int(given["post_nms_top_n"]))


def _decoded(f: Formulas, anchor: FileValue, delta: FileValue, spread: FileValue, size: FileValue) -> FileValue:
    """Boxes from anchors moved and stretched, within the image."""
    low, high = f.part(anchor, 1, 0, 2), f.part(anchor, 1, 2, 4)
    extent = f("Sub", high, low)
    shift = f("Mul", f("Mul", f.part(spread, 1, 0, 2), f.part(delta, 1, 0, 2)), extent)
    center = f("Add", f("Add", low, f("Div", extent, 2.0)), shift)
    growth = f("Min", f("Mul", f.part(spread, 1, 2, 4), f.part(delta, 1, 2, 4)), float(np.log(1000 / 16)))
    half = f("Div", f("Mul", extent, f("Exp", growth)), 2.0)
    corners = f("Concat", f("Sub", center, half), f("Add", center, half), axis=1)
    bounds = f("Gather", size, f.w.ints([1, 0, 1, 0]), axis=0)
    return f("Max", f("Min", corners, f.w.cast(bounds, corners.type.dtype)), 0.0)


def _large_enough(f: Formulas, boxes: FileValue, least: float) -> FileValue:
    extent = f("Sub", f.part(boxes, 1, 2, 4), f.part(boxes, 1, 0, 2))
    smallest = f("ReduceMin", extent, f.w.ints([1]), keepdims=0, rank=1)
    return f("GreaterOrEqual", smallest, least, dtype="bool")


def _proposed(f: Formulas, boxes: FileValue, marks: FileValue, threshold: float, most: int) -> tuple[FileValue, ...]:
    """What suppression leaves of boxes with the best first, and of their scores; a row of zeros if it is nothing."""
    w = f.w
    chosen = f.suppressed(
        f("Unsqueeze", w.cast(boxes, "float32"), w.ints([0]), rank=3), f.reshape(w.cast(marks, "float32"), [1, 1, -1]),
        threshold, None, most if most > 0 else None,
    )  # fmt: skip
    best = f.column(chosen, 2)
    count = f("Shape", best, dtype="int64", rank=1)
    lacking = f("Sub", w.ints([1]), f("Min", count, w.ints([1])))
    padding = f("Concat", w.ints([0, 0]), lacking, w.ints([0]), axis=0)
    rows = [f("Gather", boxes, best, axis=0), f.reshape(f("Gather", marks, best, axis=0), [-1, 1])]
    return *[f("Pad", r, padding) for r in rows], f("Max", count, w.ints([1]))


@row("distribute_fpn_proposals_on_host", table=OWN)
def distribute_fpn_proposals(w: OnnxWriter, tensors: Any, names: Any, others: Any) -> tuple[FileValue, ...]:
    """Return the regions of each level, where each region stands among them, and how many each image has of a level."""
    f, given = Formulas(w), given_by_name(tensors, names, others)
    rois, counts = given["fpn_rois"], given["rois_num"]
    level = _levels(f, rois, given)
    chosen = [
        f.reshape(f("NonZero", f("Equal", level, float(i), dtype="bool"), dtype="int64", rank=2), [-1])
        for i in range(given["min_level"], given["max_level"] + 1)
    ]
    order = f("Concat", *chosen, axis=0)
    _, place = f.top(order, f("Shape", order, dtype="int64", rank=1), 0, largest=False)
    found = [f("Gather", rois, c, axis=0) for c in chosen]
    each = [] if counts is None else [_per_image(f, counts, c) for c in chosen]
    return *found, w.cast(f.reshape(place, [-1, 1]), "int32"), *each


def _levels(f: Formulas, rois: FileValue, given: dict[str, Any]) -> FileValue:
    sides = f("Add", f("Sub", f.part(rois, 1, 2, 4), f.part(rois, 1, 0, 2)), float(given["pixel_offset"]))
    area = f("ReduceProd", f("Max", sides, 0.0), f.w.ints([1]), keepdims=0, rank=1)
    ratio = f("Add", f("Div", f("Sqrt", area), float(given["refer_scale"])), 1e-8)
    log = f("Add", f("Div", f("Log", ratio), float(np.log(2))), float(given["refer_level"]))
    return f("Max", f("Min", f("Floor", log), float(given["max_level"])), float(given["min_level"]))


def _per_image(f: Formulas, counts: FileValue, chosen: FileValue) -> FileValue:
    """How many of the chosen regions lie in each image, whose regions follow one another."""
    w = f.w
    ends = f("CumSum", w.cast(counts, "int64"), w.constant(0, "int64"))
    starts = f("Sub", ends, w.cast(counts, "int64"))
    at = f.reshape(chosen, [1, -1])
    inside = f(
        "And", f("GreaterOrEqual", at, f.reshape(starts, [-1, 1]), dtype="bool"),
        f("Less", at, f.reshape(ends, [-1, 1]), dtype="bool"),
    )  # fmt: skip
    return f("ReduceSum", w.cast(inside, "int32"), w.ints([1]), keepdims=0, rank=1)
