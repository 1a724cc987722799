"""States, gradients and parameters that are spread over processes."""

from . import group_sharded_optimizer_stage2, group_sharded_stage2, group_sharded_stage3, group_sharded_utils

__all__ = ["group_sharded_optimizer_stage2", "group_sharded_stage2", "group_sharded_stage3", "group_sharded_utils"]
