"""Reads of variables that may be undefined are checked.

Before (`y` is set in one branch):  After:
    return y + 1                        return ops.load(y) + 1
"""

from __future__ import annotations

from typing import Any

import gast

from ..cfg import Graph
from ..flow import Flow
from ..scope import FUNCTIONS


def uncertain(graph: Graph, flow: Flow, ignore: str) -> set[int]:
    """The identities of the names that read a variable which may be undefined; `ignore` is the prefix of made names."""
    found: set[int] = set()
    for node in graph.nodes:
        names = {n for n in flow.undefined_before(node) & node.access.read if not n.startswith(ignore)}
        if names:
            found.update(id(n) for part in node.parts for n in _loads(part) if n.id in names)
    return found


def _loads(part: Any) -> list[Any]:
    found, stack = [], [part]
    while stack:
        node = stack.pop()
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
            found.append(node)
        if node is not None and not isinstance(node, (*FUNCTIONS, gast.ClassDef)):
            stack += gast.iter_child_nodes(node)
    return found
