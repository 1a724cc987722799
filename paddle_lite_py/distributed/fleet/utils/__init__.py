"""Recomputation, under the name that programs use."""

from ..recompute import recompute, recompute_sequential
from . import hybrid_parallel_util, log_util, mix_precision_utils, sequence_parallel_utils, timer_helper

__all__ = [
    *("hybrid_parallel_util", "log_util", "mix_precision_utils", "recompute", "recompute_sequential"),
    *("sequence_parallel_utils", "timer_helper"),
]
