"""Optimizers whose states are spread over processes."""

from .dygraph_sharding_optimizer import DygraphShardingOptimizer
from .hybrid_parallel_optimizer import HybridParallelOptimizer

__all__ = ["DygraphShardingOptimizer", "HybridParallelOptimizer"]
