"""Paddle's incubating features: fused layers, and other names of features that live elsewhere."""

from ..core.argument_docs import document as _document
from ..ops.segment import segment_max, segment_mean, segment_min, segment_sum
from . import asp, autodl, autograd, autotune, nn, optimizer
from .graph import graph_reindex, graph_sample_neighbors, graph_send_recv
from .optimizer import LookAhead, ModelAverage
from .softmax import identity_loss, softmax_mask_fuse, softmax_mask_fuse_upper_triangle

__all__ = [
    "LookAhead",
    "ModelAverage",
    "asp",
    "autodl",
    "autograd",
    "autotune",
    "graph_reindex",
    "graph_sample_neighbors",
    "graph_send_recv",
    "identity_loss",
    "nn",
    "optimizer",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
    "softmax_mask_fuse",
    "softmax_mask_fuse_upper_triangle",
]

_document(globals())
