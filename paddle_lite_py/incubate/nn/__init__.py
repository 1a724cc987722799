"""Layers that are one op."""

from . import functional, memory_efficient_attention
from .layers import FusedBiasDropoutResidualLayerNorm, FusedDropoutAdd, FusedFeedForward, FusedLinear

__all__ = [
    "FusedBiasDropoutResidualLayerNorm",
    "FusedDropoutAdd",
    "FusedFeedForward",
    "FusedLinear",
    "functional",
    "memory_efficient_attention",
]
