"""The bases of passes: over the statements of a scope, and over its expressions too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..names import Namer
from ..scope import SCOPES


class Statements:
    """Visits the statements of one scope; a method `visit_X` returns what takes the place of a statement X."""

    def __init__(self, namer: Namer) -> None:
        self.namer = namer

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """Return the statements rewritten."""
        out: list[gast.stmt] = []
        for stmt in body:
            new = self.visit(stmt)
            out += new if isinstance(new, list) else [new]
        return out

    def visit(self, stmt: Any) -> Any:
        """Return the replacement of the statement."""
        method: Callable[[Any], Any] | None = getattr(self, f"visit_{type(stmt).__name__}", None)
        return self.nested(stmt) if method is None else method(stmt)

    def nested(self, stmt: Any) -> Any:
        """Return the statement with the blocks in it rewritten."""
        if isinstance(stmt, SCOPES):
            return stmt
        for part in (stmt, *stmt.__dict__.get("handlers", ()), *stmt.__dict__.get("cases", ())):
            for field in ("body", "orelse", "finalbody"):
                if part.__dict__.get(field):
                    setattr(part, field, self.block(getattr(part, field)))
        return stmt


class Hoist(Statements):
    """Visits the expressions too; `before` collects what must stand before the statement at hand."""

    def __init__(self, namer: Namer, globals_: set[str] | frozenset[str] = frozenset()) -> None:
        super().__init__(namer)
        self.globals = set(globals_)
        self.before: list[gast.stmt] = []
        self.lambdas = 0  # how many lambdas we are in: there, nothing can be put before
        self._methods: dict[type, Callable[[Any], Any]] = {}

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """Return the statements, each with what it needs before it."""
        out: list[gast.stmt] = []
        outer = self.before
        for stmt in body:
            self.before = []
            new = self.visit(stmt)
            out += [*self.before, *(new if isinstance(new, list) else [new])]
        self.before = outer
        return out

    def visit(self, node: Any) -> Any:
        """Return the replacement of the node."""
        kind = type(node)
        method = self._methods.get(kind)
        if method is None:
            method = self._methods[kind] = getattr(self, f"visit_{kind.__name__}", self.generic_visit)
        return method(node)

    def generic_visit(self, node: Any) -> Any:
        """Return the node, with what is in it rewritten."""
        fields = node.__dict__
        for field in node._fields:
            value = fields.get(field)
            if isinstance(value, gast.AST):
                fields[field] = self.visit(value)
            elif isinstance(value, list) and value:
                is_block = isinstance(value[0], gast.stmt)
                fields[field] = self.block(value) if is_block else [self._item(item) for item in value]
        return node

    def _item(self, item: Any) -> Any:
        return self.visit(item) if isinstance(item, gast.AST) else item

    def visit_Name(self, node: gast.Name) -> Any:
        return node

    def visit_Constant(self, node: gast.Constant) -> Any:
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        self._defaults(node.args)
        return node

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        return node

    def visit_ClassDef(self, node: Any) -> Any:
        return node

    def visit_Lambda(self, node: gast.Lambda) -> Any:
        self._defaults(node.args)
        self.lambdas += 1
        node.body = self.visit(node.body)
        self.lambdas -= 1
        return node

    def _defaults(self, args: gast.arguments) -> None:
        args.defaults = [self.visit(value) for value in args.defaults]
        args.kw_defaults = [value and self.visit(value) for value in args.kw_defaults]

    def visit_Match(self, node: gast.Match) -> Any:
        node.subject = self.visit(node.subject)
        return node  # made by the match pass: patterns hold no code of ours
