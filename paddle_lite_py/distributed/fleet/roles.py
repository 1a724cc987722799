"""What each process is there for, and small jobs that processes share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.no_effect import Immaterial, no_effect
from ...core.processes import job
from ...ops.convert import to_tensor
from .. import collective, objects
from ..group import ReduceOp, get_rank, get_world_size
from . import places

_REDUCTIONS: dict[str, Any] = {"sum": np.sum, "max": np.max, "min": np.min}
_ALL = Immaterial("all processes are workers")
_MORE = Immaterial("processes are at the addresses that the environment has")


class Role:
    """What a process does.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.fleet.Role.WORKER
        1
    """

    WORKER, SERVER, HETER_WORKER, ALL, COORDINATOR = 1, 2, 3, 4, 5


class PaddleCloudRoleMaker:
    """The roles of processes, from the environment.

    Where PADDLE_PSERVERS_IP_PORT_LIST names servers and `is_collective` is False, this process is one of them or one of
    their workers; TRAINING_ROLE, PADDLE_TRAINERS_NUM, PADDLE_TRAINER_ID, POD_IP and PADDLE_PORT say which.
    Else all train.

    Args:
        is_collective: whether processes exchange gradients themselves.

    Raises:
        ValueError: naming the variable that is missing, or does not fit.
    """

    @no_effect(more=_MORE)
    def __init__(self, is_collective: bool = False, **more: Any) -> None:
        self._is_collective = is_collective
        self.place = None if is_collective else places.told()

    def _worker_num(self) -> int:
        return get_world_size() if self.place is None else self.place.workers

    def _worker_index(self) -> int:
        return get_rank() if self.place is None else self.place.number

    def _is_server(self) -> bool:
        return self.place is not None and self.place.is_server

    def _is_worker(self) -> bool:
        return not self._is_server()

    def _is_first_worker(self) -> bool:
        return self._is_worker() and self._worker_index() == 0

    def _server_num(self) -> int:
        return 0 if self.place is None else len(self.place.servers)

    def _server_index(self) -> int:
        return self._worker_index()

    def _get_pserver_endpoints(self) -> list[str]:
        return [] if self.place is None else list(self.place.servers)

    worker_num, worker_index, server_num, server_index = _worker_num, _worker_index, _server_num, _server_index
    is_worker, is_server, is_first_worker = _is_worker, _is_server, _is_first_worker
    get_pserver_endpoints, _role_id = _get_pserver_endpoints, _worker_index


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """The roles of processes, as a program gives them.

    Args:
        is_collective: whether processes exchange gradients themselves.
        init_gloo: accepted for compatibility.
        current_id: the rank of this process among the workers, or its number among the servers.
        role: Role.WORKER or Role.SERVER.
        worker_num: how many workers there are.
        server_endpoints, worker_endpoints: their addresses, as host:port.

    Raises:
        ValueError: if what is given does not fit together, or without servers the environment says otherwise.
    """

    @no_effect(more=_MORE, init_gloo=Immaterial("XLA carries all exchanges"))
    def __init__(
        self, is_collective: bool = False, init_gloo: bool = False, *, current_id: int = 0, role: int = 1,
        worker_num: int = 0, server_endpoints: Any = None, worker_endpoints: Any = None, **more: Any,
    ) -> None:  # fmt: skip
        self._is_collective = is_collective
        self.place = None
        if not is_collective and server_endpoints:
            self.place = places.given(current_id, role, worker_num, server_endpoints, worker_endpoints)
            return
        count = worker_num or len(worker_endpoints or "x")
        if (current_id, count) != (get_rank(), get_world_size()):
            raise ValueError(
                f"UserDefinedRoleMaker: current_id is {current_id} of {count} workers, but this process is rank "
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
        if job.session is not None:
            parts = [f["input"] for f in job.session.gather({"input": np.asarray(input)})]
            return _REDUCTIONS[mode](parts, axis=0)
        found = to_tensor(np.asarray(input))
        collective.all_reduce(found, getattr(ReduceOp, mode.upper()))
        return found.numpy()

    @no_effect(comm_world=_ALL)
    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """The values of all processes."""
        if job.session is not None:
            return [f["input"].tolist() for f in job.session.gather({"input": np.asarray(input)})]
        found: list[Any] = []
        objects.all_gather_object(found, input)
        return found

    @no_effect(comm_world=_ALL)
    def barrier(self, comm_world: str = "worker") -> None:
        """Wait until all processes are here."""
        if job.session is None:
            collective.barrier()
        else:
            job.session.barrier()

    def get_file_shard(self, files: list[str]) -> list[str]:
        """The files that this process reads: the first processes have one more, where they cannot be divided."""
        rank, size = self._place()
        share, more = divmod(len(files), size)
        first = rank * share + min(rank, more)
        return list(files[first : first + share + (rank < more)])

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print in the process of that rank."""
        if self._place()[0] == rank_id:
            print(message)

    def _place(self) -> tuple[int, int]:
        """The number of this process among those that train, and how many these are."""
        place = job.session.place if job.session is not None else None
        return (get_rank(), get_world_size()) if place is None else (place.number, place.workers)
