"""Layers and pipelines that are split over processes."""

from .layers import ColumnParallelLinear, ParallelCrossEntropy, RowParallelLinear, VocabParallelEmbedding
from .pipeline import LayerDesc, PipelineLayer, SharedLayerDesc
from .tracker import RNGStatesTracker, get_rng_state_tracker

__all__ = [
    "ColumnParallelLinear",
    "LayerDesc",
    "ParallelCrossEntropy",
    "PipelineLayer",
    "RNGStatesTracker",
    "RowParallelLinear",
    "SharedLayerDesc",
    "VocabParallelEmbedding",
    "get_rng_state_tracker",
]
