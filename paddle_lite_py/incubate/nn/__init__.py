"""Layers that are one op."""

from ...core.argument_docs import document as _document
from . import functional, memory_efficient_attention
from .layers import FusedBiasDropoutResidualLayerNorm, FusedDropoutAdd, FusedLinear
from .transformer import FusedFeedForward, FusedMultiHeadAttention, FusedMultiTransformer, FusedTransformerEncoderLayer

__all__ = [
    "FusedBiasDropoutResidualLayerNorm",
    "FusedDropoutAdd",
    "FusedFeedForward",
    "FusedLinear",
    "FusedMultiHeadAttention",
    "FusedMultiTransformer",
    "FusedTransformerEncoderLayer",
    "functional",
    "memory_efficient_attention",
]

_document(globals())
