"""Layers between which each process has a part of a sequence, along the first axis."""

from __future__ import annotations

from typing import Any

from ....core.no_effect import Immaterial, no_effect
from ....eager.tensor import Tensor
from ....nn import functional as F
from ...collective import exchanged
from ...group import Group, ReduceOp
from ..current import hybrid_group
from ..layers.mpu.mp_ops import Gathered, Scattered
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


_EACH = Immaterial("each gradient is added when it comes")


class _Exchange:
    """A step between whole sequences and parts of them."""

    layer: Any
    summed = False

    @classmethod
    def apply(cls, input: Tensor, axis: int = 0, group: Any = None) -> Tensor:
        """Return the result for this process.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> ScatterOp.apply(paddle.ones([2])).tolist()
            [1.0, 1.0]
        """
        among = group or hybrid_group().get_model_parallel_group()
        return input.clone() if among.nranks == 1 else cls.layer.apply(input, among, axis, cls.summed)


class ScatterOp(_Exchange):
    """The part of a sequence that a process has."""

    layer = Scattered


class GatherOp(_Exchange):
    """The whole of a sequence, of which each process does the same afterwards."""

    layer = Gathered


class AllGatherOp(_Exchange):
    """The whole of a sequence, of which each process uses something else: gradients are added."""

    layer, summed = Gathered, True


class ReduceScatterOp(_Exchange):
    """This process's part of the sum over all."""

    layer, summed = Scattered, True


class ColumnSequenceParallelLinear(ColumnParallelLinear):
    """ColumnParallelLinear on parts of a sequence.

    Arguments: see ColumnParallelLinear; results are not gathered.

    Raises:
        ValueError: if they shall be gathered.
    """

    def __init__(self, *args: Any, gather_output: bool = False, **kwargs: Any) -> None:
        if gather_output:
            raise ValueError("ColumnSequenceParallelLinear: gather_output is True; parts of sequences stay parts")
        super().__init__(*args, **{**kwargs, "gather_output": False})

    def forward(self, x: Tensor) -> Tensor:
        """This process's columns, for the whole sequence."""
        whole = AllGatherOp.apply(x, group=self.model_parallel_group) if self.is_mp else x
        return F.linear(whole, self.weight, self.bias)


class RowSequenceParallelLinear(RowParallelLinear):
    """RowParallelLinear that gives parts of a sequence.

    Arguments: see RowParallelLinear; the input is split already.

    Raises:
        ValueError: if it is not.
    """

    def __init__(self, *args: Any, input_is_parallel: bool = True, **kwargs: Any) -> None:
        if not input_is_parallel:
            raise ValueError("RowSequenceParallelLinear: input_is_parallel is False; its input is split by columns")
        super().__init__(*args, **{**kwargs, "input_is_parallel": True})
        if self.bias is not None and self.is_mp:
            mark_as_sequence_parallel_parameter(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """This process's part of the sequence, the sum over all rows."""
        out = F.linear(x, self.weight)
        out = ReduceScatterOp.apply(out, group=self.model_parallel_group) if self.is_mp else out
        return out if self.bias is None else out + self.bias


class SPInnerOverlapLinear:
    """Linear on columns of the weight, of which each process has some, for parts of a sequence."""

    @staticmethod
    def apply(x: Tensor, weight: Tensor, bias: Tensor | None = None, *settings: Any) -> Tensor:
        """Return the whole of x @ weight + bias; the last of the settings may be the group."""
        group = next((s for s in settings if isinstance(s, Group)), None)
        return F.linear(AllGatherOp.apply(x, group=group), weight, bias)


def scatter(input: Tensor, axis: int = 0) -> Tensor:
    """This process's part of a sequence; see ScatterOp."""
    return ScatterOp.apply(input, axis)


def all_gather(input: Tensor, axis: int = 0) -> Tensor:
    """Return the whole of a sequence; see AllGatherOp."""
    return AllGatherOp.apply(input, axis)


def is_sequence_parallel_parameter(parameter: Any) -> bool:
    """Whether the gradients of a parameter come from parts of sequences."""
    return bool(getattr(parameter, "sequence_parallel", False))


def mark_as_sequence_parallel_parameter(parameter: Any) -> None:
    """Say that the gradients of a parameter come from parts of sequences."""
    parameter.sequence_parallel = True


@no_effect(accumulation_steps=_EACH, fuse_sequence_parallel_allreduce=_EACH)
def register_sequence_parallel_allreduce_hooks(
    model: Any, accumulation_steps: int = 1, fuse_sequence_parallel_allreduce: bool = False
) -> None:
    """Add, as they come, the gradients that parts of a sequence give to marked parameters.

    Arguments:
        model: a layer.
        accumulation_steps, fuse_sequence_parallel_allreduce: see docs/differences.md.
    """
    group = hybrid_group().get_model_parallel_group()
    if group.nranks == 1:
        return
    for p in model.parameters():
        if getattr(p, "sequence_parallel", False):
            p.register_hook(lambda grad: _all_reduce(grad, group))


def _all_reduce(grad: Tensor, group: Any) -> Tensor:
    return exchanged("all_reduce", grad, group, ReduceOp.SUM)
