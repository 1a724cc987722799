"""The front door for training in many processes: models, optimizers and scalers that share the work."""

from __future__ import annotations

import importlib
from typing import Any, TypeVar

from ...core.interpreter import state
from ...core.no_effect import Immaterial, no_effect
from ...core.processes import job
from ...eager.execute import Eager
from ..collective import barrier
from ..data_parallel import DataParallel, sync_params_buffers
from ..group import ParallelEnv, get_rank, get_world_size, init_parallel_env
from ..scaling import agreed
from . import base, data_generator, dataset, elastic, layers, meta_optimizers, meta_parallel, metrics, recompute, utils
from .current import hybrid_group, use_topology
from .data_generator import MultiSlotDataGenerator, MultiSlotStringDataGenerator
from .dataset import DatasetBase, InMemoryDataset, QueueDataset
from .meta_optimizers.chosen import as_asked
from .meta_optimizers.dygraph_optimizer import DygraphShardingOptimizer, HybridParallelOptimizer
from .meta_parallel.parallel import PipelineParallel, PipelineParallelWithInterleave
from .roles import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker, UtilBase
from .strategy import DistributedStrategy
from .topology import AXES, CommunicateTopology, HybridCommunicateGroup
from .with_servers import WithServers, begin

T = TypeVar("T")
# The optimizer of static mode: a module above this one.
_IN_PROGRAMS = f"{__name__.partition('.')[0]}.static.collective"
_WITH_SERVERS = f"{__name__.partition('.')[0]}.static.served_optimizer"
_WRAPPERS = {
    "model": meta_parallel.TensorParallel,
    "sharding": meta_parallel.ShardingParallel,
    "sep": meta_parallel.SegmentParallel,
}


class Fleet(WithServers):
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
        self._role_maker = PaddleCloudRoleMaker(is_collective=True)  # the default until init()

    @property
    def _user_defined_strategy(self) -> DistributedStrategy:
        """The strategy of init()."""
        return self.strategy

    @no_effect(log_level=Immaterial("errors say what is wrong, and nothing else is logged"))
    def init(
        self, role_maker: Any = None, is_collective: bool = False, strategy: DistributedStrategy | None = None,
        log_level: int | str = "INFO",
    ) -> Fleet:  # fmt: skip
        """Begin.

        Args:
            role_maker: which of the processes this one is, and whether there are servers; else the environment says.
            is_collective: processes exchange gradients themselves, whatever servers the environment names.
            strategy: what to do in parallel.
            log_level: accepted for compatibility.

        Raises:
            ValueError: if the strategy asks for more or fewer processes than there are.
            NotImplementedError: if it asks for what is not there.
        """
        strategy = strategy or self.strategy
        strategy.check()
        roles = role_maker or PaddleCloudRoleMaker(is_collective)
        job.session = None
        if roles.place is not None:
            begin(roles.place, strategy)
        else:
            self._share_work(strategy)
        self.strategy, self._role_maker = strategy, roles
        return self

    def _share_work(self, strategy: DistributedStrategy) -> None:
        """Begin among processes that exchange gradients themselves."""
        init_parallel_env()
        use_topology(_topology(strategy))
        tracker, parts = meta_parallel.get_rng_state_tracker(), hybrid_group()
        if parts.get_model_parallel_world_size() > 1 and not tracker.states_:
            # A seed that no program takes for a stream of its own.
            tracker.add("model_parallel_rng", 0x5EED0000 + parts.get_model_parallel_rank())

    def distributed_model(self, model: Any) -> Any:
        """Return the model as this process trains it: with the gradients of all who share its weights, or as a stage.

        Arguments:
            model: a layer, of the same structure in all processes that share its weights.
        """
        hcg = hybrid_group()
        if self.strategy.exchanges_updates():
            sync_params_buffers(model, hcg.gradient_group, hcg.gradient_group.ranks[0])
            return model
        if hcg.get_num_stages() > 1 or isinstance(model, meta_parallel.PipelineLayer):
            several = isinstance(model, meta_parallel.PipelineLayer) and model.get_num_virtual_stages() > 1
            return (PipelineParallelWithInterleave if several else PipelineParallel)(model, hcg, self.strategy)
        unused = bool(self.strategy.find_unused_parameters)
        for axis, wrapper in _WRAPPERS.items():
            if getattr(hcg, f"get_{axis}_parallel_world_size")() > 1:
                return wrapper(model, hcg, find_unused_parameters=unused)
        if hcg.gradient_group.nranks == 1:
            return model
        return DataParallel(model, find_unused_parameters=unused, group=hcg.gradient_group)

    def distributed_optimizer(self, optimizer: Any, strategy: DistributedStrategy | None = None) -> Any:
        """Return the optimizer as this process runs it: with its share of the states, or a norm over all processes."""
        chosen = strategy or self.strategy
        if job.session is not None:
            if state.interpreter.is_eager:
                raise NotImplementedError(
                    "fleet: with parameter servers programs are static: call paddle.enable_static()"
                )
            with_servers: Any = importlib.import_module(_WITH_SERVERS)
            return with_servers.ServedOptimizer(optimizer, chosen, job.session)
        hcg = hybrid_group()
        if not state.interpreter.is_eager:
            in_programs: Any = importlib.import_module(_IN_PROGRAMS)
            return in_programs.CollectiveOptimizer(optimizer, chosen, hcg.gradient_group)
        chosen.check()
        optimizer = as_asked(optimizer, chosen, hcg.gradient_group)
        if chosen.exchanges_updates():
            return optimizer
        if hcg.nranks == 1:
            return optimizer
        if hcg.get_sharding_parallel_world_size() > 1:
            optimizer = DygraphShardingOptimizer(optimizer, hcg)
        return HybridParallelOptimizer(optimizer, hcg, self.strategy)

    def distributed_scaler(self, scaler: T) -> T:
        """Return the scaler, which leaves out a step where any process has found an infinite gradient."""
        return agreed(scaler, init_parallel_env())

    def worker_num(self) -> int:
        """Return the number of processes that train."""
        return self._role_maker.worker_num()

    nranks = world_size = worker_num

    def node_num(self) -> int:
        """Return the number of machines."""
        return ParallelEnv().nodes

    def worker_index(self) -> int:
        """Return the rank of this process."""
        return self._role_maker.worker_index()

    rank = worker_index

    def local_rank(self) -> int:
        """Return the rank among the processes of this machine."""
        return ParallelEnv().local_rank

    rank_in_node = local_rank

    def is_first_worker(self) -> bool:
        """Whether this process is the first that trains."""
        return self._role_maker.is_first_worker()

    def is_coordinator(self) -> bool:
        """False: no process coordinates others."""
        return False

    def worker_endpoints(self, to_string: bool = False) -> list[str] | str:
        """Return the addresses of the processes that train."""
        found = self._role_maker.get_trainer_endpoints()
        return ",".join(found) if to_string else found

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        """Return the reduction over all processes that train of an array.

        Raises:
            ValueError: if `mode` is none of "sum", "mean", "max" and "min".
        """
        if mode == "mean":
            return self.util.all_reduce(input, "sum") / self.worker_num()
        return self.util.all_reduce(input, mode)

    def barrier_worker(self) -> None:
        """Wait until all processes are here."""
        if job.session is None:
            barrier()
        elif not self.is_server():
            job.session.barrier()

    def get_hybrid_communicate_group(self) -> HybridCommunicateGroup:
        """Who this process shares data, layers and states with."""
        return hybrid_group()


