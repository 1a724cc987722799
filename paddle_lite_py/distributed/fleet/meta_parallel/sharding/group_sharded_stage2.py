"""A model whose gradients are reduced over the processes that share states (ZeRO, stage 2)."""

from __future__ import annotations

from typing import Any

from .....core.no_effect import Immaterial, no_effect
from .....nn import Layer
from ....data_parallel import DataParallel
from ....group import Group

__all__ = ["GroupShardedStage2"]

_TOGETHER = "all gradients travel together, after backward()"


class GroupShardedStage2(DataParallel):
    """A model for a GroupShardedOptimizerStage2, which keeps the gradients of its share and forgets the others.

    Arguments:
        layer: the model; parameters begin as those of the first process.
        sharding_optimizer: the optimizer.
        group: the processes that share states; None: all.
        sync_buffers, buffer_max_size, auto_refresh_trainable, device, dp_group: see docs/differences.md.
    """

    @no_effect(
        sharding_optimizer=Immaterial("the optimizer finds the gradients of its parameters itself"),
        sync_buffers="buffers begin the same",
        buffer_max_size=_TOGETHER, auto_refresh_trainable="what is trained is looked up at each step",
        device="XLA's device is used", dp_group="give all processes that share the data as `group`",
    )  # fmt: skip
    def __init__(
        self, layer: Layer, sharding_optimizer: Any, group: Group | None = None, sync_buffers: bool = False,
        buffer_max_size: int = 2**23, auto_refresh_trainable: bool = True, device: str = "gpu", dp_group: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(layer, group=group)
