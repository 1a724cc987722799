"""The passes in order: each removes one construct; control flow goes last."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import gast

from .facts import Facts, compound
from .flow import NONE
from .names import Namer, rebound
from .notes import Notes
from .options import Options
from .passes.asserts import Asserts
from .passes.calls import Calls
from .passes.comprehensions import Comprehensions
from .passes.control_flow import ControlFlow
from .passes.expressions import Expressions
from .passes.jumps import Jumps
from .passes.lift import Later
from .passes.match import MatchStatements
from .passes.raises import Suppressions
from .passes.reads import uncertain
from .passes.simplify import Simplify
from .passes.stores import Stores
from .scope import Access, expressions_within, statements_in


class Pipeline:
    """Converts functions of one source tree.

    Arguments:
        tree: the outermost function.
        namer: makes names for the whole tree.
        options: what the code is made for.
    """

    def __init__(self, tree: gast.FunctionDef, namer: Namer, options: Options) -> None:
        self.rebound = rebound(tree)
        self.namer, self.notes = namer, Notes()
        self.options = options

    def function(
        self, node: gast.FunctionDef, cell: bool = False, later: Later | None = None, own: Set[str] = NONE
    ) -> None:
        """Converts a function and those nested in it, in place.

        Arguments:
            node: the function.
            cell: whether `super()` without arguments may stand in it.
            own: the functions around that are converted with it.
            later: takes what is compiled only when it is called for, see the lift pass.
        """
        globals_ = Access(node.body).globals
        self._canonical(node, globals_)
        own = own | {nested.name for nested in _nested(node.body)} - self.rebound
        facts = Facts(node, self.namer, self.notes)
        changes = {id(stmt): facts.changes(stmt) for stmt in compound(node.body)}
        self._expressions(node, facts, cell, own)
        for nested in _nested(node.body):
            self.function(nested, cell, own=own)
        flow = ControlFlow(node.body, self.namer, facts, changes, self.options.fast, self.options.raises,
                           later)  # fmt: skip
        node.body = flow.function()

    def _canonical(self, node: Any, globals_: set[str]) -> None:
        """Leaves only branches, loops without `else`, and statements without jumps."""
        generator = expressions_within(node.body, (gast.Yield, gast.YieldFrom))
        node.body = Simplify(self.namer).block(node.body)
        node.body = MatchStatements(self.namer).block(node.body)
        node.body = Comprehensions(self.namer, self.notes, globals_).block(node.body)
        if self.options.raises:
            node.body = Suppressions(self.namer).block(node.body)
        Jumps(self.namer, self.notes, returns=not generator, raises=self.options.raises).function(node)

    def _expressions(self, node: Any, facts: Facts, cell: bool, own: Set[str]) -> None:
        """Rewrites what is no control flow."""
        first = next(iter(facts.first), None) if cell else None
        calls = Calls(self.namer, self.notes, self.options, first, own)
        node.body = calls.block(node.body)
        checked = uncertain(facts.graph, facts.flow, self.namer.prefix)
        node.body = Expressions(self.namer, self.notes, facts, checked, self.options).block(node.body)
        if self.options.stores:
            outer = facts.access.nonlocals & self.namer.outer
            node.body = Stores(self.namer, facts.globals, outer).block(node.body)
        node.body = Asserts(self.namer, self.notes).block(node.body)


def _nested(body: list[Any]) -> list[gast.FunctionDef]:
    """Return the functions defined in this scope, those that are coroutines apart."""
    return [stmt for stmt in statements_in(body) if isinstance(stmt, gast.FunctionDef)]
