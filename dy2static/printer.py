"""Converted trees as text for people: astor, with what it lacks."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from .trees import to_ast

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # astor names node types that Python is about to drop
        from astor.code_gen import SourceGenerator, to_source
except Exception:  # it is not maintained, and may not be there, or not run, on a Python of tomorrow
    SourceGenerator, to_source = object, None


def source_of(tree: Any) -> str:
    """Return the text of a gast tree.

    Arguments:
        tree: a tree of gast.

    Example:
        >>> import gast
        >>> print(source_of(gast.parse("x = f'{y}'")))
        x = f'{y}'
        <BLANKLINE>
    """
    plain = to_ast(tree)
    try:
        return to_source(plain, source_generator_class=_Printer)
    except Exception:  # Python's own prints the same tree, in fewer lines
        return ast.unparse(plain) + "\n"


class _Printer(SourceGenerator):
    """Writes what astor lacks: `match`, `except*`, `type`, type parameters, some f-strings, and `/` among defaults."""

    star = ""

    def visit_Match(self, node: ast.Match) -> None:
        self.statement(node, "match ", node.subject, ":")
        self.body(node.cases)

    def visit_match_case(self, node: ast.match_case) -> None:
        guard = [" if ", node.guard] if node.guard is not None else []
        self.statement(node, "case ", ast.unparse(node.pattern), *guard, ":")
        self.body(node.body)

    def visit_Try(self, node: Any) -> None:
        outer, self.star = self.star, "*" if isinstance(node, ast.TryStar) else ""
        super().visit_Try(node)
        self.star = outer

    visit_TryStar = visit_Try

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        kind = [" ", node.type] if node.type is not None else []
        name = [" as ", node.name] if node.name else []
        self.statement(node, "except" + self.star, *kind, *name, ":")
        self.body(node.body)

    def visit_FunctionDef(self, node: Any, is_async: bool = False) -> None:
        super().visit_FunctionDef(_with_parameters(node), is_async=is_async)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        super().visit_ClassDef(_with_parameters(node))

    def visit_arguments(self, node: ast.arguments) -> None:
        self.write(ast.unparse(node))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.write(ast.unparse(node))

    def visit_TypeAlias(self, node: Any) -> None:
        self.statement(node, ast.unparse(node))


def _with_parameters(node: Any) -> Any:
    """Return the definition with its type parameters as part of its name: `class A[T]`."""
    parameters = getattr(node, "type_params", None)
    if not parameters:
        return node
    fields = {field: getattr(node, field) for field in node._fields}
    named = type(node)(**fields | {"name": f"{node.name}[{', '.join(map(ast.unparse, parameters))}]"})
    return ast.copy_location(named, node)
