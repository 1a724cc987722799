"""What each process is there for, and small jobs that processes share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.no_effect import Immaterial, no_effect
from ...ops.convert import to_tensor
from .. import collective, objects
from ..group import ReduceOp, get_rank, get_world_size

_ALL = Immaterial("all processes are workers")
_MORE = Immaterial("all processes are workers, at the addresses that the environment has")


class Role:
    """What a process does.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.fleet.Role.WORKER
        1
    """

    WORKER, SERVER, HETER_WORKER, ALL, COORDINATOR = 1, 2, 3, 4, 5


class PaddleCloudRoleMaker:
    """The roles of processes, from the environment: all train.

    Args:
        is_collective: whether processes exchange gradients themselves.
    """

    @no_effect(more=_MORE)
    def __init__(self, is_collective: bool = False, **more: Any) -> None:
        self._is_collective = is_collective

    def _worker_num(self) -> int:
        return get_world_size()

    def _worker_index(self) -> int:
        return get_rank()

    worker_num, worker_index = _worker_num, _worker_index


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """The roles of processes, as a program gives them.

    Args:
        is_collective: whether processes exchange gradients themselves.
        current_id: the rank of this process.

    Raises:
        ValueError: if the environment of this process says otherwise.
    """

    @no_effect(more=_MORE)
    def __init__(self, is_collective: bool = False, *, current_id: int = 0, worker_num: int = 1, **more: Any) -> None:
        super().__init__(is_collective)
        if (current_id, worker_num) != (get_rank(), get_world_size()):
            raise ValueError(
                f"UserDefinedRoleMaker: current_id is {current_id} of {worker_num} workers, but this process is rank "
                f"{get_rank()} of {get_world_size()}; start it by `python -m paddle_lite_py.distributed.launch`"
            )


class UtilBase:
    """Jobs that processes share.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.fleet.util.get_file_shard(["a", "b"])
        ['a', 'b']
    """

    @no_effect(comm_world=_ALL)
    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """The reduction over all processes of an array.

        Raises:
            ValueError: if `mode` is none of "sum", "max" and "min".
        """
        if mode not in ("sum", "max", "min"):
            raise ValueError(f"all_reduce: mode is {mode!r}; expected 'sum', 'max' or 'min'")
        found = to_tensor(np.asarray(input))
        collective.all_reduce(found, getattr(ReduceOp, mode.upper()))
        return found.numpy()

    @no_effect(comm_world=_ALL)
    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """The values of all processes."""
        found: list[Any] = []
        objects.all_gather_object(found, input)
        return found

    @no_effect(comm_world=_ALL)
    def barrier(self, comm_world: str = "worker") -> None:
        """Wait until all processes are here."""
        collective.barrier()

    def get_file_shard(self, files: list[str]) -> list[str]:
        """The files that this process reads: the first processes have one more, where they cannot be divided."""
        share, more = divmod(len(files), get_world_size())
        first = get_rank() * share + min(get_rank(), more)
        return list(files[first : first + share + (get_rank() < more)])

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print in the process of that rank."""
        if get_rank() == rank_id:
            print(message)