def _topology(strategy: DistributedStrategy) -> CommunicateTopology:
    """Return the box of processes that a strategy asks for; what it leaves open shares data.

    Raises:
        ValueError: if its degrees do not fit the number of processes.
    """
    size = get_world_size()
    degrees = {axis: int(strategy.hybrid_configs.get(f"{axis}_degree", 1)) for axis in AXES}
    others = 1
    for axis, degree in degrees.items():
        others *= degree if axis != "dp" and degree > 0 else 1
    if size % others or degrees["dp"] * others not in (size, -others, others):
        given = ", ".join(f"{a}_degree={d}" for a, d in degrees.items())
        raise ValueError(
            f"DistributedStrategy: hybrid_configs has {given} for {size} processes; the degrees must multiply to their "
            "number"
        )
    degrees["dp"] = size // others
    order = [a for a in strategy.hybrid_parallel_order if a in AXES]
    order += [a for a in AXES if a not in order]
    return CommunicateTopology([AXES[a] for a in order], [max(degrees[a], 1) for a in order])


fleet = Fleet()
init, util = fleet.init, fleet.util
distributed_model, distributed_optimizer = fleet.distributed_model, fleet.distributed_optimizer
distributed_scaler = fleet.distributed_scaler
worker_num = nranks = world_size = fleet.worker_num
node_num = fleet.node_num
worker_index = rank = fleet.worker_index
local_rank = rank_in_node = fleet.local_rank
is_first_worker, is_worker = fleet.is_first_worker, fleet.is_worker
is_server, is_coordinator = fleet.is_server, fleet.is_coordinator
worker_endpoints, barrier_worker = fleet.worker_endpoints, fleet.barrier_worker
all_reduce = fleet.all_reduce
init_worker, stop_worker = fleet.init_worker, fleet.stop_worker
init_server, run_server = fleet.init_server, fleet.run_server
server_num, server_index, server_endpoints = fleet.server_num, fleet.server_index, fleet.server_endpoints
save_persistables, save_inference_model = fleet.save_persistables, fleet.save_inference_model
load_model, save_one_table, load_one_table = fleet.load_model, fleet.save_one_table, fleet.load_one_table
load_inference_model, save_cache_model = fleet.load_inference_model, fleet.save_cache_model
save_cache_table, set_date = fleet.save_cache_table, fleet.set_date
shrink, save_dense_params, print_table_stat = fleet.shrink, fleet.save_dense_params, fleet.print_table_stat
get_hybrid_communicate_group = fleet.get_hybrid_communicate_group
