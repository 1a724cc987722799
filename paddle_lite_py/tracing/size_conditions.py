"""Comparisons of unknown sizes in a program that is to be saved: the program makes them, where code can be staged."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..eager.tensor import Tensor


class SizeCondition(Tensor):
    """Whether a size is less than another one, or equal, ...: a traced boolean.

    Where Python itself needs the answer, that of the sizes at hand is noted, and the program serves no others.
    """

    _decide: Callable[[], bool]
    compared: tuple[Any, str, Any]  # left, a name of `operator`, right: open sizes or numbers

    def __bool__(self) -> bool:
        return self._decide()

    __hash__ = Tensor.__hash__


def size_condition(
    left: Tensor, relation: str, right: Any, compared: tuple[Any, str, Any], decide: Callable[[], bool]
) -> SizeCondition:
    """Return the comparison of two traced sizes, by a name of `operator`."""
    out: Any = getattr(operator, relation)(left, right)
    made = SizeCondition.__new__(SizeCondition)
    made.__dict__.update(out.__dict__)
    made._decide, made.compared = decide, compared
    return made
