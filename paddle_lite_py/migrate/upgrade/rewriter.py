"""Rewrites the text of a program; comments and layout stay."""

from __future__ import annotations

from typing import Any, NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from . import names
from .imports import Imports, dotted
from .rule import Misfit, apply_rule, code
from .torch_rules import PAIRS


class Note(NamedTuple):
    """Something that was changed, or that is left to do."""

    line: int
    old: str
    new: str
    todo: bool = False

    def __str__(self) -> str:
        return (
            f"line {self.line}: {self.old}: {self.new}" if self.todo else f"line {self.line}: {self.old} -> {self.new}"
        )


class Upgraded(NamedTuple):
    """A program that was rewritten."""

    text: str
    notes: list[Note]


def upgrade(text: str) -> Upgraded:
    """Rewrite a program of Paddle 1.x, Paddle 2.x or PyTorch.

    Raises:
        libcst.ParserSyntaxError: if it is no Python.

    Examples:
        >>> print(upgrade("import torch  # numbers\\nx = torch.zeros(2)").text)
        import paddle_lite_py as paddle  # numbers
        x = paddle.zeros(2)
    """
    wrapper = MetadataWrapper(cst.parse_module(text))
    imports = Imports()
    wrapper.visit(imports)
    made = wrapper.visit(Rewriter(imports))
    notes = sorted({*imports.notes})
    return Upgraded(imports.finished(made).code, [Note(*n) for n in notes])


class Rewriter(cst.CSTTransformer):
    """Puts names of this package in the place of others."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, imports: Imports) -> None:
        super().__init__()
        self.imports = imports
        self._inner: set[cst.CSTNode] = set()  # parts of a longer name
        self._called: set[cst.CSTNode] = set()

    def _line(self, node: cst.CSTNode) -> int:
        return self.get_metadata(PositionProvider, node).start.line

    def _told(self, node: cst.CSTNode, old: str, new: str, todo: bool = False) -> None:
        self.imports.notes.add((self._line(node), old, new, todo))

    # -- names -----------------------------------------------------------------------------------------------------
    def visit_Attribute(self, node: cst.Attribute) -> None:
        if node not in self._inner and (name := dotted(node)) and self.imports.full(name):
            part: Any = node.value
            while isinstance(part, cst.Attribute | cst.Name):
                self._inner.add(part)
                part = getattr(part, "value", None)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        if original_node in self._inner or original_node in self._called:
            return updated_node
        name = dotted(original_node)
        full = self.imports.full(name) if name else None
        return updated_node if full is None else self._renamed(original_node, updated_node, str(name), full)

    def _renamed(self, node: Any, updated: Any, name: str, full: str) -> Any:
        rule = names.rule_for(full)
        if rule is None or not rule.new or rule.new.startswith("{"):
            self._told(node, name, names.todo_for(full), True)
            return updated
        if rule.order or rule.todo:
            self._told(node, name, rule.todo or "its arguments differ here; it is not called where it is named", True)
        return self._written(node, updated, name, rule.new)

    def _written(self, node: Any, updated: Any, name: str, new: str, tell: bool = True) -> Any:
        text = self.imports.written(name, new)
        if text == name:
            return updated
        if tell:
            self._told(node, name, text)
        return cst.parse_expression(text)

    # -- imports ---------------------------------------------------------------------------------------------------
    def visit_Import(self, _node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, _node: cst.ImportFrom) -> bool:
        return False

    def leave_SimpleStatementLine(self, original_node: Any, updated_node: Any) -> Any:
        return self.imports.replaced(self._line(original_node), original_node, updated_node)

    # -- calls -----------------------------------------------------------------------------------------------------
    def visit_Call(self, node: cst.Call) -> None:
        name = dotted(node.func)
        if name and self.imports.full(name):
            self._called.add(node.func)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> Any:
        name = dotted(original_node.func)
        full = self.imports.full(name) if name else None
        if full is None:
            return self._method(original_node, updated_node)
        rule = names.rule_for(full)
        if rule is None:
            self._told(original_node, str(name), names.todo_for(full), True)
            return updated_node
        if rule.new == "{0}":
            self._told(original_node, str(name), rule.todo, True)
            return updated_node.args[0].value.visit(_Devices()) if updated_node.args else updated_node
        return self._call(original_node, updated_node, str(name), rule)

    def _call(self, node: cst.Call, updated: cst.Call, name: str, rule: Any) -> cst.BaseExpression:
        try:
            new, args, after = apply_rule(rule, updated.args)
        except Misfit as e:
            self._told(node, name, f"{e}; compare with {rule.new or 'its successor'}", True)
            return updated
        if rule.todo:
            self._told(node, name, rule.todo, True)
        same = [code(a) for a in args] == [code(a) for a in updated.args]
        if not same:
            updated = updated.with_changes(args=args)
        made: Any = updated.with_changes(func=self._written(node, updated.func, name, new, same))
        if not same:
            self._told(node, " ".join(code(node).split()), " ".join(code(made).split()))
        if after:
            self._told(node, name, after.format(f"{new}(...)"))
            made = cst.parse_expression(self.imports.reached(after).format(code(made)))
        return made

    def _method(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return a method of a tensor or module of PyTorch."""
        if not self.imports.torch or not isinstance(updated.func, cst.Attribute):
            return updated
        method, owner = updated.func.attr.value, updated.func.value
        if method == "size" and len(updated.args) <= 1:
            self._told(node, ".size()", ".shape")
            shape = cst.Attribute(owner, cst.Name("shape"))
            at = [cst.SubscriptElement(cst.Index(a.value)) for a in updated.args]
            return cst.Subscript(shape, at) if at else shape
        if method == "cuda" and not updated.args:
            self._told(node, ".cuda()", "left out: tensors are made where they are needed")
            return owner
        if method in PAIRS and updated.args:
            self._told(node, f".{method}(...)", f"paddle.compat.{method}(..., ...)")
            first = cst.Arg(owner, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
            text = self.imports.reached(f"paddle.compat.{method}")
            return cst.Call(cst.parse_expression(text), [first, *updated.args])
        if method == "type" and len(updated.args) == 1:
            self._told(node, ".type(...)", ".astype(...)")
            return updated.with_changes(func=updated.func.with_changes(attr=cst.Name("astype")))
        return updated


class _Devices(cst.CSTTransformer):
    """Names of devices."""

    def leave_SimpleString(self, _original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.SimpleString:
        return updated_node.with_changes(value=updated_node.value.replace("cuda", "gpu"))
