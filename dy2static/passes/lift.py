"""Code that only staged values reach becomes a function of its own, which is given the variables and gives them back.

Before:                             After:
    else:                               else:
        def body(): nonlocal y; ...         def staged(v, x, y):
        ops.if_(v, body, ...)                   def body(): nonlocal y; ...
                                                ops.if_(v, body, ...)
                                                return (y,)
                                            (y,) = staged(**ops.bound(locals(), ("v", "x", "y")))

Inner functions make the variables that they share slow (cells). So the variables of the user's function stay local
ones, and Python values run at nearly plain speed. Those that the user's own inner functions share are cells anyway, and
are not handed over. Where there are none, the function is not even compiled before a staged value comes along: it is
`later(number)` instead of `staged`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..facts import Changes
from ..names import Namer
from ..scope import Access
from ..template import constant, expression, locate, name, statements

Later = list[Callable[[], gast.FunctionDef]]


def lift_into_function(
    body: Callable[[], list[Any]], changes: Changes, extra: list[str], namer: Namer, later: Later | None, at: gast.AST
) -> list[gast.stmt]:
    """Return the statements that call a new function.

    Arguments:
        body: makes the code to move.
        changes: the variables that it touches and changes.
        extra: temporaries that it may read.
        namer: makes names.
        later: the functions that are compiled when they are called for; None to have all at once.
        at: the statement that the code belongs to.
    """
    back = [n for n in changes.names if n in changes.touched]
    names = (*extra, *changes.touched)

    def make() -> Any:
        result = locate(gast.Tuple([name(n, at) for n in back], gast.Load()), at)
        (made,) = statements("def F():\n    BODY\n    return RESULT", at, F=namer.new("staged"), BODY=body(),
                             RESULT=result)  # fmt: skip
        made.args.args = [gast.Name(n, gast.Param(), None, None) for n in names]
        return made

    if later is None or changes.shared:
        made = make()
        before, function = [made], name(made.name, at)
    else:
        before, function = [], expression("LATER(N)", at, LATER=namer.helpers["later"], N=constant(len(later), at))
        later.append(make)
    return [*before, _call(function, names, back, namer, at)]


def _call(function: gast.expr, names: tuple[str, ...], back: list[str], namer: Namer, at: gast.AST) -> Any:
    call = expression("F(**OPS.bound(OPS.locals(), NAMES))", at, F=function, OPS=namer.operators,
                      NAMES=constant(names, at))  # fmt: skip
    if not back:
        return locate(gast.Expr(value=call), at)
    target = locate(gast.Tuple([name(n, at, gast.Store()) for n in back], gast.Store()), at)
    return locate(gast.Assign(targets=[target], value=call, type_comment=None), at)


def thunk(node: gast.expr, handed: set[str]) -> gast.expr:
    """`lambda: node`, which is given the values of the variables `handed`."""
    access = Access(node)
    names = sorted((handed & access.read) - access.written)
    if not names:
        return expression("lambda: X", node, X=node)
    made: Any = expression("(lambda: lambda: X)()", node, X=node)
    made.func.args.args = [gast.Name(n, gast.Param(), None, None) for n in names]
    made.args = [name(n, node) for n in names]
    return made
