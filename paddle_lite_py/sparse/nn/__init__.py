"""Layers of sparse tensors."""

from ...core.argument_docs import document as _document
from . import functional
from .layers import LeakyReLU, ReLU, ReLU6, Softmax
from .windows import BatchNorm, Conv2D, Conv3D, MaxPool3D, SubmConv2D, SubmConv3D, SyncBatchNorm

__all__ = [
    *("BatchNorm", "Conv2D", "Conv3D", "LeakyReLU", "MaxPool3D", "ReLU", "ReLU6", "Softmax", "SubmConv2D"),
    *("SubmConv3D", "SyncBatchNorm", "functional"),
]

_document(globals())
