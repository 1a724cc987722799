"""A `raise` under a condition in a `try` becomes an assignment, as other jumps do; the handlers then stand once more.

Before:                             After:
    try:                                raised = False
        if x < 0:                       try:
            raise KeyError(x)               if x < 0:       # Python values raise, as before
        y = f(x)                                error = ops.packed(KeyError(x)); raised = True
    except KeyError as e:                   if not raised:
        y = e.args[0]                           y = f(x)
                                        except KeyError as e:
                                            y = e.args[0]
                                        if raised:
                                            try:
                                                raise ops.unpacked(error)
                                            except KeyError as e:
                                                y = e.args[0]
                                            except BaseException:
                                                raise ops.current()

A `finally` then stands around all of it. What a function raises that is called in the `try` is Python's.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import gast

from ..names import Namer
from ..notes import Notes
from ..scope import within
from ..template import expression, locate, statements
from .hoist import Statements


class Site(NamedTuple):
    """A `raise` that has become an assignment: the flag that says so, and the variable that has the exception."""

    flag: str
    error: str
    at: gast.stmt


class RaisingTry:
    """A `try` with handlers, while its body is rewritten.

    Attributes:
        sites: what raises in it under a condition.
        depth: how many branches and loops of it are around.
    """

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.depth = 0


def raised(stmt: gast.Raise, site: Site, namer: Namer, notes: Notes) -> gast.stmt:
    """Return the assignment in the place of a `raise`."""
    value = stmt.exc or expression("OPS.current()", stmt, OPS=namer.operators)
    call = expression("OPS.packed(X)", stmt, OPS=namer.operators, X=value)
    call.args += [stmt.cause] if stmt.cause is not None else []
    (keep,) = statements("E = X", stmt, E=site.error, X=call)
    notes.jumps[keep], notes.raised[keep] = gast.Raise, stmt
    return keep


def again(site: Site, handlers: list[Any], namer: Namer) -> gast.stmt:
    """Return the handlers, for what an assignment has kept."""
    at = site.at
    (raising,) = statements("raise OPS.unpacked(E)", at, OPS=namer.operators, E=site.error)
    if all(h.type is not None for h in handlers):
        other = statements("raise OPS.current()", at, OPS=namer.operators)
        base = expression("OPS.anything", at, OPS=namer.operators)
        handlers = [*handlers, locate(gast.ExceptHandler(type=base, name=None, body=other), at)]
    attempt = locate(gast.Try(body=[raising], handlers=handlers, orelse=[], finalbody=[]), at)
    return locate(gast.If(test=expression("F", at, F=site.flag), body=[attempt], orelse=[]), at)


def asserted(stmt: gast.Assert) -> gast.If:
    """Return an `assert` as the `raise` that it is."""
    error = expression("AssertionError()", stmt)
    error.args = [] if stmt.msg is None else [stmt.msg]
    test = locate(gast.UnaryOp(gast.Not(), stmt.test), stmt)
    return locate(gast.If(test=test, body=[locate(gast.Raise(exc=error, cause=None), stmt)], orelse=[]), stmt)


class Suppressions(Statements):
    """`with suppress(...)` around a `raise` becomes the `try` that it is."""

    def visit_With(self, node: Any) -> Any:
        self.nested(node)
        call = node.items[0].context_expr if len(node.items) == 1 else None
        named = getattr(call.func, "attr", getattr(call.func, "id", "")) if isinstance(call, gast.Call) else ""
        if named != "suppress" or not within(node.body, (gast.Raise, gast.Assert)):
            return node
        source = """
            with OPS.entered(M):
                try:
                    BODY
                except OPS.suppressed(M):
                    pass
            """
        manager = self.namer.new("manager")
        (made,) = statements(source, node, OPS=self.namer.operators, M=manager, BODY=node.body)
        made.items[0].context_expr.args = [expression("(M := X)", call, M=manager, X=call)]
        made.items[0].optional_vars = node.items[0].optional_vars
        return made


def copied(handlers: list[Any], notes: Notes) -> list[Any]:
    """Handlers once more, with what is noted of them."""
    made = copy.deepcopy(handlers)
    for old, new in zip(handlers, made, strict=True):
        for a, b in zip(gast.walk(old), gast.walk(new), strict=True):
            notes.copy(a, b)
    return made
