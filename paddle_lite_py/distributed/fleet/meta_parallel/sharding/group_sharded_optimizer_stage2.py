"""An optimizer of which each process holds some states and gradients (ZeRO, stage 2)."""

from __future__ import annotations

from typing import Any

from .....core.no_effect import Immaterial, no_effect
from ....group import Group, get_rank, init_parallel_env
from ...meta_optimizers.dygraph_optimizer import DygraphShardingOptimizer

__all__ = ["GroupShardedOptimizerStage2"]


class StatesGroup:
    """A topology of processes that share states, and nothing else.

    Arguments:
        group: who shares them.
    """

    def __init__(self, group: Group) -> None:
        self.group, self.nranks = group, group.nranks
        alone = Group.of([get_rank()])
        self.get_model_parallel_group = self.get_pipe_parallel_group = lambda: alone
        self.get_sharding_parallel_group = lambda: group


class GroupShardedOptimizerStage2(DygraphShardingOptimizer):
    """The optimizer, with all its methods: a process keeps the states and gradients of its share of the parameters.

    Arguments:
        params: the parameters that it trains; those of the optimizer.
        optim: an optimizer.
        group: who shares them; all processes by default.
        settings: see docs/differences.md.
    """

    @no_effect(
        params=Immaterial("the optimizer has them"), settings="states stay on the device, and gradients travel together"
    )
    def __init__(self, params: Any, optim: Any, group: Group | None = None, **settings: Any) -> None:
        among = group or init_parallel_env()
        super().__init__(optim, StatesGroup(among), among)

    def step(self) -> None:
        """Update this process's share of the parameters, take that of the others, and forget their gradients."""
        super().step()
        if self._group.nranks > 1:
            for i, share in enumerate(self.shares):
                for p in share if i != self._group.rank else ():
                    p.clear_gradient(set_to_zero=False)
