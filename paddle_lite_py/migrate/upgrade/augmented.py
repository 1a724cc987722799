"""Assignments such as `p -= step`: PyTorch changes the tensor, which here would be replaced by another one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import libcst as cst

from .rule import code


def names_in(target: cst.BaseExpression) -> list[str]:
    """Return the names that a loop binds."""
    if isinstance(target, cst.Tuple | cst.List):
        return [name for e in target.elements for name in names_in(e.value)]
    return [target.value] if isinstance(target, cst.Name) else []


def in_place(
    updated: cst.AugAssign, loops: Collection[str], told: Callable[..., None], node: cst.CSTNode, reached: Any
) -> cst.AugAssign | cst.Assign:
    """Rewrite the assignment if its tensor is known by other names: in a loop over tensors, or a step of a parameter.

    Arguments:
        loops: names that the loops around it bind.
    """
    of_parameter = ".grad" in code(node.value) and isinstance(updated.target, cst.Name)  # type: ignore[attr-defined]
    if code(updated.target) not in loops and not of_parameter:
        return updated
    target, operation = code(updated.target), code(updated.operator).strip()
    made = reached(f'paddle.compat.augmented({target}, "{operation}", {code(updated.value)})')
    told(node, f"{target} {operation} ...", f"{target} = {made}")
    return cst.Assign([cst.AssignTarget(updated.target)], cst.parse_expression(made))
