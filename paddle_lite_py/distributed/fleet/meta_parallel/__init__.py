"""Models whose layers are split over processes."""

from .context_parallel import heads_to_sequence, join_sequence, ring_attention, sequence_to_heads, split_sequence
from .layers import ColumnParallelLinear, ParallelCrossEntropy, RowParallelLinear, VocabParallelEmbedding
from .parallel import NoPipelineParallel, PipelineParallel, PipelineParallelWithInterleave
from .pipeline import LayerDesc, LocalSharedLayerDesc, PipelineLayer, SharedLayerDesc
from .schedules import (
    EventStore,
    LayerSpec,
    PipelineDatasetPreprocessor,
    ScheduleChunk,
    ScheduleNode,
    WeightGradStore,
    build_spec_layer,
    get_spec_layer,
)
from .tracker import RNGStatesTracker, get_rng_state_tracker, model_parallel_random_seed
from .wrappers import SegmentParallel, ShardingParallel, TensorParallel

__all__ = [
    "ColumnParallelLinear",
    "EventStore",
    "LayerDesc",
    "LayerSpec",
    "LocalSharedLayerDesc",
    "NoPipelineParallel",
    "ParallelCrossEntropy",
    "PipelineDatasetPreprocessor",
    "PipelineLayer",
    "PipelineParallel",
    "PipelineParallelWithInterleave",
    "RNGStatesTracker",
    "RowParallelLinear",
    "ScheduleChunk",
    "ScheduleNode",
    "SegmentParallel",
    "ShardingParallel",
    "SharedLayerDesc",
    "TensorParallel",
    "VocabParallelEmbedding",
    "WeightGradStore",
    "build_spec_layer",
    "get_rng_state_tracker",
    "get_spec_layer",
    "heads_to_sequence",
    "join_sequence",
    "model_parallel_random_seed",
    "ring_attention",
    "sequence_to_heads",
    "split_sequence",
]
