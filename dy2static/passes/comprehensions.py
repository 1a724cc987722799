"""Comprehensions become functions with loops, so that their conditions and iterables may be staged.

Before:                             After:
    ys = [f(x) for x in xs if x > 0]    def list(iterable):
                                            out = []
                                            for x in iterable:
                                                if x > 0:
                                                    out.append(f(x))
                                            return out
                                        ys = list(xs)

A generator expression stays lazy, and becomes a list only where its iterable is staged. Where its condition is, each
element is yielded in a form that counts for nothing if the condition is false: that works for `sum`, `any` and `all`.
"""

from __future__ import annotations

from typing import Any

import gast

from ..names import Namer
from ..notes import Notes
from ..scope import COMPREHENSIONS, Access, expressions_within, free, function_access
from ..template import declare, expression, locate, statements
from .hoist import Hoist

_START = {gast.ListComp: "[]", gast.SetComp: "set()", gast.DictComp: "{}", gast.GeneratorExp: "[]"}
_ADD = {gast.ListComp: "O.append(E)", gast.SetComp: "O.add(E)", gast.GeneratorExp: "O.append(E)"}


class Comprehensions(Hoist):
    """Rewrites the comprehensions of one scope; those of nested functions wait for their turn."""

    def __init__(self, namer: Namer, notes: Notes, globals_: set[str]) -> None:
        super().__init__(namer, globals_)
        self.notes = notes

    def visit_ListComp(self, node: Any) -> Any:
        if self.lambdas or any(generator.is_async for generator in node.generators):
            return node
        first = self.visit(node.generators[0].iter)
        made = self._function(node, "comprehension", self._collect(node))
        self.namer.functions[made.name] = free(function_access(made))
        return expression("F(ITERABLE)", node, F=made.name, ITERABLE=first)

    visit_SetComp = visit_DictComp = visit_ListComp

    def visit_GeneratorExp(self, node: Any) -> Any:
        if self.lambdas or any(generator.is_async for generator in node.generators):
            return node
        first = self.visit(node.generators[0].iter)
        eager = self._function(_copy(node), "comprehension", self._collect(_copy(node)))
        lazy = self._function(node, "generator", self._lazy(node))
        lazy.args.args.append(gast.Name(self.namer.prefix + "empty", gast.Param(), None, None))
        call = expression("OPS.generator(EAGER, LAZY, ITERABLE)", node, OPS=self.namer.operators, EAGER=eager.name,
                          LAZY=lazy.name, ITERABLE=first)  # fmt: skip
        self.notes.lazy.add(call)
        return call

    def visit_Lambda(self, node: gast.Lambda) -> Any:
        if self.lambdas or not expressions_within(node.body, COMPREHENSIONS):
            return super().visit_Lambda(node)
        self._defaults(node.args)
        (made,) = statements("def F():\n    return BODY", node, F=self.namer.new("lambda"), BODY=node.body)
        made.args = node.args
        self.before.append(made)
        return expression("F", node, F=made.name)

    def _function(self, node: Any, purpose: str, body: list[gast.stmt]) -> Any:
        bound = sorted(Access(body).written & _walrus(node))
        head: list[gast.stmt] = []
        if bound:
            self.before += [s for x in bound for s in statements("if False:\n    X = None", node, X=x)]
            head = declare(bound, self.globals, node)
        (made,) = statements("def F(ITERABLE):\n    BODY", node, F=self.namer.new(purpose),
                             ITERABLE=self.namer.prefix + "iterable", BODY=head + body)  # fmt: skip
        self.before.append(made)
        return made

    def _lazy(self, node: Any) -> list[gast.stmt]:
        """Return the loops that yield the elements; the innermost condition may be staged, see `Operators.masked`."""
        tests = node.generators[-1].ifs
        body = statements("yield E", node, E=node.elt)
        if tests:
            node.generators[-1].ifs = []
            test = tests[0] if len(tests) == 1 else locate(gast.BoolOp(gast.And(), tests), tests[0])
            body = [locate(gast.If(test=test, body=body, orelse=[]), test)]
            self.notes.masked.add(body[0])
        return self._loops(node, body)

    def _collect(self, node: Any) -> list[gast.stmt]:
        """Return the loops that collect the elements in a container."""
        out = self.namer.prefix + "out"
        if isinstance(node, gast.DictComp):
            key = self.namer.prefix + "key"
            add = statements("K = KEY\nO[K] = V", node, O=out, K=key, KEY=node.key, V=node.value)
        else:
            add = statements(_ADD[type(node)], node, O=out, E=node.elt)
        start = statements(f"O = {_START[type(node)]}", node, O=out)
        return [*start, *self._loops(node, add), *statements("return O", node, O=out)]

    def _loops(self, node: Any, body: list[gast.stmt]) -> list[gast.stmt]:
        for generator in node.generators[::-1]:
            for test in generator.ifs[::-1]:
                body = [locate(gast.If(test=test, body=body, orelse=[]), test)]
            first = generator is node.generators[0]
            iterable = expression("I", node, I=self.namer.prefix + "iterable") if first else generator.iter
            loop = gast.For(target=generator.target, iter=iterable, body=body, orelse=[], type_comment=None)
            self.notes.unrolled.add(loop)
            body = [locate(loop, generator.target)]
        return body


def _walrus(node: gast.AST) -> set[str]:
    return {n.target.id for n in gast.walk(node) if isinstance(n, gast.NamedExpr)}


def _copy(node: Any) -> Any:
    if isinstance(node, list):
        return [_copy(item) for item in node]
    if not isinstance(node, gast.AST) or not node._fields:
        return node
    new = type(node)(**{field: _copy(getattr(node, field, None)) for field in node._fields})
    return gast.copy_location(new, node)
