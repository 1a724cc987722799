"""An optimizer of which each process holds some states. Here it holds them all."""

from __future__ import annotations

from .hybrid_parallel_optimizer import HybridParallelOptimizer

__all__ = ["DygraphShardingOptimizer", "DygraphShardingOptimizerV2"]


class DygraphShardingOptimizer(HybridParallelOptimizer):
    """The optimizer, with all its methods.

    Args:
        optimizer: an optimizer.
        hcg: accepted for compatibility.
    """


class DygraphShardingOptimizerV2(DygraphShardingOptimizer):
    """The optimizer, with all its methods.

    Args:
        optimizer: an optimizer.
        hcg: accepted for compatibility.
    """
