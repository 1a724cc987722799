"""An optimizer of which each process holds the states of some parameters (ZeRO, stage 1)."""

from __future__ import annotations

import math
from typing import Any

from .....core.interpreter import no_grad
from ....programs import exchanged
from .hybrid_parallel_optimizer import HybridParallelOptimizer

__all__ = ["DygraphShardingOptimizer", "DygraphShardingOptimizerV2"]


class DygraphShardingOptimizer(HybridParallelOptimizer):
    """Optimizer with sharded state (ZeRO stage 1): each process updates its share of the parameters and broadcasts it.

    Arguments:
        optimizer: the optimizer.
        hcg: the topology; None: the current one.
        group: the group of processes; None: that of the sharding axis.
    """

    def __init__(self, optimizer: Any, hcg: Any = None, group: Any = None) -> None:
        super().__init__(optimizer, hcg)
        self._group = group or self._hcg.get_sharding_parallel_group()
        self.shares = _shares(optimizer._parameter_list, self._group.nranks)

    def step(self) -> None:
        """Update this process's share of the parameters, and take that of the others."""
        if self._group.nranks == 1:
            self._inner_opt.step()
            return
        others = [p for i, share in enumerate(self.shares) if i != self._group.rank for p in share]
        held = [p._grad for p in others]
        with no_grad():
            for p in others:
                p._grad = None
            try:
                self._inner_opt.step()
            finally:
                for p, grad in zip(others, held, strict=True):
                    p._grad = grad
            for root, share in enumerate(self.shares):
                if share:
                    new = exchanged("broadcast of a model", share, self._group, root)
                    for p, value in zip(share, new, strict=True):
                        p._set_payload(value._payload)


def _shares(parameters: list[Any], count: int) -> list[list[Any]]:
    """Parameters in shares of about the same number of elements, the same in all processes."""
    shares: list[list[Any]] = [[] for _ in range(count)]
    sizes = [0] * count
    for p in sorted(parameters, key=lambda p: -math.prod(p.shape)):
        at = sizes.index(min(sizes))
        shares[at].append(p)
        sizes[at] += math.prod(p.shape)
    return shares


class DygraphShardingOptimizerV2(DygraphShardingOptimizer):
    """The optimizer, with all its methods.

    Arguments:
        optimizer: an optimizer.
        hcg: the topology; that in force by default.
    """
