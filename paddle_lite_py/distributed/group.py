"""Who takes part: this process alone. What programs ask before they share work: ranks, sizes, groups."""

from __future__ import annotations

import os
from typing import Any, ClassVar


class ReduceOp:
    """What a reduction over processes does with the values.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.ReduceOp.MAX
        1
    """

    SUM: ClassVar[int] = 0
    MAX: ClassVar[int] = 1
    MIN: ClassVar[int] = 2
    PROD: ClassVar[int] = 3
    AVG: ClassVar[int] = 4


class Group:
    """Processes that exchange values: this one, or none of them.

    Args:
        ranks: who belongs to it.
        id: its number.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> group = paddle.distributed.new_group([0])
        >>> group.nranks, group.rank, group.is_member()
        (1, 0, True)
    """

    def __init__(self, ranks: list[int], id: int = 0) -> None:
        self.ranks, self.id = ranks, id
        self.name, self.backend = f"_default_pg{id}", "XLA"

    @property
    def nranks(self) -> int:
        """How many processes there are."""
        return len(self.ranks)

    world_size = nranks

    @property
    def rank(self) -> int:
        """The place of this process; -1 outside of the group."""
        return self.get_group_rank(0)

    def is_member(self) -> bool:
        """Whether this process belongs to it."""
        return 0 in self.ranks

    def get_group_rank(self, rank: int) -> int:
        """The place in the group of the process with that rank; -1 where it has none."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def get_global_rank(self, rank: int) -> int:
        """The rank among all processes of the one at that place."""
        return self.ranks[rank]

    def __repr__(self) -> str:
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {self.ranks}; name: {self.name}"


class ParallelEnv:
    """The surroundings of this process: one of one, on the first device.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> env = paddle.distributed.ParallelEnv()
        >>> env.rank, env.world_size, env.device_id
        (0, 1, 0)
    """

    rank = local_rank = device_id = dev_id = 0
    world_size = nranks = nrings = 1
    device_type = "cpu"
    current_endpoint = ""
    trainer_endpoints: ClassVar[list[str]] = [""]


_groups: dict[int, Group] = {}


def init_parallel_env(nccl_config: Any = None) -> Group:
    """Begin: the group of all processes, which is this one.

    Raises:
        NotImplementedError: if a launcher started more than one process.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.init_parallel_env().nranks
        1
    """
    if (processes := int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))) > 1:
        raise NotImplementedError(
            f"init_parallel_env: PADDLE_TRAINERS_NUM is {processes}; training runs in one process: start the program "
            "without a launcher, or unset the variable"
        )
    return _groups.setdefault(0, Group([0]))


def is_initialized() -> bool:
    """Whether `init_parallel_env` was called."""
    return 0 in _groups


def is_available() -> bool:
    """True: this part is there."""
    return True


def get_rank(group: Group | None = None) -> int:
    """The rank of this process, in the group if one is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.get_rank()
        0
    """
    return 0 if group is None else group.rank


def get_world_size(group: Group | None = None) -> int:
    """How many processes there are, in the group if one is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.get_world_size()
        1
    """
    return 1 if group is None else group.nranks


def get_backend(group: Group | None = None) -> str:
    """What carries values between devices."""
    return "XLA"


def new_group(
    ranks: list[int] | None = None, backend: str | None = None, timeout: Any = None,
    nccl_comm_init_option: int = 0, nccl_config: Any = None,
) -> Group:  # fmt: skip
    """A group of some of the processes.

    Args:
        ranks: who belongs to it; all by default.
        backend, timeout, nccl_comm_init_option, nccl_config: accepted for compatibility.

    Raises:
        ValueError: if there is no process of one of the ranks.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.new_group([0]).ranks
        [0]
    """
    found = [0] if ranks is None else sorted(ranks)
    if any(r != 0 for r in found):
        raise ValueError(f"new_group: ranks is {found}; there is one process, of rank 0: ask get_world_size() first")
    group = Group(found, max(_groups, default=0) + 1)
    return _groups.setdefault(group.id, group)


def get_group(id: int = 0) -> Group:
    """The group of that number; 0 is that of all processes.

    Raises:
        ValueError: if there is none.
    """
    if id not in _groups:
        raise ValueError(f"get_group: there is no group {id}; call init_parallel_env() or new_group() first")
    return _groups[id]


def _get_global_group() -> Group:
    return init_parallel_env()


def destroy_process_group(group: Group | None = None) -> None:
    """Forget the group, or all groups."""
    if group is None:
        _groups.clear()
    else:
        _groups.pop(group.id, None)


shutdown_process_group = destroy_process_group
