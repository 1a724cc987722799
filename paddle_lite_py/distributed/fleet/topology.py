"""Who shares data, layers and states with whom: processes as places in a box, an axis for each kind of parallelism."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ...core.no_effect import Immaterial, no_effect
from ..group import Group, get_rank, get_world_size, new_group

# Axes as programs name them in `hybrid_parallel_order`, and as methods have them.
AXES = {"dp": "data", "pp": "pipe", "sharding": "sharding", "sep": "sep", "mp": "model"}


class ParallelMode:
    """The main kind of parallelism, as returned by HybridCommunicateGroup.get_parallel_mode()."""

    DATA_PARALLEL, TENSOR_PARALLEL, PIPELINE_PARALLEL, SHARDING_PARALLEL, SEGMENT_PARALLEL = range(5)


class CommunicateTopology:
    """Cartesian topology of processes: names and sizes of its axes; ranks vary fastest along the last axis.

    Arguments:
        hybrid_group_names: names of the axes.
        dims: sizes of the axes.

    Examples:
        >>> box = CommunicateTopology(["data", "model"], [2, 4])
        >>> box.get_rank(data=1, model=0), box.get_comm_list("data")[0]
        (4, [0, 4])
    """

    def __init__(
        self, hybrid_group_names: Sequence[str] = tuple(AXES.values()), dims: Sequence[int] = (1,) * len(AXES)
    ) -> None:
        self._names, self._dims = list(hybrid_group_names), list(dims)
        self._places = list(itertools.product(*map(range, dims)))

    def get_hybrid_group_names(self) -> list[str]:
        """Return the names of the axes."""
        return self._names

    def get_dim(self, axis_name: str) -> int:
        """Return the size of an axis."""
        return self._dims[self._names.index(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """Return the number of processes."""
        return len(self._places)

    def get_rank(self, **place: int) -> int:
        """Return the rank at coordinates, which are given for all axes by keyword."""
        return self._places.index(tuple(place[n] for n in self._names))

    def get_coord(self, rank: int) -> tuple[int, ...]:
        """Return the coordinates of a rank."""
        return self._places[rank]

    def get_axis_list(self, axis_name: str, index: int) -> list[int]:
        """Return the ranks with an index along an axis."""
        at = self._names.index(axis_name)
        return [rank for rank, place in enumerate(self._places) if place[at] == index]

    def get_comm_list(self, axis_name: str) -> list[list[int]]:
        """Return the groups of ranks that differ only along an axis."""
        return self.get_fused_ranks([axis_name])

    def get_fused_ranks(self, fused_axis: Sequence[str]) -> list[list[int]]:
        """Return the groups of ranks that differ only along some axes."""
        among = [self._names.index(n) for n in fused_axis]
        found: dict[tuple[int, ...], list[int]] = {}
        for rank, place in enumerate(self._places):
            found.setdefault(tuple(p for i, p in enumerate(place) if i not in among), []).append(rank)
        return list(found.values())

    def get_rank_from_stage(self, global_rank: int, **changed: int) -> int:
        """Return the rank whose coordinates are those of another rank, except for the given axes."""
        return self.get_rank(**{**dict(zip(self._names, self._places[global_rank], strict=True)), **changed})


class HybridCommunicateGroup:
    """Ranks, sizes and groups of this process along each axis of a topology.

    The methods are get_data_parallel_rank(), get_model_parallel_world_size() and so on.

    Arguments:
        topology: the topology; None: a single process.

    Raises:
        ValueError: if its size differs from the number of processes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> group = paddle.distributed.fleet.get_hybrid_communicate_group()
        >>> group.get_model_parallel_world_size(), group.get_data_parallel_rank()
        (1, 0)
    """

    def __init__(self, topology: CommunicateTopology | None = None) -> None:
        self._topo = topology or CommunicateTopology(dims=[get_world_size(), *[1] * (len(AXES) - 1)])
        if self._topo.world_size() != get_world_size():
            raise ValueError(
                f"the topology has {self._topo.world_size()} places for {get_world_size()} processes: the degrees of "
                "hybrid_configs must multiply to the number of processes"
            )
        self.global_rank, self.nranks = get_rank(), get_world_size()
        names = self._topo.get_hybrid_group_names()
        self._groups = {n: self._own([n]) for n in names}
        shared = [n for n in ("data", "sharding", "sep") if n in names]
        # Who has the same weights, and other data. Gradients are means over rows, and sums over parts of sequences.
        self.gradient_group = self._own(shared) if shared else Group.of([self.global_rank])
        self.sequence_parts = self._topo.get_dim("sep") if "sep" in names else 1
        for name, axes in {"dp_sep": ("data", "sep"), "pp_mp": ("pipe", "model")}.items():
            self._groups[name] = self._own([n for n in axes if n in names])

    def _own(self, axes: Sequence[str]) -> Group:
        """Return the group of this process along axes; all processes make all groups, in one order."""
        if math.prod(self._topo.get_dim(n) for n in axes) == 1:
            return Group.of([self.global_rank])
        made: list[Group] = [new_group(ranks) for ranks in self._topo.get_fused_ranks(axes)]
        return next(g for g in made if g.is_member())

    def topology(self) -> CommunicateTopology:
        """Return the topology."""
        return self._topo

    def get_global_rank(self) -> int:
        """Return the rank of this process."""
        return self.global_rank

    def get_stage_id(self) -> int:
        """Return the pipeline stage of this process."""
        return self._groups["pipe"].rank

    def get_num_stages(self) -> int:
        """Return the number of pipeline stages."""
        return self._groups["pipe"].nranks

    @property
    def is_first_stage(self) -> bool:
        """Return whether this process has the first pipeline stage."""
        return self.get_stage_id() == 0

    @property
    def is_last_stage(self) -> bool:
        """Return whether this process has the last pipeline stage."""
        return self.get_stage_id() == self.get_num_stages() - 1

    def get_rank_from_stage(self, stage_id: int, **changed: int) -> int:
        """Return the rank of a stage, at the coordinates of this process along all other axes."""
        return self._topo.get_rank_from_stage(self.global_rank, pipe=stage_id, **changed)

    def get_parallel_mode(self) -> int:
        """Return the dominant kind of parallelism: 0 data, 1 tensor, 2 pipeline, 3 sharding, 4 sequence."""
        order = (("pipe", 2), ("model", 1), ("sep", 4), ("sharding", 3))
        return next((mode for axis, mode in order if self._groups[axis].nranks > 1), 0)

    @no_effect(sharding=Immaterial("states are whole numbers of parameters"))
    def get_check_parallel_group(self, sharding: bool = False) -> Group:
        """Return the group of processes that must agree on whether gradients are finite."""
        return self._groups["model"]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        head, _, what = name.partition("_parallel_")
        group = self.__dict__.get("_groups", {}).get(head.removeprefix("get_")) if head.startswith("get_") else None
        answers = {"rank": "rank", "world_size": "nranks", "group": "", "group_src_rank": ""}
        if group is None or what not in answers:
            raise AttributeError(f"HybridCommunicateGroup has no attribute {name!r}")
        if what == "group":
            return lambda *_: group
        return lambda *_: group.ranks[0] if what == "group_src_rank" else getattr(group, answers[what])
