"""Signals: the namespace paddle.signal."""

from .ops.signal import frame, istft, overlap_add, stft

__all__ = ["frame", "istft", "overlap_add", "stft"]
