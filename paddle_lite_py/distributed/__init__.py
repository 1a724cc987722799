"""What programs for many processes say, for one: ranks and groups, exchanges, `fleet`.

Such a program runs as it does in PaddlePaddle without a launcher. More than one process is an error that says so.
"""

from . import collective, communication, fleet, group, parallel, sharding, utils
from .collective import (
    all_gather,
    all_gather_object,
    all_reduce,
    all_to_all,
    alltoall,
    alltoall_single,
    barrier,
    broadcast,
    broadcast_object_list,
    gather,
    reduce,
    reduce_scatter,
    scatter,
    scatter_object_list,
    wait,
)
from .communication import stream
from .group import (
    Group,
    ParallelEnv,
    ReduceOp,
    destroy_process_group,
    get_backend,
    get_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_available,
    is_initialized,
    new_group,
    shutdown_process_group,
)
from .spawning import spawn
