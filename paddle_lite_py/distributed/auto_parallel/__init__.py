"""Tensors over a mesh of processes or devices, and programs that XLA divides among them."""

from . import api, process_mesh, training
from .api import (
    dtensor_from_fn,
    dtensor_from_local,
    get_mesh,
    reshard,
    set_mesh,
    shard_layer,
    shard_tensor,
    unshard_dtensor,
)
from .process_mesh import Partial, Placement, ProcessMesh, ReduceType, Replicate, Shard
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
    *("DistModel", "Partial", "Placement", "ProcessMesh", "ReduceType", "Replicate", "Shard", "ShardDataloader"),
    *("ShardingStage1", "ShardingStage2", "ShardingStage3", "dtensor_from_fn", "dtensor_from_local", "get_mesh"),
    *("reshard", "set_mesh", "shard_dataloader", "shard_layer", "shard_optimizer", "shard_scaler", "shard_tensor"),
    *("to_static", "unshard_dtensor"),
]
