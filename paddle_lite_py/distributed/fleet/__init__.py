"""The front door for training in many processes, for one: models, optimizers and scalers stay what they are."""

from __future__ import annotations

from typing import Any, TypeVar

from ..group import ParallelEnv, init_parallel_env
from . import base, layers, meta_optimizers, meta_parallel, recompute, utils
from .roles import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker, UtilBase
from .strategy import DistributedStrategy
from .topology import HybridCommunicateGroup

T = TypeVar("T")


class Fleet:
    """All processes as one; `paddle.distributed.fleet` has its methods as functions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> fleet = paddle.distributed.fleet
        >>> _ = fleet.init(is_collective=True)
        >>> model = fleet.distributed_model(paddle.nn.Linear(2, 1))
        >>> fleet.worker_num(), fleet.worker_index(), fleet.is_first_worker()
        (1, 0, True)
    """

    def __init__(self) -> None:
        self.util, self.strategy = UtilBase(), DistributedStrategy()

    def init(
        self, role_maker: Any = None, is_collective: bool = False, strategy: DistributedStrategy | None = None,
        log_level: int | str = "INFO",
    ) -> Fleet:  # fmt: skip
        """Begin.

        Args:
            role_maker, is_collective, log_level: accepted for compatibility.
            strategy: what to do in parallel.

        Raises:
            NotImplementedError: if a launcher started more than one process, or the strategy asks for more.
        """
        init_parallel_env()
        strategy = strategy or self.strategy
        strategy.check()
        self.strategy = strategy
        return self

    def distributed_model(self, model: T) -> T:
        """The model: no other process has a copy or a part of it."""
        return model

    def distributed_optimizer(self, optimizer: T, strategy: DistributedStrategy | None = None) -> T:
        """The optimizer: its gradients are whole."""
        (strategy or self.strategy).check()
        return optimizer

    def distributed_scaler(self, scaler: T) -> T:
        """The scaler: it sees all gradients."""
        return scaler

    def worker_num(self) -> int:
        """1: how many processes train."""
        return ParallelEnv.world_size

    nranks = world_size = node_num = worker_num

    def worker_index(self) -> int:
        """0: the rank of this process."""
        return ParallelEnv.rank

    rank = local_rank = rank_in_node = worker_index

    def is_first_worker(self) -> bool:
        """True: this process trains, and is the first that does."""
        return True

    is_worker = is_first_worker

    def is_server(self) -> bool:
        """False: no process keeps parameters for others."""
        return False

    is_coordinator = is_server

    def worker_endpoints(self, to_string: bool = False) -> list[str] | str:
        """The addresses of the processes that train."""
        return "" if to_string else list(ParallelEnv.trainer_endpoints)

    def barrier_worker(self) -> None:
        """Wait until all processes are here."""

    def init_worker(self, scopes: Any = None) -> None:
        """Begin as a process that trains."""

    def stop_worker(self) -> None:
        """End as a process that trains."""

    def get_hybrid_communicate_group(self) -> HybridCommunicateGroup:
        """Who this process shares data, layers and states with."""
        return HybridCommunicateGroup()


fleet = Fleet()
init, util = fleet.init, fleet.util
distributed_model, distributed_optimizer = fleet.distributed_model, fleet.distributed_optimizer
distributed_scaler = fleet.distributed_scaler
worker_num = nranks = world_size = node_num = fleet.worker_num
worker_index = rank = local_rank = rank_in_node = fleet.worker_index
is_first_worker, is_worker = fleet.is_first_worker, fleet.is_worker
is_server, is_coordinator = fleet.is_server, fleet.is_coordinator
worker_endpoints, barrier_worker = fleet.worker_endpoints, fleet.barrier_worker
init_worker, stop_worker = fleet.init_worker, fleet.stop_worker
get_hybrid_communicate_group = fleet.get_hybrid_communicate_group
