"""Private names: `__x` inside a class becomes what Python makes of it there.

Before (in a method of `Net`):      After:
    return self.__scale                 return self._Net__scale
"""

from __future__ import annotations

from typing import Any

import gast

_FIELDS = ("id", "name", "attr", "asname", "rest")  # Python leaves the keywords of calls alone


def mangle(tree: gast.AST, class_name: str | None) -> None:
    """Rewrites the private names of the class in place; nested classes do their own."""
    owner = (class_name or "").lstrip("_")
    if not owner:
        return
    stack = [tree]
    while stack:
        node = stack.pop()
        for field in _FIELDS:
            value = node.__dict__.get(field)
            if isinstance(value, str):
                setattr(node, field, _mangle(value, owner))
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            node.names = [_mangle(name, owner) for name in node.names]
        stack += _children(node)


def _children(node: gast.AST) -> list[Any]:
    if isinstance(node, gast.ClassDef):
        return [*node.bases, *node.keywords, *node.decorator_list]
    return list(gast.iter_child_nodes(node))


def _mangle(name: str, owner: str) -> str:
    private = name.startswith("__") and not name.endswith("__") and "." not in name
    return f"_{owner}{name}" if private else name
