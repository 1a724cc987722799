"""Who shares data, layers and states with whom: each axis of parallelism holds one process."""

from __future__ import annotations

from collections.abc import Callable

from ..group import Group

AXES = ("data", "model", "sharding", "pipe", "sep", "expert")


class HybridCommunicateGroup:
    """Ranks, sizes and groups of each axis: `get_data_parallel_rank`, `get_model_parallel_world_size`, and so on.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> group = paddle.distributed.fleet.get_hybrid_communicate_group()
        >>> group.get_model_parallel_world_size(), group.get_data_parallel_rank()
        (1, 0)
    """

    nranks = 1
    global_rank = 0
    is_first_stage = is_last_stage = True

    def get_stage_id(self) -> int:
        """0: the first and only stage of a pipeline."""
        return 0

    def get_global_rank(self) -> int:
        """0: the rank of this process."""
        return 0

    def get_parallel_mode(self) -> int:
        """0: processes share data."""
        return 0

    def __getattr__(self, name: str) -> Callable[..., int | Group]:
        for axis in AXES:
            for what, answer in (("rank", 0), ("world_size", 1), ("group", Group([0])), ("group_src_rank", 0)):
                if name == f"get_{axis}_parallel_{what}":
                    return lambda *_, answer=answer: answer
        raise AttributeError(f"HybridCommunicateGroup has no attribute {name!r}")
