"""Comparisons of unknown sizes in a program that is to be saved: the program makes them, where code can be staged."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from ..eager.tensor import Tensor
from .size_facts import OPPOSITE

# A comparison of sizes: left, a name of `operator`, right; sizes are dimensions or numbers.
Comparison = tuple[Any, str, Any]


class SizeCondition(Tensor):
    """Whether a size is less than another one, or equal, ...: a traced boolean.

    Where Python itself needs the answer, that of the sizes at hand is noted, and the program serves no others.
    """

    _decide: Callable[[], bool]
    facts: dict[bool, tuple[Comparison, ...]]  # what holds where it is true, and where it is false

    def __bool__(self) -> bool:
        return self._decide()

    __hash__ = Tensor.__hash__


def _made(out: Any, facts: dict[bool, tuple[Comparison, ...]], decide: Callable[[], bool]) -> SizeCondition:
    made = SizeCondition.__new__(SizeCondition)
    made.__dict__.update(out.__dict__)
    made._decide, made.facts = decide, facts
    return made


def size_condition(left: Tensor, right: Any, compared: Comparison, decide: Callable[[], bool]) -> SizeCondition:
    """Return the comparison of two traced sizes.

    Arguments:
        compared: the sizes, and how they are compared.
    """
    a, relation, b = compared
    out: Any = getattr(operator, relation)(left, right)
    return _made(out, {True: (compared,), False: ((a, OPPOSITE[relation], b),)}, decide)


def all_of(conditions: Sequence[SizeCondition]) -> SizeCondition:
    """Return whether all conditions hold."""
    if len(conditions) == 1:
        return conditions[0]
    out: Any = functools.reduce(lambda a, b: a.logical_and(b), conditions)
    facts = {True: tuple([f for c in conditions for f in c.facts[True]]), False: ()}
    return _made(out, facts, lambda: all(map(bool, conditions)))


def negated(condition: SizeCondition) -> SizeCondition:
    """Return whether a condition does not hold."""
    facts = {side: condition.facts[not side] for side in (True, False)}
    return _made(condition.logical_not(), facts, lambda: not condition)
