"""Programs whose sizes depend on data: each computes something of the arrays of GIVEN."""

from __future__ import annotations

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import geometric
from paddle_lite_py.nn import functional as F
from paddle_lite_py.vision import ops

X = np.array([[0.5, -1, 2], [3, -4, 5]], "float32")
BOXES = np.array([[0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30], [0, 0, 5, 5]], "float32")
GIVEN = {
    "x": X,
    "n": np.array(3, "int64"),
    "shape": np.array([3, 2], "int64"),
    "counts": np.array([2, 0, 1], "int64"),
    "boxes": BOXES,
    "scores": np.array([0.9, 0.8, 0.7, 0.6], "float32"),
}
# The same shapes, and other sizes found.
OTHER = GIVEN | {"x": -X, "counts": np.array([1, 1, 3], "int64"), "scores": GIVEN["scores"][::-1].copy()}


def proposals(t):
    regions, marks, counts = ops.generate_proposals(
        t["scores"].reshape([1, 1, 2, 2]), t["boxes"].reshape([1, 4, 2, 2]) / 40, paddle.full([1, 2], 40.0),
        t["boxes"].reshape([2, 2, 1, 4]), paddle.ones([2, 2, 1, 4]), return_rois_num=True,
    )  # fmt: skip
    return [regions, marks, counts]


def by_level(t):
    levels, order, counts = ops.distribute_fpn_proposals(t["boxes"], 2, 4, 3, 10, rois_num=paddle.full([1], 4, "int32"))
    return [*levels, order, *counts]


def pooled(f):
    return lambda t: f(t["x"].reshape([1, 1, 2, 3]), t["boxes"], paddle.full([1], 4, "int32"), 2)


# Name -> function of the tensors by name.
CASES = {
    "x[mask]": lambda t: t["x"][t["x"] > 0] * 2,
    "nonzero": lambda t: paddle.nonzero(t["x"] > 0),
    "nonzero as a tuple": lambda t: list(paddle.nonzero(t["x"] > 0, as_tuple=True)),
    "where(mask)": lambda t: list(paddle.where(t["x"] > 0)),
    "masked_select": lambda t: paddle.masked_select(t["x"], t["x"] > 0),
    "unique": lambda t: list(paddle.unique(t["counts"], return_index=True, return_inverse=True, return_counts=True)),
    "unique along an axis": lambda t: list(paddle.unique(t["x"], axis=0, return_index=True)),
    "unique_consecutive": lambda t: paddle.unique_consecutive(t["counts"]),
    "unique_consecutive along an axis": lambda t: list(paddle.unique_consecutive(t["x"], True, True, axis=1)),
    "full": lambda t: paddle.full(t["shape"], 7.0),
    "zeros of a list": lambda t: paddle.zeros([t["n"], 2]),
    "reshape": lambda t: paddle.reshape(t["x"], t["shape"]),
    "reshape with -1": lambda t: paddle.reshape(t["x"], [-1, t["n"]]),
    "arange": lambda t: paddle.arange(0, t["n"]),
    "arange downwards": lambda t: paddle.arange(t["n"], 0, -1),
    "arange of floats": lambda t: paddle.arange(0.0, t["scores"][0], 0.25),
    "linspace": lambda t: paddle.linspace(0, t["scores"][0], t["n"]),
    "expand": lambda t: paddle.expand(t["x"], [t["n"], 2, 3]),
    "tile": lambda t: paddle.tile(t["x"], t["shape"]),
    "one_hot": lambda t: F.one_hot(t["counts"], t["n"] + 1),
    "one_hot without a number": lambda t: F.one_hot(t["counts"]),
    "upsample": lambda t: F.upsample(t["x"].reshape([1, 1, 2, 3]), size=t["shape"]),
    "pad": lambda t: F.pad(t["x"].reshape([1, 1, 2, 3]), paddle.concat([t["shape"], t["shape"]])),
    "argmin along an axis": lambda t: paddle.argmin(t["x"], axis=t["n"] - 2),
    "cumsum along an axis": lambda t: paddle.cumsum(t["x"], axis=t["n"] - 2),
    "repeat_interleave": lambda t: paddle.repeat_interleave(t["x"], t["counts"], axis=1),
    "segment_sum": lambda t: geometric.segment_sum(t["boxes"][:3], paddle.cumsum(t["counts"])),
    "send_u_recv": lambda t: geometric.send_u_recv(t["x"], t["shape"] - 2, t["shape"] - 2, out_size=t["n"]),
    "x[:, :n]": lambda t: t["x"][:, : t["n"] - 1],
    "slice": lambda t: paddle.slice(t["x"], [1], [t["n"] - 2], [t["n"]]),
    "slice by tensors of one element": lambda t: paddle.slice(
        t["x"], [1], t["n"].reshape([1]) - 2, t["n"].reshape([1])
    ),
    "a slice in another shape": lambda t: paddle.slice(t["x"], [1], [0], t["n"].reshape([1])).reshape([-1]),
    "crop": lambda t: paddle.crop(t["counts"], t["n"].reshape([1]) - 1, t["n"].reshape([1]) - 2),
    "strided_slice": lambda t: paddle.strided_slice(t["x"], [1], [t["n"] - 3], [t["n"]], [2]),
    "split": lambda t: paddle.split(t["x"], [1, t["n"] - 1], axis=1),
    "topk": lambda t: list(paddle.topk(t["scores"], t["n"])),
    "bincount": lambda t: paddle.bincount(t["counts"]),
    "eye": lambda t: paddle.eye(t["n"]),
    "sequence_mask": lambda t: F.sequence_mask(t["counts"]),
    "nms": lambda t: ops.nms(t["boxes"], 0.3, t["scores"]),
    "nms by category": lambda t: ops.nms(
        t["boxes"], 0.3, t["scores"], (t["scores"] > 0.75).astype("int64"), categories=[0, 1], top_k=2
    ),
    "boxes by nms": lambda t: paddle.gather(t["boxes"], ops.nms(t["boxes"], 0.3, t["scores"])),
    "matrix_nms": lambda t: list(
        ops.matrix_nms(t["boxes"].unsqueeze(0), t["scores"].reshape([1, 1, 4]), 0.1, 0.1, 4, 4, background_label=-1)
    )[:2],
    "generate_proposals": proposals,
    "distribute_fpn_proposals": by_level,
    "roi_align": pooled(ops.roi_align),
    "roi_pool": pooled(ops.roi_pool),
    "histogramdd": lambda t: paddle.histogramdd(t["x"], bins=[2, 2, 2])[0],
    "found columns": lambda t: paddle.index_select(t["x"], paddle.nonzero(t["counts"] > 0).flatten(), axis=1),
    "found elements": lambda t: paddle.gather_nd(t["x"], paddle.nonzero(t["x"] > 0)),
    "both halves": lambda t: paddle.concat([t["x"][t["x"] > 0], t["x"][t["x"] < 0]]),
    "a product of found rows": lambda t: paddle.matmul(t["boxes"][t["scores"] > 0.65], paddle.ones([4, 2])),
    "two of one size": lambda t: t["x"][t["x"] > 0] + t["x"].abs()[t["x"] > 0],
}
