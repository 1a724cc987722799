"""The base of passes over expressions that put functions in front of the statement they work on."""

from __future__ import annotations

from typing import Any

import gast

from ..names import Namer


class Hoist(gast.NodeTransformer):
    """Visits the expressions of one scope; `before` collects what must stand before the statement at hand."""

    def __init__(self, namer: Namer, globals_: set[str] | frozenset[str] = frozenset()) -> None:
        self.namer = namer
        self.globals = set(globals_)
        self.before: list[gast.stmt] = []
        self.lambdas = 0  # how many lambdas we are in: there, nothing can be put before

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """The statements, each with what it needs before it."""
        out: list[gast.stmt] = []
        outer = self.before
        for stmt in body:
            self.before = []
            new = self.visit(stmt)
            out += [*self.before, *(new if isinstance(new, list) else [new])]
        self.before = outer
        return out

    def generic_visit(self, node: Any) -> Any:
        for field, value in gast.iter_fields(node):
            if isinstance(value, gast.AST):
                setattr(node, field, self.visit(value))
            elif isinstance(value, list) and value and isinstance(value[0], gast.stmt):
                setattr(node, field, self.block(value))
            elif isinstance(value, list):
                setattr(node, field, [self.visit(v) if isinstance(v, gast.AST) else v for v in value])
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        self._defaults(node.args)
        return node

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        return node

    visit_ClassDef = visit_AsyncFunctionDef

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


