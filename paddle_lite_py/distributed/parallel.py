"""Copies of a model in several processes; here there is one."""

from __future__ import annotations

from typing import Any

from .. import nn
from .group import Group, ParallelEnv, get_rank, get_world_size, init_parallel_env

__all__ = ["ParallelEnv", "get_rank", "get_world_size", "init_parallel_env", "sync_params_buffers"]


def sync_params_buffers(
    model: nn.Layer, comm_group: Group | None = None, src_rank: int = 0, is_model_parallel: bool = False, **more: Any
) -> None:
    """Give each process the parameters of one: they are the only ones."""
