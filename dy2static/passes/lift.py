"""Code that only staged values reach becomes a function of its own, which is given the variables and gives them back.

Before:                             After:
    elif v is not False:                elif v is not False:
        def body(): nonlocal y; ...         def staged(v, x, y):
        ops.if_(v, body, ...)                   def body(): nonlocal y; ...
                                                ops.if_(v, body, ...)
                                                return (y,)
                                            (y,) = staged(v, **ops.bound(locals(), ("x", "y")))

Inner functions make the variables that they share slow (cells). So the variables of the user's function stay local
ones, and Python values run at nearly plain speed. Those that the user's own inner functions share are cells anyway, and
are not handed over.
"""

from __future__ import annotations

from typing import Any

import gast

from ..facts import Changes
from ..names import Namer
from ..scope import Access
from ..template import constant, expression, locate, name, statements


def lifted(body: list[Any], changes: Changes, extra: list[str], namer: Namer, at: gast.AST) -> list[gast.stmt]:
    """The statements that call a new function with this body.

    Arguments:
        body: the code to move.
        changes: the variables that it touches and changes.
        extra: temporaries that it reads.
        namer: makes names.
        at: the statement that the code belongs to.
    """
    back = [n for n in changes.names if n in changes.touched]
    result = locate(gast.Tuple([name(n, at) for n in back], gast.Load()), at)
    (made,) = statements("def F():\n    BODY\n    return RESULT", at, F=namer.new("staged"), BODY=body, RESULT=result)
    made.args.args = [gast.Name(n, gast.Param(), None, None) for n in (*extra, *changes.touched)]
    call = expression("F(**OPS.bound(OPS.locals(), NAMES))", at, F=made.name, OPS=namer.operators,
                      NAMES=constant(changes.touched, at))  # fmt: skip
    call.args = [name(n, at) for n in extra]
    if not back:
        return [made, locate(gast.Expr(value=call), at)]
    target = locate(gast.Tuple([name(n, at, gast.Store()) for n in back], gast.Store()), at)
    return [made, locate(gast.Assign(targets=[target], value=call, type_comment=None), at)]


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
