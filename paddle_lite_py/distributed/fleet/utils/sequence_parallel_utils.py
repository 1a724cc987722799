"""Layers that split sequences over processes. One process has them whole."""

from __future__ import annotations

from typing import Any

from ....autograd import PyLayer
from ..meta_parallel.layers import ColumnParallelLinear, RowParallelLinear

__all__ = [
    "AllGatherOp",
    "ColumnSequenceParallelLinear",
    "GatherOp",
    "ReduceScatterOp",
    "RowSequenceParallelLinear",
    "ScatterOp",
    "mark_as_sequence_parallel_parameter",
    "register_sequence_parallel_allreduce_hooks",
]

ColumnSequenceParallelLinear, RowSequenceParallelLinear = ColumnParallelLinear, RowParallelLinear


class ScatterOp(PyLayer):
    """The part of a sequence that a process has: all of it.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> ScatterOp.apply(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """

    @staticmethod
    def forward(ctx: Any, input: Any, axis: int = 0) -> Any:
        """The sequence."""
        return input.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Its gradient."""
        return grad


GatherOp = AllGatherOp = ReduceScatterOp = ScatterOp


def mark_as_sequence_parallel_parameter(parameter: Any) -> None:
    """Say that the gradients of a parameter come from parts of sequences."""
    parameter.sequence_parallel = True


def register_sequence_parallel_allreduce_hooks(model: Any, accumulation_steps: int = 1, fuse: bool = False) -> None:
    """Add the gradients of all parts after backward: there is one part."""
