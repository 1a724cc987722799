"""Models whose layers are split over processes."""

from .context_parallel import heads_to_sequence, join_sequence, ring_attention, sequence_to_heads, split_sequence
from .layers import ColumnParallelLinear, ParallelCrossEntropy, RowParallelLinear, VocabParallelEmbedding
from .parallel import PipelineParallel, PipelineParallelWithInterleave
from .pipeline import LayerDesc, PipelineLayer, SharedLayerDesc
from .tracker import RNGStatesTracker, get_rng_state_tracker, model_parallel_random_seed
from .wrappers import SegmentParallel, ShardingParallel, TensorParallel

__all__ = [
    "ColumnParallelLinear",
    "LayerDesc",
    "ParallelCrossEntropy",
    "PipelineLayer",
    "PipelineParallel",
    "PipelineParallelWithInterleave",
    "RNGStatesTracker",
    "RowParallelLinear",
    "SegmentParallel",
    "ShardingParallel",
    "TensorParallel",
    "SharedLayerDesc",
    "VocabParallelEmbedding",
    "get_rng_state_tracker",
    "heads_to_sequence",
    "join_sequence",
    "model_parallel_random_seed",
    "ring_attention",
    "sequence_to_heads",
    "split_sequence",
]
