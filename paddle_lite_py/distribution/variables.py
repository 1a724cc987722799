"""Variables: what a transform takes and gives, by its number of event dimensions and its constraint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..eager.tensor import Tensor
from ..ops.joining import stack
from ..ops.reduction import all as all_of
from . import constraints

__all__ = [
    "IndependentVariable",
    "PositiveVariable",
    "RandomVariable",
    "RealVariable",
    "StackedVariable",
    "positive",
    "real",
]


class RandomVariable:
    """A random variable.

    Arguments:
        is_discrete: whether its values are discrete. Default: False.
        event_rank: the number of event dimensions. Default: 0.
        constraint: which values may be; None: no constraint is known.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> RandomVariable(event_rank=1).event_rank
        1
    """

    def __init__(self, is_discrete: bool = False, event_rank: int = 0, constraint: Any = None) -> None:
        self.is_discrete, self.event_rank, self._constraint = is_discrete, event_rank, constraint

    def constraint(self, value: Tensor) -> Tensor:
        """Return whether values meet the constraint.

        Raises:
            ValueError: no constraint is known.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> positive.constraint(paddle.to_tensor([1.0, -1.0])).tolist()
            [True, False]
        """
        if self._constraint is None:
            raise ValueError(f"{type(self).__name__} has no constraint")
        return self._constraint(value)


class RealVariable(RandomVariable):
    """A real variable.

    Arguments:
        event_rank: the number of event dimensions. Default: 0.
    """

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraints.real)


class PositiveVariable(RandomVariable):
    """A variable of at least 0.

    Arguments:
        event_rank: the number of event dimensions. Default: 0.
    """

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraints.positive)


class IndependentVariable(RandomVariable):
    """A variable whose last batch dimensions count as event dimensions.

    Arguments:
        base: the variable.
        reinterpreted_batch_rank: the number of these dimensions.
    """

    def __init__(self, base: RandomVariable, reinterpreted_batch_rank: int) -> None:
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)
        self._base, self._rank = base, reinterpreted_batch_rank

    def constraint(self, value: Tensor) -> Tensor:
        """Return whether all values of an event meet the constraint."""
        met = self._base.constraint(value)
        return all_of(met, axis=list(range(-self._rank, 0))) if self._rank else met


class StackedVariable(RandomVariable):
    """Variables side by side along a dimension.

    Arguments:
        vars: the variables.
        axis: the dimension. Default: 0.
    """

    def __init__(self, vars: Sequence[RandomVariable], axis: int = 0) -> None:
        rank = max(v.event_rank for v in vars)
        super().__init__(any(v.is_discrete for v in vars), rank + (axis + rank < 0))
        self._vars, self._axis = list(vars), axis

    def constraint(self, value: Tensor) -> Tensor:
        """Return whether the values of each variable meet its constraint."""
        parts = value.unbind(self._axis)
        return stack([v.constraint(part) for v, part in zip(self._vars, parts, strict=True)], self._axis)


real, positive = RealVariable(), PositiveVariable()
