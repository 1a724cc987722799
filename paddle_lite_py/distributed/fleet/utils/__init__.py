"""Recomputation, file systems and inference with servers, under the names that programs use."""

from ..recompute import recompute, recompute_sequential
from . import fs, hybrid_parallel_util, log_util, mix_precision_utils, ps_util, sequence_parallel_utils, timer_helper
from .fs import HDFSClient, LocalFS
from .ps_util import DistributedInfer

__all__ = [
    *("DistributedInfer", "HDFSClient", "LocalFS", "fs", "hybrid_parallel_util", "log_util", "mix_precision_utils"),
    *("ps_util", "recompute", "recompute_sequential", "sequence_parallel_utils", "timer_helper"),
]
