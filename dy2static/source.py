"""Finds the tree of a function, with the line numbers of the file it stands in."""

from __future__ import annotations

import ast
import functools
import linecache
import types
from collections.abc import Iterator
from typing import NamedTuple

import gast

from .errors import ConversionError
from .registry import ByIdentity

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Source(NamedTuple):
    """A function's tree, and the class whose private names it mangles."""

    tree: gast.AST
    class_name: str | None


# The trees (of ast) of functions that are no text in a file: parts of a function, see split.py.
MADE = ByIdentity()


def find(f: types.FunctionType) -> Source:
    """Return the tree of a function: from its file, notebook cell, doctest, or a string known to `linecache`.

    Arguments:
        f: a Python function or lambda.

    Raises:
        ConversionError: there is no source, or it has changed since the function was made.

    Example:
        >>> import textwrap
        >>> find(textwrap.dedent).tree.name
        'dedent'
    """
    code = f.__code__
    if (made := MADE.get(code)) is not None:
        return Source(gast.ast_to_gast(made.tree), made.class_name)
    lines = _lines(f)
    found = [(node, owner) for node, owner in _functions(lines, _key(code)) if _fits(node, code)]
    if len(found) > 1:
        found = [(node, owner) for node, owner in found if _covers(node, code)]
        found = sorted(found, key=lambda pair: _extent(pair[0]))[:1]
    if not found and code.co_filename == "<string>":  # where Python 3.13 keeps the lines of `python -c`
        raise _absent(f)
    if not found:
        raise ConversionError(
            f"{describe(f)} is not in its source file as it was when it was made: the file has changed since. "
            "Reload the module, or start Python again"
        )
    node, owner = found[0]
    return Source(gast.ast_to_gast(node), owner)


def describe(f: types.FunctionType) -> str:
    """Return the function for a message: its name, file and line."""
    code = f.__code__
    return f"function `{f.__qualname__}` ({code.co_filename}:{code.co_firstlineno})"


def _lines(f: types.FunctionType) -> tuple[str, ...]:
    filename = f.__code__.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, f.__globals__)
    if not lines:
        raise _absent(f)
    return tuple(lines)


def _absent(f: types.FunctionType) -> ConversionError:
    return ConversionError(
        f"the source of {describe(f)} was not found, and without it its control flow cannot be converted. "
        "Define it in a file or a notebook cell; for code run by `exec`, put the text into `linecache.cache` under "
        "the file name it was compiled with; or mark it with `do_not_convert`"
    )


def _key(code: types.CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


# Key: the lines themselves.
@functools.lru_cache(maxsize=32)
def _parse(lines: tuple[str, ...]) -> dict[tuple[str, int], list[tuple[FunctionNode, str | None]]]:
    """Return all functions of a file by name and first line, each with the innermost class around it."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError as error:  # a doctest example or a cell with magics
        raise ConversionError(
            f"the source could not be read, because it is no Python ({error}): a doctest example or a cell with "
            "magics? Put the function into a cell or a file of its own"
        ) from error
    table: dict[tuple[str, int], list[tuple[FunctionNode, str | None]]] = {}
    for node, owner in _walk(tree, None):
        table.setdefault((getattr(node, "name", "<lambda>"), _first_line(node)), []).append((node, owner))
    return table


def _functions(lines: tuple[str, ...], key: tuple[str, int]) -> list[tuple[FunctionNode, str | None]]:
    table = _parse(lines)
    name, line = key
    return table.get(key) or [pair for (n, at), pairs in table.items() if at == line for pair in pairs
                              if n == name or (n.startswith("__") and name.endswith(n))]  # fmt: skip


def _walk(tree: ast.AST, owner: str | None) -> Iterator[tuple[FunctionNode, str | None]]:
    stack: list[tuple[ast.AST, str | None]] = [(tree, owner)]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, FunctionNode):
            yield node, owner
        inner = node.name if isinstance(node, ast.ClassDef) else owner
        stack += [(child, inner) for child in ast.iter_child_nodes(node)]


def _first_line(node: FunctionNode) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _fits(node: FunctionNode, code: types.CodeType) -> bool:
    a = node.args
    names = [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if arg is not None]
    taken = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    found = code.co_varnames[:taken]
    return len(names) == taken and all(n == m or m.endswith(n) for n, m in zip(names, found, strict=True))


def _covers(node: FunctionNode, code: types.CodeType) -> bool:
    """Whether all instructions of the code lie within the node, by line and column."""
    if not isinstance(node, ast.Lambda):
        return True
    body = node.body
    first, last = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return all(
        first <= (line, column) and (end_line, end_column) <= last
        for line, end_line, column, end_column in code.co_positions()
        if None not in (line, end_line, column, end_column) and end_column > column  # type: ignore[operator]
    )


def _extent(node: FunctionNode) -> tuple[int, int]:
    return ((node.end_lineno or 0) - node.lineno, (node.end_col_offset or 0) - node.col_offset)
