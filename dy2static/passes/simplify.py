"""Small rewrites that leave fewer forms to the later passes.

Before:                             After:
    y: Tensor = x * 1                   y = x * 1
    for self.i in xs:                   for target in xs:
        ...                                 self.i = target
                                            ...
"""

from __future__ import annotations

from typing import Any

import gast

from ..template import locate, name, statements
from .hoist import Statements


class Simplify(Statements):
    """Drops annotations of variables, and gives loops and `with` plain names as targets."""

    def visit_AnnAssign(self, node: gast.AnnAssign) -> Any:
        if node.value is not None:
            return locate(gast.Assign(targets=[node.target], value=node.value, type_comment=None), node)
        if isinstance(node.target, gast.Name):
            return statements("if False:\n    X = None", node, X=node.target.id)
        return locate(gast.Pass(), node)

    def visit_For(self, node: Any) -> Any:
        self.nested(node)
        node.target, assign = self._plain(node.target)
        node.body = assign + node.body
        return node

    visit_AsyncFor = visit_For

    def visit_With(self, node: Any) -> Any:
        self.nested(node)
        assigns: list[gast.stmt] = []
        for item in node.items:
            if item.optional_vars is not None:
                item.optional_vars, assign = self._plain(item.optional_vars)
                assigns += assign
        node.body = assigns + node.body
        return node

    visit_AsyncWith = visit_With

    def _plain(self, target: gast.expr) -> tuple[gast.expr, list[gast.stmt]]:
        if not any(isinstance(part, (gast.Attribute, gast.Subscript)) for part in gast.walk(target)):
            return target, []
        item = self.namer.new("target")
        assign = gast.Assign(targets=[target], value=name(item, target), type_comment=None)
        return name(item, target, gast.Store()), [locate(assign, target)]
