"""The role of each process, and small collective operations between processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.no_effect import Immaterial, no_effect
from ...core.processes import job
from ...ops.convert import to_tensor
from .. import collective, objects
from ..group import ParallelEnv, ReduceOp, get_rank, get_world_size
from . import places

# The address of a process that no launcher has started.
ALONE = "127.0.0.1:6170"
_REDUCTIONS: dict[str, Any] = {"sum": np.sum, "max": np.max, "min": np.min}
_ALL = Immaterial("all processes are workers")
_MORE = Immaterial("processes are at the addresses that the environment has")


class Role:
    """Roles of processes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.fleet.Role.WORKER
        1
    """

    WORKER, SERVER, HETER_WORKER, ALL, COORDINATOR = 1, 2, 3, 4, 5


class PaddleCloudRoleMaker:
    """Roles of processes, from environment variables.

    If PADDLE_PSERVERS_IP_PORT_LIST lists servers and is_collective is False, this process is a server or a worker, as
    given by TRAINING_ROLE, PADDLE_TRAINERS_NUM, PADDLE_TRAINER_ID, POD_IP and PADDLE_PORT. Otherwise all processes are
    workers.

    Arguments:
        is_collective: the processes exchange gradients by collective communication. Default: False.

    Raises:
        ValueError: if a variable is missing or invalid; the message names it.
    """

    @no_effect(more=_MORE)
    def __init__(self, is_collective: bool = False, **more: Any) -> None:
        self._is_collective = is_collective
        self.place = None if is_collective else places.from_environment()

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

    def _get_trainer_endpoints(self) -> list[str]:
        found = [*self.place.worker_endpoints] if self.place is not None else ParallelEnv().trainer_endpoints
        return [ALONE] if found == [""] else found

    def to_string(self) -> str:
        """Return the role of this process and the addresses of all, in one line."""
        return (
            f"role: {Role.SERVER if self._is_server() else Role.WORKER}, current_id: {self._worker_index()}, "
            f"worker_endpoints: {self._get_trainer_endpoints()}, server_endpoints: {self._get_pserver_endpoints()}"
        )

    worker_num, worker_index, server_num, server_index = _worker_num, _worker_index, _server_num, _server_index
    is_worker, is_server, is_first_worker = _is_worker, _is_server, _is_first_worker
    get_pserver_endpoints, get_trainer_endpoints = _get_pserver_endpoints, _get_trainer_endpoints
    _role_id = _worker_index


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """Roles of processes, given by the program.

    Arguments:
        is_collective: the processes exchange gradients by collective communication. Default: False.
        init_gloo: no effect: XLA carries all communication. Default: False.
        current_id: number of this process among the workers, or among the servers. Default: 0.
        role: Role.WORKER or Role.SERVER. Default: 1.
        worker_num: number of workers. Default: 0.
        server_endpoints: addresses of the servers, as host:port.
        worker_endpoints: addresses of the workers, as host:port.

    Raises:
        ValueError: if the arguments contradict each other, or without servers the environment.
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
    """Utilities that all processes of a job share.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.fleet.util.get_file_shard(["a", "b"])
        ['a', 'b']
    """

    @no_effect(comm_world=_ALL)
    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """Reduce an array over all processes.

        Arguments:
            input: a number or array.
            mode: "sum", "max" or "min". Default: 'sum'.
            comm_world: no effect: all processes take part.

        Returns:
            The result, in every process.

        Raises:
            ValueError: for another mode.
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
        """Return the list of the values of all processes."""
        if job.session is not None:
            return [f["input"].tolist() for f in job.session.gather({"input": np.asarray(input)})]
        found: list[Any] = []
        objects.all_gather_object(found, input)
        return found

    @no_effect(comm_world=_ALL)
    def barrier(self, comm_world: str = "worker") -> None:
        """Wait until all processes have called barrier()."""
        if job.session is None:
            collective.barrier()
        else:
            job.session.barrier()

    def get_file_shard(self, files: list[str]) -> list[str]:
        """Return the files that this process reads; if the division is uneven, the first processes read one more."""
        rank, size = self._place()
        share, more = divmod(len(files), size)
        first = rank * share + min(rank, more)
        return list(files[first : first + share + (rank < more)])

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print a message in the process with a rank."""
        if self._place()[0] == rank_id:
            print(message)

    def _place(self) -> tuple[int, int]:
        """Return the number of this process among those that train, and how many these are."""
        place = job.session.place if job.session is not None else None
        return (get_rank(), get_world_size()) if place is None else (place.number, place.workers)
