"""Constraints on the values of a random variable."""

from __future__ import annotations

from typing import Any

from ..ops.logic import logical_and
from ..ops.reduction import all as all_of

__all__ = ["Constraint", "Positive", "Range", "Real", "Simplex", "positive", "real", "simplex"]


class Constraint:
    """Base: called with values, whether each is one that may be."""

    def __call__(self, value: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say which values may be")

    def check(self, value: Any) -> Any:
        """Whether each value is one that may be.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> positive.check(paddle.to_tensor([1.0, -1.0])).tolist()
            [True, False]
        """
        return self(value)


class Real(Constraint):
    """Any number but NaN."""

    def __call__(self, value: Any) -> Any:
        return value == value


class Range(Constraint):
    """The numbers from `lower` to `upper`."""

    def __init__(self, lower: Any, upper: Any) -> None:
        self._lower, self._upper = lower, upper

    def __call__(self, value: Any) -> Any:
        return logical_and(value >= self._lower, value <= self._upper)


class Positive(Constraint):
    """Numbers of at least 0."""

    def __call__(self, value: Any) -> Any:
        return value >= 0.0


class Simplex(Constraint):
    """Rows of numbers of at least 0 that add up to 1."""

    def __call__(self, value: Any) -> Any:
        return logical_and(all_of(value >= 0, axis=-1), (value.sum(-1) - 1).abs() < 1e-6)


real, positive, simplex = Real(), Positive(), Simplex()
