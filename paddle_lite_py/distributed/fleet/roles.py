"""What each process is there for, and small jobs that processes share."""

from __future__ import annotations

from typing import Any

import numpy as np


class Role:
    """What a process does.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.fleet.Role.WORKER
        1
    """

    WORKER, SERVER, HETER_WORKER, ALL, COORDINATOR = 1, 2, 3, 4, 5


class PaddleCloudRoleMaker:
    """The roles of processes, from the environment: this one trains.

    Args:
        is_collective: whether processes exchange gradients themselves.
    """

    def __init__(self, is_collective: bool = False, **more: Any) -> None:
        self._is_collective = is_collective


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """The roles of processes, as a program gives them.

    Args:
        is_collective: whether processes exchange gradients themselves.
        current_id: the rank of this process.

    Raises:
        NotImplementedError: if there is more than one worker.
    """

    def __init__(self, is_collective: bool = False, *, current_id: int = 0, worker_num: int = 1, **more: Any) -> None:
        super().__init__(is_collective)
        if current_id or worker_num > 1:
            raise NotImplementedError(
                f"UserDefinedRoleMaker: current_id is {current_id} of {worker_num} workers; "
                "training runs in one process"
            )


class UtilBase:
    """Jobs that processes share.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.fleet.util.get_file_shard(["a", "b"])
        ['a', 'b']
    """

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """The reduction over all processes of an array."""
        return np.asarray(input)

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """The values of all processes."""
        return [input]

    def barrier(self, comm_world: str = "worker") -> None:
        """Wait until all processes are here."""

    def get_file_shard(self, files: list[str]) -> list[str]:
        """The files that this process reads."""
        return list(files)

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print in the process of that rank."""
        if rank_id == 0:
            print(message)
