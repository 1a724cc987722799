"""Process groups: ranks and sizes. What programs ask before they share work: ranks, sizes, groups."""

from __future__ import annotations

import datetime
import math
import os
from typing import Any, ClassVar

from ..core.memo import Memo
from ..core.no_effect import Immaterial, no_effect
from ..core.processes import world
from . import kernels
from .exchange import PATIENCE, ExchangeProgram, exchanges


class ReduceOp:
    """Operations of reductions over processes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.ReduceOp.MAX
        1
    """

    SUM: ClassVar[int] = kernels.SUM
    MAX: ClassVar[int] = kernels.MAX
    MIN: ClassVar[int] = kernels.MIN
    PROD: ClassVar[int] = kernels.PROD
    AVG: ClassVar[int] = kernels.AVG


class Group:
    """Group of processes for collective communication; new_group() creates one that all processes know.

    Arguments:
        rank_in_group: the place of this process in the group; -1 outside of it.
        id: number of the group, the same in all members.
        ranks: ranks of the members among all processes.
        pg: see docs/differences.md.
        name: name of the group. Default: made of its number.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> group = paddle.distributed.new_group([0])
        >>> group.nranks, group.rank, group.is_member()
        (1, 0, True)
    """

    patience: float = PATIENCE  # seconds that members may be apart before a collective fails

    @no_effect(pg="a group of processes does its own exchanges")
    def __init__(
        self, rank_in_group: int, id: int | None, ranks: list[int], pg: Any = None, name: str | None = None
    ) -> None:
        self.rank, self.id, self.ranks = rank_in_group, id or 0, ranks
        self.name, self.backend = name or f"_default_pg{id}", "XLA"
        # Key: the function and what all agree on, what may be written over, and shapes and dtypes.
        self.programs: Memo[Any, ExchangeProgram] = Memo("exchanges of a group", 1024)

    @classmethod
    def of(cls, ranks: list[int], id: int = 0) -> Group:
        """Return a group of these ranks, of which this process may be one.

        Arguments:
            ranks: ranks of the members among all processes.
            id: number of the group, the same in all members. Default: 0.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> paddle.distributed.collective.Group.of([0, 3]).rank
            0
        """
        here = world().rank
        return cls(ranks.index(here) if here in ranks else -1, id, ranks)

    @property
    def nranks(self) -> int:
        """The number of processes."""
        return len(self.ranks)

    world_size = nranks

    def is_member(self) -> bool:
        """Whether this process belongs to it."""
        return world().rank in self.ranks

    def get_group_rank(self, rank: int) -> int:
        """Return the place in the group of the process with that rank; -1 where it has none."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def get_global_rank(self, rank: int) -> int:
        """Return the rank among all processes of the one at that place."""
        return self.ranks[rank]

    @property
    def process_group(self) -> Group:
        """Itself."""
        return self

    def __repr__(self) -> str:
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {self.ranks}; name: {self.name}"


class ParallelEnv:
    """Environment of this process: rank, number of processes and devices, as set by the launcher.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> env = paddle.distributed.ParallelEnv()
        >>> env.rank, env.world_size, env.device_id
        (0, 1, 0)
    """

    nrings = 1
    device_type = "cpu"

    @property
    def rank(self) -> int:
        """The rank of this process."""
        return world().rank

    @property
    def world_size(self) -> int:
        """The number of processes."""
        return world().size

    nranks = world_size

    @property
    def local_rank(self) -> int:
        """The rank among those of this machine, as PADDLE_LOCAL_RANK has it; else the rank."""
        return world().local_rank

    @property
    def device_id(self) -> int:
        """The device of this process, as FLAGS_selected_gpus has it."""
        return int(os.environ.get("FLAGS_selected_gpus", "0").split(",")[0] or 0)

    dev_id = device_id

    @property
    def nodes(self) -> int:
        """The number of machines."""
        return world().nodes

    @property
    def current_endpoint(self) -> str:
        """The address of this process."""
        return os.environ.get("PADDLE_CURRENT_ENDPOINT") or world().endpoints[world().rank]

    @property
    def trainer_endpoints(self) -> list[str]:
        """The addresses of all processes."""
        return list(world().endpoints)


_groups: dict[int, Group] = {}


@no_effect(nccl_config="XLA chooses how values travel")
def init_parallel_env(nccl_config: Any = None) -> Group:
    """Initialize distributed training: connect to the other processes.

    Returns:
        The Group of all processes.

    Raises:
        RuntimeError: if other processes cannot be reached.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.init_parallel_env().nranks
        1
    """
    if 0 in _groups:
        return _groups[0]
    here = world()
    if here.size > 1:
        exchanges()
    return _groups.setdefault(0, Group.of(list(range(here.size))))


def is_initialized() -> bool:
    """Return whether init_parallel_env() was called.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> _ = paddle.distributed.init_parallel_env()
        >>> paddle.distributed.is_initialized()
        True
    """
    return 0 in _groups


def is_available() -> bool:
    """Return True: distributed training is available.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.is_available()
        True
    """
    return True


def get_rank(group: Group | None = None) -> int:
    """Return the rank of this process, an integer; with a group, the rank in the group.

    Arguments:
        group: the group of processes; None: all.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.get_rank()
        0
    """
    return world().rank if group is None else group.rank


def get_world_size(group: Group | None = None) -> int:
    """Return the number of processes, an integer; with a group, that of the group.

    Arguments:
        group: the group of processes; None: all.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.get_world_size()
        1
    """
    return world().size if group is None else group.nranks


@no_effect(group=Immaterial("XLA carries the exchanges of all"))
def get_backend(group: Group | None = None) -> str:
    """Return the name of the communication backend.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.distributed.get_backend(), str)
        True
    """
    return "XLA"


@no_effect(
    backend="XLA carries all exchanges",
    nccl_comm_init_option="XLA chooses how values travel",
    nccl_config="XLA chooses how values travel",
)
def new_group(
    ranks: list[int] | None = None, backend: str | None = None,
    timeout: datetime.timedelta = datetime.timedelta(seconds=PATIENCE),
    nccl_comm_init_option: int = 0, nccl_config: Any = None,
) -> Group:  # fmt: skip
    """Create a group of processes; all processes must call it, including those that are not members.

    Arguments:
        ranks: ranks of the members; None: all.
        timeout: how long members may be apart before a collective fails.
        backend: see docs/differences.md.
        nccl_comm_init_option: see docs/differences.md. Default: 0.
        nccl_config: see docs/differences.md.

    Returns:
        A Group.

    Raises:
        ValueError: if a rank does not exist.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.new_group([0]).ranks
        [0]
    """
    size = world().size
    found = list(range(size)) if ranks is None else sorted(set(ranks))
    if wrong := [r for r in found if not 0 <= r < size]:
        raise ValueError(
            f"new_group: ranks is {ranks}, but there is no process of rank {wrong[0]}; there are {size}: ask "
            "get_world_size() first"
        )
    init_parallel_env()
    seconds = timeout.total_seconds() if isinstance(timeout, datetime.timedelta) else float(timeout)
    group = Group.of(found, max(_groups, default=0) + 1)
    group.patience = seconds if seconds > 0 else math.inf
    return _groups.setdefault(group.id, group)


def get_group(id: int = 0) -> Group:
    """Return a group by its number; 0 is the group of all processes.

    Arguments:
        id: the number. Default: 0.

    Returns:
        A Group.

    Raises:
        ValueError: if there is no such group.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> _ = paddle.distributed.init_parallel_env()
        >>> paddle.distributed.get_group(0).nranks
        1
    """
    if id not in _groups:
        raise ValueError(f"get_group: there is no group {id}; call init_parallel_env() or new_group() first")
    return _groups[id]


def _get_global_group() -> Group:
    return init_parallel_env()


def destroy_process_group(group: Group | None = None) -> None:
    """Destroy a group, or all groups.

    Arguments:
        group: the group of processes; None: all.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.destroy_process_group()
        >>> paddle.distributed.is_initialized()
        False
    """
    if group is None:
        _groups.clear()
    else:
        _groups.pop(group.id, None)


shutdown_process_group = destroy_process_group
