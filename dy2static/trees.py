"""Between gast's trees and those of the running Python."""

from __future__ import annotations

import ast
import contextlib
import gc
import sys
from collections.abc import Iterator
from typing import Any

import gast

_DEEP = 20_000


@contextlib.contextmanager
def room_for_trees() -> Iterator[None]:
    """Lets walks of a tree follow a long `elif` chain, which is deep; keeps the collector from going over all trees."""
    limit, collects = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(limit, _DEEP))
    gc.disable()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collects:
            gc.enable()


def to_ast(node: Any) -> Any:
    """Return the tree for this Python; nodes that stand at several places are converted once.

    Arguments:
        node: a gast tree.

    Example:
        >>> ast.unparse(to_ast(gast.parse("def f(x, *y): return x")))
        'def f(x, *y):\\n    return x'
    """
    return _ToAst().convert(node)


class _ToAst:
    def __init__(self) -> None:
        self.made: dict[int, Any] = {}

    def convert(self, node: Any) -> Any:
        kind = node.__class__
        if kind is list:
            return [self.convert(item) for item in node]
        if kind in _ATOMS:
            return node
        made = self.made.get(id(node))
        if made is None:
            made = self.made[id(node)] = _METHODS.get(kind, _ToAst._same)(self, node)
        return made

    def _same(self, node: Any) -> Any:
        """Return the node of the same name."""
        kind = getattr(ast, type(node).__name__)
        new = kind.__new__(kind)  # its constructor would ask for the fields
        fields, target = node.__dict__, new.__dict__
        for field in kind._fields:
            value = fields.get(field)
            if value.__class__ not in _ATOMS:
                target[field] = self.convert(value)
            else:
                target[field] = [] if value is None and field in _LISTS else value
        return _place(new, fields)

    def _name(self, node: gast.Name) -> Any:
        new = ast.Name.__new__(ast.Name)
        new.id, new.ctx = node.id, _CONTEXTS[type(node.ctx)]
        return _place(new, node.__dict__)

    def _arg(self, node: gast.Name | None) -> Any:
        if node is None:
            return None
        return _place(ast.arg(node.id, self.convert(node.annotation), node.type_comment), node.__dict__)

    def _arguments(self, node: gast.arguments) -> Any:
        lists = {f: [self._arg(arg) for arg in getattr(node, f)] for f in ("posonlyargs", "args", "kwonlyargs")}
        return ast.arguments(
            **lists,
            vararg=self._arg(node.vararg),
            kwarg=self._arg(node.kwarg),
            defaults=self.convert(node.defaults),
            kw_defaults=self.convert(node.kw_defaults),
        )

    def _handler(self, node: gast.ExceptHandler) -> Any:
        name = node.name.id if node.name is not None else None
        new = ast.ExceptHandler(self.convert(node.type), name, self.convert(node.body))
        return _place(new, node.__dict__)


_ATOMS = frozenset({str, int, bool, float, complex, bytes, tuple, type(None), type(...)})
_LISTS = frozenset({"type_params", "decorator_list"})
_METHODS = {gast.Name: _ToAst._name, gast.arguments: _ToAst._arguments, gast.ExceptHandler: _ToAst._handler}
_CONTEXTS = {gast.Load: ast.Load(), gast.Store: ast.Store(), gast.Del: ast.Del(), gast.Param: ast.Load()}
_NOWHERE = {"lineno": 1, "end_lineno": 1, "col_offset": 0, "end_col_offset": 0}


def _place(new: Any, fields: dict[str, Any]) -> Any:
    """Return the place in the file; what has none stands on the first line."""
    if new._attributes:
        target = new.__dict__
        if fields.get("lineno") is None:
            target.update(_NOWHERE)
        else:
            for attribute in _NOWHERE:
                target[attribute] = fields[attribute]
    return new
