"""Optimizers around optimizers, for gradients and states that processes share."""

from . import chosen, dgc_optimizer, dygraph_optimizer, localsgd_optimizer
from .dgc_optimizer import DGCMomentumOptimizer
from .localsgd_optimizer import AdaptiveLocalSGDOptimizer, LocalSGDOptimizer

__all__ = [
    *("AdaptiveLocalSGDOptimizer", "DGCMomentumOptimizer", "LocalSGDOptimizer", "chosen", "dgc_optimizer"),
    *("dygraph_optimizer", "localsgd_optimizer"),
]
