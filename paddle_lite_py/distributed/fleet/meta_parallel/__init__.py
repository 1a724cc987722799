"""Models whose layers are split over processes."""

from .layers import ColumnParallelLinear, ParallelCrossEntropy, RowParallelLinear, VocabParallelEmbedding
from .parallel import PipelineParallel
from .pipeline import LayerDesc, PipelineLayer, SharedLayerDesc
from .tracker import RNGStatesTracker, get_rng_state_tracker, model_parallel_random_seed
from .wrappers import SegmentParallel, ShardingParallel, TensorParallel

__all__ = [
    "ColumnParallelLinear",
    "LayerDesc",
    "ParallelCrossEntropy",
    "PipelineLayer",
    "PipelineParallel",
    "RNGStatesTracker",
    "RowParallelLinear",
    "SegmentParallel",
    "ShardingParallel",
    "TensorParallel",
    "SharedLayerDesc",
    "VocabParallelEmbedding",
    "get_rng_state_tracker",
    "model_parallel_random_seed",
]
