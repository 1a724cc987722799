"""Calls of Python's own functions on things of PyTorch, and torch._assert(), which is a statement here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from . import names
from .imports import Imports, dotted
from .rule import code

Told = Callable[..., None]


def next_of(imports: Imports, told: Told, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    """Of what is an iterator in PyTorch, and a list here."""
    first: Any = updated.args[0].value if updated.args else None
    method = first.func.attr.value if isinstance(first, cst.Call) and isinstance(first.func, cst.Attribute) else ""
    if not imports.torch or method not in ("parameters", "buffers", "children", "modules"):
        return updated
    told(node, f"next(....{method}())", f"next(iter(....{method}()))")
    changed = updated.args[0].with_changes(value=cst.Call(cst.Name("iter"), [cst.Arg(first)]))
    return updated.with_changes(args=[changed, *updated.args[1:]])


def getattr_of(imports: Imports, told: Told, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    """Of a layer or optimizer whose name is computed: paddle.compat has those whose arguments differ."""
    module = dotted(node.args[0].value) if len(node.args) == 2 else None
    here = names.CALLED_BY_VALUE.get(str(imports.full(module))) if module is not None else None
    if here is None:
        return updated
    what = "layers" if here.endswith("nn") else "optimizers"
    told(node, code(node), f"only the {what} of {here} are found by a name that is computed", True)
    compat = cst.parse_expression(imports.reached(here))
    return updated.with_changes(args=[updated.args[0].with_changes(value=compat), updated.args[1]])


def assertion(imports: Imports, told: Told, node: Any, updated: Any) -> Any:
    """Return torch._assert() as a statement."""
    call = node.value if isinstance(node, cst.Expr) else None
    name = dotted(call.func) if isinstance(call, cst.Call) and len(call.args) == 2 else None
    if not name or imports.full(name) != "torch._assert":
        return None
    condition, message = (a.value for a in updated.body[0].value.args)
    told(node, name, "assert")
    return updated.with_changes(body=[cst.Assert(condition, message), *updated.body[1:]])
