"""States and gradients that are spread over processes."""

from . import group_sharded_optimizer_stage2

__all__ = ["group_sharded_optimizer_stage2"]
