"""The table of rules: for a step of a jaxpr, the NumPy function that does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .steps import Step

# A rule gives, for a step, a function of arrays or the text of an expression, in which {0}, {1}, ... are the arguments.
Rule = Callable[[Step], Any]
RULES: dict[str, Rule] = {}
# Steps whose arguments may have fewer elements than their types say, as long as these can be broadcast.
ELEMENTWISE: set[str] = set()
# Steps that only move elements, so that NumPy has nothing to warn of.
MOVES: set[str] = set()


def rule(*names: str, moves: bool = False) -> Callable[[Rule], Rule]:
    """Enter a rule into the table."""

    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        if moves:
            MOVES.update(names)
        return function

    return enter


def elementwise(*names: str) -> Callable[[Rule], Rule]:
    """The same for a step that works element by element."""
    ELEMENTWISE.update(names)
    return rule(*names)


def plainly(**functions: Any) -> None:
    """Rules of steps that are one elementwise function of NumPy, whatever their parameters."""
    for name, function in functions.items():
        ELEMENTWISE.add(name)
        RULES[name] = lambda step, function=function: function
