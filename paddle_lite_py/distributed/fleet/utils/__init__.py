"""Recomputation, under the name that programs use."""

from ..recompute import recompute, recompute_sequential
from . import hybrid_parallel_util, log_util, sequence_parallel_utils

__all__ = ["hybrid_parallel_util", "log_util", "sequence_parallel_utils", "recompute", "recompute_sequential"]
