"""Reductions over processes."""

from ..collective import reduce
from ..group import ReduceOp

__all__ = ["ReduceOp", "reduce"]
