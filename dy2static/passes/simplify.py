"""Small rewrites that leave fewer forms to the later passes.

Before:                             After:
    y: Tensor = x * 1                   y = x * 1
    for self.i in xs:                   for target in xs:
        ...                                 self.i = target
                                            ...
    while (n := f()) > 0:               while True:
        ...                                 if not (n := f()) > 0:
                                                break
                                            ...
    if a and (n := f()):                test = a
        ...                             if test:
                                            test = (n := f())
                                        if test:
                                            ...

The last two keep a name from being bound by a test that Python does not evaluate.
"""

from __future__ import annotations

from typing import Any

import gast

from ..scope import expressions_within
from ..template import constant, locate, name, statements
from .hoist import Statements


class Simplify(Statements):
    """Drops annotations of variables, and gives loops and `with` plain names as targets."""

    def visit_While(self, node: gast.While) -> Any:
        if _binds(node.test) and not node.orelse:
            node.body = [*statements("if not TEST:\n    break", node, TEST=node.test), *node.body]
            node.test = constant(True, node)
        return self.nested(node)

    def visit_If(self, node: gast.If) -> Any:
        test, before = node.test, []
        if isinstance(test, gast.BoolOp) and any(map(_binds, test.values[1:])):
            known = self.namer.new("test_value")
            check = "if T:\n    T = V" if isinstance(test.op, gast.And) else "if not T:\n    T = V"
            before = statements("T = V", node, T=known, V=test.values[0])
            before += [s for value in test.values[1:] for s in statements(check, node, T=known, V=value)]
            node.test = name(known, node)
        return [*before, self.nested(node)]

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


def _binds(node: gast.AST) -> bool:
    """Whether evaluating the expression binds a name."""
    return expressions_within(node, (gast.NamedExpr,))
