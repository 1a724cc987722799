"""The branches that end an iteration: where they alone may stage a flag of the loop, only they look at it."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

import gast

from ..facts import Changes
from ..notes import Notes

Changed = dict[int, Changes]


def ends(
    body: list[Any], flags: Set[str], changes: Changed, notes: Notes, simple: Callable[[Any], bool]
) -> list[gast.If] | None:
    """Return the branches at the end of a body that may set a flag; None where another statement may.

    Arguments:
        flags: names of the flags.
        changes: of each branch and loop, by identity.
        notes: on the statements.
        simple: whether a branch has code for staged values of its own, to which something can be added.
    """
    if not body:
        return []
    *before, last = body
    if any(_sets(stmt, flags, changes, notes) for stmt in before):
        return None
    if not _sets(last, flags, changes, notes):
        return []
    if not (isinstance(last, gast.If) and simple(last)):
        return None
    inner = [ends(block, flags, changes, notes, simple) for block in (last.body, last.orelse)]
    return None if None in inner else [last, *[branch for found in inner for branch in found or ()]]


def _sets(stmt: Any, flags: Set[str], changes: Changed, notes: Notes) -> bool:
    if stmt in notes.jumps:
        return False  # leaves the loop at once
    if isinstance(stmt, (gast.If, gast.While, gast.For)) and id(stmt) in changes:
        return not flags.isdisjoint(changes[id(stmt)].names)
    return any(isinstance(part, gast.Name) and part.id in flags and not isinstance(part.ctx, gast.Load)
               for part in gast.walk(stmt))  # fmt: skip
