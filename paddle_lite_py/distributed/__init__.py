"""Training in several processes: ranks and groups, exchanges, launching, `fleet`. A program runs alone as well."""

from ..core.argument_docs import document as _document
from . import (
    auto_parallel,
    collective,
    communication,
    elastic,
    fleet,
    group,
    launch,
    parallel,
    sharding,
    spread,
    utils,
)
from .auto_parallel import (
    ColWiseParallel,
    ContextParallel,
    DistModel,
    LocalLayer,
    Partial,
    Placement,
    PrepareContextParallel,
    PrepareLayerInput,
    PrepareLayerOutput,
    ProcessMesh,
    ReduceType,
    Replicate,
    RowWiseParallel,
    SequenceParallelBegin,
    SequenceParallelDisable,
    SequenceParallelEnable,
    SequenceParallelEnd,
    Shard,
    ShardDataloader,
    ShardingStage1,
    ShardingStage2,
    ShardingStage3,
    Strategy,
    dtensor_from_fn,
    get_mesh,
    local_map,
    parallelize,
    reshard,
    set_mesh,
    shard_dataloader,
    shard_layer,
    shard_optimizer,
    shard_scaler,
    shard_tensor,
    to_static,
    unshard_dtensor,
)
from .collective import (
    all_gather,
    all_reduce,
    all_to_all,
    alltoall,
    alltoall_single,
    barrier,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scatter,
    wait,
)
from .communication import stream
from .entry_attr import CountFilterEntry, ProbabilityEntry, ShowClickEntry
from .fleet.dataset import InMemoryDataset, QueueDataset
from .flex_checkpoint.dcp.load_state_dict import load_merged_state_dict, load_state_dict
from .flex_checkpoint.dcp.save_state_dict import save_state_dict
from .flex_checkpoint.dcp.sharded_weight import (
    ShardedStateDict,
    ShardedWeight,
    build_sharded_state_dict,
    shard_weight,
)
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
from .objects import all_gather_object, broadcast_object_list, scatter_object_list
from .point_to_point import (
    P2POp,
    batch_isend_irecv,
    irecv,
    isend,
    recv,
    recv_object_list,
    send,
    send_object_list,
)
from .records import RecordStream, RecordWriter
from .spawning import spawn

_document(globals())
