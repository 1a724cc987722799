"""Generated code, written as code: quoted Python with named holes."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Iterable
from typing import Any

import gast

Hole = Any  # a str renames, an expression replaces a name, a list of statements replaces a lone name


def statements(source: str, at: gast.AST, **holes: Hole) -> list[gast.stmt]:
    """The statements of a template.

    Arguments:
        source: Python in which capital names are holes.
        at: the user's node that the statements come from; they get its line.
        holes: what to put into the holes; a node that fills two holes is shared.

    Example:
        >>> at = gast.parse("x = 1").body[0]
        >>> [new] = statements("X = 2", at, X="y")
        >>> new.targets[0].id, new.lineno
        ('y', 1)
    """
    return _Filler(at, holes).block(_parsed(source))


def expression(source: str, at: gast.AST, **holes: Hole) -> gast.expr:
    """The expression of a template; see `statements`."""
    return _Filler(at, holes).fill(_parsed(source)[0].value)


def locate(new: gast.AST, at: gast.AST) -> gast.AST:
    """Gives a node the place where another starts; on one line, for Python reports the last line of a method call."""
    line, column = getattr(at, "lineno", None), getattr(at, "col_offset", None)
    whole = getattr(at, "end_lineno", None) == line
    new.lineno = new.end_lineno = line
    new.col_offset, new.end_col_offset = column, at.end_col_offset if whole else column
    return new


def name(identifier: str, at: gast.AST, ctx: gast.expr_context | None = None) -> gast.Name:
    """A name, to be loaded unless `ctx` says otherwise."""
    new = gast.Name(id=identifier, ctx=ctx or gast.Load(), annotation=None, type_comment=None)
    return locate(new, at)


def constant(value: Any, at: gast.AST) -> gast.Constant:
    """A constant."""
    return locate(gast.Constant(value=value, kind=None), at)


def declare(names: Iterable[str], globals_: set[str], at: gast.AST) -> list[gast.stmt]:
    """The `global` and `nonlocal` statements that let an inner function bind the names of the user's function."""
    found = sorted(names)
    kinds = (
        (gast.Global, [n for n in found if n in globals_]),
        (gast.Nonlocal, [n for n in found if n not in globals_]),
    )
    return [locate(kind(names=names), at) for kind, names in kinds if names]


@functools.lru_cache(maxsize=512)
def _parsed(source: str) -> list[gast.stmt]:
    return gast.parse(textwrap.dedent(source)).body


_FILLED = (str, list)


class _Filler:
    """Copies a template, filling its holes."""

    def __init__(self, at: gast.AST, holes: dict[str, Hole]) -> None:
        self.at, self.holes = at, holes

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for stmt in body:
            if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Name) and stmt.value.id in self.holes:
                filled = self.holes[stmt.value.id]
                out += filled if isinstance(filled, list) else self._lone(filled)
            else:
                out.append(self.fill(stmt))
        return out

    def _lone(self, filled: Hole) -> list[gast.stmt]:
        return [filled if isinstance(filled, gast.stmt) else locate(gast.Expr(value=filled), self.at)]

    def fill(self, node: Any) -> Any:
        if isinstance(node, list):
            return self.block(node) if node and isinstance(node[0], gast.stmt) else [self.fill(n) for n in node]
        if isinstance(node, str):
            return self.holes.get(node, node)
        if not isinstance(node, gast.AST):
            return node
        if isinstance(node, gast.Name) and isinstance(self.holes.get(node.id), gast.AST):
            return self.holes[node.id]
        return self._copy(node)

    def _copy(self, node: Any) -> Any:
        if not node._fields:
            return node  # a context or an operator
        kind: Any = type(node)
        new = kind.__new__(kind)  # the constructor is slow
        old, fields = node.__dict__, new.__dict__
        for field in node._fields:
            value = old.get(field)
            fields[field] = self.fill(value) if value.__class__ in _FILLED or isinstance(value, gast.AST) else value
        locate(new, self.at)
        if isinstance(new, (gast.FunctionDef, gast.For, gast.While, gast.If, gast.With)) and not new.body:
            new.body = [locate(gast.Pass(), self.at)]
        return new
