"""Tensors over a mesh of processes or devices, and programs that XLA divides among them."""

from . import api, divided, local, plans, process_mesh, strategy, training
from .api import (
    create_mesh,
    dtensor_from_fn,
    dtensor_from_local,
    get_mesh,
    reshard,
    set_mesh,
    shard_layer,
    shard_tensor,
    unshard_dtensor,
)
from .local import LocalLayer, local_map
from .plans import (
    ColWiseParallel,
    ContextParallel,
    PrepareContextParallel,
    PrepareLayerInput,
    PrepareLayerOutput,
    RowWiseParallel,
    SequenceParallelBegin,
    SequenceParallelDisable,
    SequenceParallelEnable,
    SequenceParallelEnd,
    parallelize,
)
from .process_mesh import Partial, Placement, ProcessMesh, ReduceType, Replicate, Shard
from .strategy import Strategy
from .training import (
    DistModel,
    ShardDataloader,
    ShardingStage1,
    ShardingStage2,
    ShardingStage3,
    shard_dataloader,
    shard_optimizer,
    shard_scaler,
    to_static,
)

__all__ = [
    *("ColWiseParallel", "ContextParallel", "LocalLayer", "PrepareContextParallel", "PrepareLayerInput"),
    *("PrepareLayerOutput", "RowWiseParallel", "SequenceParallelBegin", "SequenceParallelDisable"),
    *("SequenceParallelEnable", "SequenceParallelEnd", "Strategy", "create_mesh", "local_map", "parallelize"),
    *("DistModel", "Partial", "Placement", "ProcessMesh", "ReduceType", "Replicate", "Shard", "ShardDataloader"),
    *("ShardingStage1", "ShardingStage2", "ShardingStage3", "dtensor_from_fn", "dtensor_from_local", "get_mesh"),
    *("reshard", "set_mesh", "shard_dataloader", "shard_layer", "shard_optimizer", "shard_scaler", "shard_tensor"),
    *("to_static", "unshard_dtensor"),
]
