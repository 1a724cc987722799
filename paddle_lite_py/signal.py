"""Signals: the namespace paddle.signal."""

from .core.argument_docs import document as _document
from .ops.signal import frame, istft, overlap_add, stft

__all__ = ["frame", "istft", "overlap_add", "stft"]

_document(globals())
