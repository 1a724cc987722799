"""Generated code, written as code: quoted Python with named holes."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import gast

Hole = Any  # a str renames, an expression replaces a name, a list of statements replaces a lone name


def statements(source: str, at: gast.AST, **holes: Hole) -> list[gast.stmt]:
    """Return the statements of a template.

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
    return _plan(source)(holes, _place(at))


def expression(source: str, at: gast.AST, **holes: Hole) -> gast.expr:
    """Return the expression of a template; see `statements`."""
    return _plan(source, True)(holes, _place(at))


def locate(new: gast.AST, at: gast.AST) -> gast.AST:
    """Gives a node the place where another starts; on one line, for Python reports the last line of a method call."""
    new.__dict__.update(_place(at))
    return new


def _place(at: gast.AST) -> Place:
    found = at.__dict__.get
    line, column = found("lineno"), found("col_offset")
    end = found("end_col_offset") if found("end_lineno") == line else column
    return {"lineno": line, "end_lineno": line, "col_offset": column, "end_col_offset": end}


def name(identifier: str, at: gast.AST, ctx: gast.expr_context | None = None) -> gast.Name:
    """A name, to be loaded unless `ctx` says otherwise."""
    new = gast.Name(id=identifier, ctx=ctx or gast.Load(), annotation=None, type_comment=None)
    return locate(new, at)


def constant(value: Any, at: gast.AST) -> gast.Constant:
    """Return a constant."""
    return locate(gast.Constant(value=value, kind=None), at)


def declare(names: Iterable[str], globals_: set[str], at: gast.AST) -> list[gast.stmt]:
    """The `global` and `nonlocal` statements that let an inner function bind the names of the user's function."""
    found = sorted(names)
    kinds = (
        (gast.Global, [n for n in found if n in globals_]),
        (gast.Nonlocal, [n for n in found if n not in globals_]),
    )
    return [locate(kind(names=names), at) for kind, names in kinds if names]


# Key: the text.
@functools.lru_cache(maxsize=512)
def _plan(source: str, is_expression: bool = False) -> Plan:
    body = gast.parse(textwrap.dedent(source)).body
    return _plan_part(body[0].value if is_expression else body)


Place = dict[str, int | None]
Plan = Callable[[dict[str, Hole], Place], Any]  # makes a part of a template anew, with its holes filled


def _plan_part(part: Any) -> Plan:
    """How to make a part that may have holes."""
    if isinstance(part, list):
        return _plan_list(part)
    if isinstance(part, str):
        return lambda holes, place: holes.get(part, part)
    if isinstance(part, gast.Name):
        return _plan_name(part)
    if isinstance(part, gast.stmt) or _variable(part):
        return _plan_node(part)
    return lambda holes, place: part  # a context, an operator, a constant


def _plan_node(node: gast.AST) -> Plan:
    kind: Any = type(node)
    fields = {field: node.__dict__.get(field) for field in node._fields}
    fixed = {field: value for field, value in fields.items() if not _variable(value)}
    plans = [(field, _plan_part(value)) for field, value in fields.items() if field not in fixed]
    is_block = kind in (gast.FunctionDef, gast.For, gast.While, gast.If, gast.With)
    create = kind.__new__  # the constructor is slow

    def make(holes: dict[str, Hole], place: Place) -> Any:
        new = create(kind)
        target = new.__dict__
        target.update(fixed)
        target.update(place)
        for field, plan in plans:
            target[field] = plan(holes, place)
        if is_block and not new.body:
            new.body = [_make_node(gast.Pass, place)]
        return new

    return make


def _variable(value: Any) -> bool:
    return isinstance(value, (str, list)) or (isinstance(value, gast.AST) and bool(value._fields))


def _plan_name(node: gast.Name) -> Plan:
    rename = _plan_node(node)

    def make(holes: dict[str, Hole], place: Place) -> Any:
        found = holes.get(node.id)
        return found if isinstance(found, gast.AST) else rename(holes, place)

    return make


def _plan_list(parts: list[Any]) -> Plan:
    plans = [_plan_statement(part) if isinstance(part, gast.stmt) else _plan_part(part) for part in parts]
    if not parts or not isinstance(parts[0], gast.stmt):
        return lambda holes, place: [plan(holes, place) for plan in plans]
    return lambda holes, place: [stmt for plan in plans for stmt in plan(holes, place)]


def _plan_statement(stmt: Any) -> Plan:
    """How to make the statements that take the place of one: a lone name may be a hole for many."""
    plan = _plan_part(stmt)
    if not (isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Name)):
        return lambda holes, place: [plan(holes, place)]

    def make(holes: dict[str, Hole], place: Place) -> list[Any]:
        filled = holes.get(stmt.value.id)
        if filled is None:
            return [plan(holes, place)]
        if isinstance(filled, list):
            return filled
        return [filled if isinstance(filled, gast.stmt) else _make_node(gast.Expr, place, value=filled)]

    return make


def _make_node(kind: Any, place: Place, **fields: Any) -> Any:
    new = kind(**fields)
    new.__dict__.update(place)
    return new
