"""The rules of view ops: the result shares the elements of its first argument, as in the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.interpreter import BoundOp


class ViewStep(NamedTuple):
    """One call of a view op: its arguments besides the tensor that it is a view of."""

    bound: BoundOp
    others: tuple[Any, ...] = ()

    @property
    def rule(self) -> ViewRule:
        """The rule of the op."""
        assert self.bound.views is not None
        return self.bound.views


class ViewRule(NamedTuple):
    """How elements written into a view get back, and where they lie in memory as the reference has it.

    Arguments:
        back: (tensor, new, step) -> the tensor with the elements of its view replaced by `new`.
        layout: (array, step) -> the same view of a NumPy array; ValueError where the elements would have to be copied.
        anywhere: a view of anything, however that lies in memory; others may have to copy what is no plain block.
        overlaps: an element may be in the view more than once.
        each: for several results, (bound op, number of dimensions, i) -> the step that gives the i-th alone.
    """

    back: Callable[[Any, Any, ViewStep], Any]
    layout: Callable[[np.ndarray, ViewStep], np.ndarray]
    anywhere: bool = False
    overlaps: bool = False
    each: Callable[[BoundOp, int, int], ViewStep] | None = None
