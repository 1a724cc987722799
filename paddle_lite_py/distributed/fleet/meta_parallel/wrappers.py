"""Models as processes train them that share layers, states or sequences: copies with one gradient."""

from __future__ import annotations

from typing import Any

from ....core.no_effect import Immaterial, no_effect
from ...data_parallel import DataParallel
from ..utils.hybrid_parallel_util import sync_shared

__all__ = ["SegmentParallel", "ShardingParallel", "TensorParallel"]


class TensorParallel(DataParallel):
    """A model whose layers are split over processes; who has the same part has one gradient.

    Arguments:
        layers: the model.
        hcg: the topology.
        strategy: see docs/differences.md.
    """

    @no_effect(strategy=Immaterial("the topology says who shares what"))
    def __init__(self, layers: Any, hcg: Any, strategy: Any = None, find_unused_parameters: bool = False) -> None:
        sync_shared(layers, hcg.get_model_parallel_group())
        super().__init__(layers, find_unused_parameters=find_unused_parameters, group=hcg.gradient_group)
        self.sequence_parts = hcg.sequence_parts


class ShardingParallel(TensorParallel):
    """A model of whose optimizer each process has some states; see TensorParallel."""


class SegmentParallel(TensorParallel):
    """A model that sees a part of each sequence in each process; see TensorParallel.

    Gradients of the parts are added up: a loss is that of the whole sequence, or the share of a part in it.
    """
