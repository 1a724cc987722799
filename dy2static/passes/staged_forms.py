"""Helpers of the staged forms of branches and loops: bodies as functions, and the state that they change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..facts import Changes, Facts
from ..names import Namer
from ..template import constant, declare, expression, locate, statements
from .lift import Later, lift_into_function


class StagedForms:
    """Makes the parts of a staged statement.

    Arguments:
        namer: makes names.
        facts: on the function.
        changes: for each branch and loop, by identity.
        later: see the lift pass.
    """

    def __init__(self, namer: Namer, facts: Facts, changes: dict[int, Changes], later: Later | None) -> None:
        self.namer, self.facts, self.changes, self.later = namer, facts, changes, later

    trying = 0  # `try` statements around, whose handlers read what the variables are when something is raised

    def _block(self, body: list[Any], staged: bool) -> list[gast.stmt]:
        raise NotImplementedError

    def _fill(self, source: str, at: gast.AST, **holes: Any) -> list[gast.stmt]:
        return statements(source, at, OPS=self.namer.operators, V=self.namer.value, **holes)

    def _lifted(self, body: Callable[[], list[Any]], at: gast.stmt, *extra: str) -> list[gast.stmt]:
        if self.trying:
            return body()
        return lift_into_function(body, self.changes[id(at)], list(extra), self.namer, self.later, at)

    def _inner(self, name: str, parameter: str, at: gast.stmt, body: list[Any]) -> list[gast.stmt]:
        """Return a function of the statement's own, which acts on the variables of the user's function."""
        head = declare(self.changes[id(at)].names, self.facts.globals, at)
        return statements(f"def F({'P' if parameter else ''}):\n    BODY", at, F=name, P=parameter,
                          BODY=head + self._block(body, True))  # fmt: skip

    def _names(self, at: gast.AST, *identifiers: str) -> list[gast.expr]:
        return [expression("F", at, F=identifier) for identifier in identifiers]

    def _call(self, method: str, at: gast.stmt, args: list[gast.expr], state: list[gast.expr]) -> list[gast.stmt]:
        call = expression(f"OPS.{method}()", at, OPS=self.namer.operators)
        call.args = [*args, *state]
        return [locate(gast.Expr(value=call), at)]

    def _state(self, at: gast.stmt) -> tuple[list[gast.stmt], list[gast.expr]]:
        """Statements that define the setter, and the arguments that describe the variables."""
        changes = self.changes[id(at)]
        setter = self.namer.new("set")
        before = self._setter(setter, changes.names, at)
        facts = (changes.names, tuple(map(self.namer.made, changes.names)), changes.live_out, changes.carried)
        slots = [self._slot(place, at) for place in changes.composites]
        slots_thunk = expression("lambda: X" if slots else "None", at, X=_tuple(slots, at))
        getter = expression("lambda: X", at, X=_tuple([self._get(n, changes, at) for n in changes.names], at))
        return before, [getter, expression("F", at, F=setter), constant(facts, at), slots_thunk]

    def _setter(self, setter: str, names: tuple[str, ...], at: gast.stmt) -> list[gast.stmt]:
        targets = [locate(gast.Name(n, gast.Store(), None, None), at) for n in names]
        pattern = locate(gast.Tuple(targets, gast.Store()), at)
        values = expression("P", at, P=self.namer.prefix + "values")
        assign = locate(gast.Assign(targets=[pattern], value=values, type_comment=None), at)
        body = [*declare(names, self.facts.globals, at), *([assign] if names else [])]
        return statements("def F(P):\n    BODY", at, F=setter, P=values.id, BODY=body)

    def _get(self, name: str, changes: Changes, at: gast.stmt) -> gast.expr:
        certain = name not in changes.uncertain
        return expression("X" if certain else "OPS.peek(lambda: X)", at, X=name, OPS=self.namer.operators)

    def _slot(self, place: Any, at: gast.stmt) -> gast.expr:
        holes = {"OPS": self.namer.operators, "NAME": constant(place.name, at), "O": place.obj}
        if isinstance(place.key, str):
            return expression("OPS.attribute(NAME, lambda: O, KEY)", at, KEY=constant(place.key, at), **holes)
        return expression("OPS.item(NAME, lambda: O, lambda: KEY)", at, KEY=place.key, **holes)

    def _each(self, flags: list[str], check: str, at: gast.AST, op: gast.boolop) -> gast.expr:
        """`flag CHECK and ...`, or the same with `or`"""
        parts = [expression(f"F {check}", at, F=flag) for flag in flags]
        return parts[0] if len(parts) == 1 else locate(gast.BoolOp(op, parts), at)

    def _going(self, guards: list[str], at: gast.AST) -> gast.expr:
        """That no flag is set, as a value which may be staged."""
        flags = [expression("F", at, F=flag) for flag in guards]
        union = flags[-1]
        for flag in flags[-2::-1]:
            union = expression("OPS.or_(A, lambda: B)", at, OPS=self.namer.operators, A=flag, B=union)
        return expression("OPS.not_(U)", at, OPS=self.namer.operators, U=union)

    def _elements(self, stmt: gast.For) -> gast.expr:
        if stmt not in self.facts.notes.unrolled:
            return stmt.iter
        return expression("OPS.elements(X)", stmt, OPS=self.namer.operators, X=stmt.iter)

    def _raise(self, stmt: gast.Raise) -> gast.stmt:
        exc = stmt.exc or expression("OPS.current()", stmt, OPS=self.namer.operators)
        call = expression("OPS.raise_(X)", stmt, OPS=self.namer.operators, X=exc)
        call.args += [stmt.cause] if stmt.cause is not None else []
        return locate(gast.Return(value=call), stmt)

    def _caught(self, stmt: Any) -> gast.expr:
        """Return what the handlers of a `try` catch."""
        every = [h.type or expression("OPS.anything", stmt, OPS=self.namer.operators) for h in stmt.handlers]
        return locate(gast.Tuple(every, gast.Load()), stmt)

    def _passing(self, stmt: Any) -> gast.ExceptHandler:
        """Return a first handler that lets through what the runtime raises to steer the conversion."""
        kinds = expression("OPS.signals", stmt, OPS=self.namer.operators)
        return locate(gast.ExceptHandler(type=kinds, name=None, body=[locate(gast.Raise(None, None), stmt)]), stmt)


def _tuple(elements: list[gast.expr], at: gast.AST) -> gast.expr:
    return locate(gast.Tuple(elements, gast.Load()), at)
