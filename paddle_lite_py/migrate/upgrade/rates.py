"""Learning rates: PyTorch keeps them in the groups of an optimizer, which here has one that schedules set."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import libcst as cst

from .rule import code

Told = Callable[..., None]
_RATE = re.compile(r"""(.+)\.param_groups\[[^\]]+\]\[['"]lr['"]\]""", re.DOTALL)


def optimizer_of(node: cst.CSTNode) -> str | None:
    """Return the text of an optimizer of whose first group this is the rate; None if it is something else."""
    found = _RATE.fullmatch(code(node)) if isinstance(node, cst.Subscript) else None
    return found and found[1]


def read(updated: cst.Subscript, told: Told, node: cst.CSTNode) -> cst.BaseExpression:
    """Rewrite `optimizer.param_groups[0]["lr"]` as get_lr()."""
    optimizer = optimizer_of(updated)
    if optimizer is None:
        return updated
    told(node, code(updated), f"{optimizer}.get_lr()")
    return cst.parse_expression(f"{optimizer}.get_lr()")


def _set(optimizer: str, value: str, told: Told, node: cst.CSTNode) -> Any:
    made = f"{optimizer}.set_lr({value})"
    told(node, f'{optimizer}.param_groups[...]["lr"]', made)
    return cst.Expr(cst.parse_expression(made))


def assigned(updated: cst.Assign, told: Told, node: cst.CSTNode) -> Any:
    """Rewrite `optimizer.param_groups[0]["lr"] = rate` as set_lr()."""
    optimizer = optimizer_of(updated.targets[0].target)
    return updated if optimizer is None else _set(optimizer, code(updated.value), told, node)


def augmented(updated: cst.AugAssign, told: Told, node: cst.CSTNode) -> Any:
    """Rewrite `optimizer.param_groups[0]["lr"] *= factor` as set_lr(), whose target has become get_lr()."""
    found = re.fullmatch(r"(.+)\.get_lr\(\)", code(updated.target), re.DOTALL)
    if found is None:
        return updated
    operator = code(updated.operator).strip().removesuffix("=")
    return _set(found[1], f"{code(updated.target)} {operator} ({code(updated.value)})", told, node)


def looped(updated: cst.For, told: Told, node: cst.CSTNode) -> Any:
    """Rewrite a loop over the groups of an optimizer that sets nothing but their rate as set_lr()."""
    groups = updated.iter
    body = updated.body.body
    if not isinstance(groups, cst.Attribute) or groups.attr.value != "param_groups" or code(groups.value) == "self":
        return updated  # an optimizer's own groups are those of paddle.compat.optim.Optimizer
    optimizer, group = code(groups.value), re.escape(code(updated.target))
    rate = rf"""{group}\[['"]lr['"]\]"""
    text = code(body[0]).strip() if len(body) == 1 else ""
    found = re.fullmatch(rf"{rate}\s*(\S?)=\s*(.+)", text)
    if found is None or re.search(rf"\b{group}\b", re.sub(rate, "", found[2])):
        told(node, f"for {code(updated.target)} in {code(groups)}", "write set_lr(): groups are not changed here", True)
        return updated
    value = re.sub(rate, lambda _: f"{optimizer}.get_lr()", found[2])
    value = f"{optimizer}.get_lr() {found[1]} ({value})" if found[1] else value
    line = cst.SimpleStatementLine([_set(optimizer, value, told, node)], leading_lines=updated.leading_lines)
    return line
