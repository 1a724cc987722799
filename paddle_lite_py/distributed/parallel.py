"""Paths under which programs look for what begins training in several processes."""

from .data_parallel import DataParallel, sync_params_buffers
from .group import ParallelEnv, get_rank, get_world_size, init_parallel_env

__all__ = [
    "DataParallel",
    "ParallelEnv",
    "get_rank",
    "get_world_size",
    "init_parallel_env",
    "sync_params_buffers",
]
