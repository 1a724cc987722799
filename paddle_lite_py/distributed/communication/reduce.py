"""Reductions over processes."""

from ..collective import reduce
from ..group import ReduceOp

__all__ = ["ReduceOp", "reduce"]


def _get_reduce_op(reduce_op: int, func_name: str) -> int:
    return reduce_op
