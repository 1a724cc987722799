"""An optimizer of which each process holds some states and gradients. Here it holds them all."""

from __future__ import annotations

from typing import Any

from ...meta_optimizers.dygraph_optimizer import HybridParallelOptimizer

__all__ = ["GroupShardedOptimizerStage2"]


class GroupShardedOptimizerStage2(HybridParallelOptimizer):
    """The optimizer, with all its methods.

    Args:
        params: the parameters that it trains.
        optim: an optimizer.
        settings: accepted for compatibility.
    """

    def __init__(self, params: Any, optim: Any, **settings: Any) -> None:
        super().__init__(optim)
