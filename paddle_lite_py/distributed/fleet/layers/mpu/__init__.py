"""Layers of which each process would hold a part, and exchanges between the parts."""

from . import mp_layers, mp_ops, random
from .mp_layers import ColumnParallelLinear, ParallelCrossEntropy, RowParallelLinear, VocabParallelEmbedding

__all__ = [
    "ColumnParallelLinear",
    "ParallelCrossEntropy",
    "RowParallelLinear",
    "VocabParallelEmbedding",
    "mp_layers",
    "mp_ops",
    "random",
]
