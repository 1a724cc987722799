"""The notes of passes about nodes of a tree, kept outside it: the tree itself holds syntax only."""

from __future__ import annotations

from typing import Any, NamedTuple

import gast


class Connective(NamedTuple):
    """The source of an expression made for `and`, `or` and `not`; `thunk` is the right operand as a function."""

    kind: str
    left: gast.expr
    right: Any = None
    thunk: Any = None


class Notes:
    """Notes by node, for one conversion. They keep the nodes, so that no later node is taken for one of them.

    Attributes:
        guards: of a loop the flags that end it, of an `if` those that must not be set; see the jumps pass.
        jumps: of an assignment, the kind of jump that it stands for.
        raised: of such an assignment in the place of a `raise`, what it was.
        unrolled: the loops of comprehensions, which may be over whatever has elements.
        masked: the conditions of generator expressions.
        lazy: the calls that give a generator.
        python: tests that are never staged, though their form does not tell.
        connectives: of expressions that were boolean operators.
    """

    def __init__(self) -> None:
        self.guards: dict[gast.stmt, list[str]] = {}
        self.jumps: dict[gast.stmt, type[gast.stmt]] = {}
        self.raised: dict[gast.stmt, gast.Raise] = {}
        self.unrolled: set[gast.stmt] = set()
        self.masked: set[gast.stmt] = set()
        self.lazy: set[gast.expr] = set()
        self.python: set[gast.expr] = set()
        self.connectives: dict[gast.expr, Connective] = {}

    def copy(self, node: Any, made: Any) -> None:
        """Note of a copy of a node what is noted of the node."""
        for kept in vars(self).values():
            if node in kept and isinstance(kept, set):
                kept.add(made)
            elif node in kept:
                kept[made] = kept[node]
