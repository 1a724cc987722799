"""Branches and loops run as Python until a test is staged, and then as functions, which the runtime calls.

Before:                             After (`v` is a temporary):
    if x > 0:                           if (v := x > 0) is True:        # how a test is asked: see decide.py
        y = x                               y = x
    else:                               elif v is False:
        y = -x                              y = -x
                                        else:                           # in a function of its own: see lift.py
                                            def body(): nonlocal y; y = x
                                            def orelse(): nonlocal y; y = -x
                                            def set_(values): nonlocal y; (y,) = values
                                            ops.if_(v, body, orelse, lambda: (y,), set_, FACTS)

In a long chain (`elif`) the branches do not repeat the functions of the later ones: they stand once, after all.

So a statement stands there twice, once as it was and once as functions; what is nested in the functions stands there
only as functions. Loops hand over in the middle: a `while` when its test becomes staged, a `for` when its break flag
does. FACTS tells the names, which of them the conversion made, which are live after the statement, and which carried.

A statement with a `yield`, or a jump that had to stay, is pinned: Python drives it, as the runtime decides for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..cfg import TRIES
from ..facts import Changes, Facts
from ..names import Namer
from ..scope import expressions_within, within
from ..template import constant, expression, locate, statements
from .decide import Decision, decide, is_python
from .lift import Later
from .staged_forms import StagedForms
from .tails import ends

_STAY = (gast.Return, gast.Break, gast.Continue, gast.AsyncFor, gast.AsyncWith)
_SHORT = 4  # in a chain of so few branches, each may repeat the functions of the later ones: it runs faster
_PAUSES = (gast.Yield, gast.YieldFrom, gast.Await)


class ControlFlow(StagedForms):
    """Builds the statements of one function anew.

    Arguments:
        body: the function's.
        namer: makes names.
        facts: on the function.
        changes: for each branch and loop, by identity.
        fast: whether Python values get code of their own; without it the code is shorter, for people.
        raises: whether the runtime wants to see each `raise`.
        later: see the lift pass.
    """

    def __init__(
        self,
        body: list[Any],
        namer: Namer,
        facts: Facts,
        changes: dict[int, Changes],
        fast: bool,
        raises: bool,
        later: Later | None = None,
    ) -> None:
        super().__init__(namer, facts, changes, later)
        self.body, self.fast, self.raises, self.notes = body, fast, raises, facts.notes
        self._pinned: dict[int, bool] = {}
        self._entries: dict[int, list[gast.stmt]] = {}  # for members of a chain: what a staged test leads to
        self._ends: dict[int, Callable[[], list[gast.stmt]]] = {}  # for branches: what follows once a test was staged
        self._tails: dict[int, list[gast.stmt]] = {}  # for members of a chain in staged code: the call that runs them
        self._generator = expressions_within(body, _PAUSES)

    def function(self) -> list[gast.stmt]:
        """Return the body of the function, and, before it, what makes its variables local."""
        access = self.facts.access
        names = sorted(access.bound - self.facts.params - set(self.namer.functions))
        if self.fast:  # the user's names are bound by the user's statements
            names = [n for n in names if self.namer.made(n)]
        binders = [s for n in names for s in statements("if False:\n    X = None", self.body[0], X=n)]
        return binders + self._block(self.body, staged=not self.fast)

    def _block(self, body: list[gast.stmt], staged: bool) -> list[gast.stmt]:
        return [new for stmt in body for new in self._statement(stmt, staged)]

    def _statement(self, stmt: Any, staged: bool) -> list[gast.stmt]:
        jump: Any = self.notes.jumps.get(stmt)
        if jump is gast.Return:
            return [stmt] if staged else [locate(gast.Return(value=stmt.value), stmt)]
        if jump is gast.Raise:
            return [stmt] if staged else [self._raise(self.notes.raised[stmt])]
        if jump is not None:
            return [stmt] if staged else [stmt, locate(jump(), stmt)]
        if isinstance(stmt, (gast.If, gast.While, gast.For)) and id(stmt) in self.changes:
            return self._compound(stmt, staged)
        if isinstance(stmt, gast.Raise) and self.raises:
            return [self._raise(stmt)]
        if isinstance(stmt, (gast.With, gast.AsyncWith, gast.AsyncFor, gast.ExceptHandler, *TRIES)):
            return [self._container(stmt, staged)]
        return [stmt]

    def _container(self, stmt: Any, staged: bool) -> Any:
        fields = dict(gast.iter_fields(stmt))
        catches = isinstance(stmt, TRIES)
        self.trying += catches
        for field in ("body", "orelse", "finalbody"):
            if fields.get(field):
                fields[field] = self._block(fields[field], staged)
        self.trying -= catches
        if fields.get("handlers") and self.raises:
            fields["body"] = self._fill("with OPS.catching(lambda: TYPES):\n    BODY", stmt, BODY=fields["body"],
                                        TYPES=self._caught(stmt))  # fmt: skip
        if "handlers" in fields:
            fields["handlers"] = [self._container(handler, staged) for handler in stmt.handlers]
        if fields.get("handlers") and self.raises and isinstance(stmt, gast.Try):
            fields["handlers"].insert(0, self._passing(stmt))
        return locate(type(stmt)(**fields), stmt)

    def _compound(self, stmt: Any, staged: bool) -> list[gast.stmt]:
        method = type(stmt).__name__.lower()
        if self._is_pinned(stmt):
            return getattr(self, f"_{method}_pinned")(stmt)
        return getattr(self, f"_{method}_staged" if staged else f"_{method}_plain")(stmt)

    def _is_pinned(self, stmt: Any) -> bool:
        if id(stmt) not in self._pinned:
            self._pinned[id(stmt)] = within([stmt], _STAY) or self._pauses(stmt)
        return self._pinned[id(stmt)]

    def _pauses(self, stmt: Any) -> bool:
        return self._generator and expressions_within(stmt, _PAUSES)

    # if

    def _if_plain(self, stmt: gast.If) -> list[gast.stmt]:
        if id(stmt) in self._entries:
            return self._if_python(stmt, self._entries[id(stmt)])
        chain = self._members(stmt)
        if len(chain) > _SHORT:
            return self._if_long(stmt, chain)

        def build() -> list[gast.stmt]:
            defs, calls = self._chain(chain, expression("V", stmt, V=self.namer.value))
            return [*defs, *calls[0]]

        after = self._ends.pop(id(stmt), list)
        return self._if_python(stmt, [*self._lifted(build, stmt, self.namer.value), *after()])

    def _if_long(self, stmt: gast.If, chain: list[gast.If]) -> list[gast.stmt]:
        """Return a long chain: the variable `at` tells which of its tests was staged."""
        at = self.namer.new("at")
        self._entries.update({id(m): statements(f"A = {n}", m, A=at) for n, m in enumerate(chain, 1)})

        def build() -> list[gast.stmt]:
            defs, calls = self._chain(chain, expression("V", stmt, V=self.namer.value))
            starts = [statements(f"if A == {n}:\n    CALL", stmt, A=at, CALL=call) for n, call in enumerate(calls, 1)]
            return [*defs, *(s for start in starts for s in start)]

        return [
            *statements("A = 0", stmt, A=at),
            *self._if_python(stmt, self._entries[id(stmt)]),
            *statements("if A:\n    STAGED", stmt, A=at, STAGED=self._lifted(build, stmt, at, self.namer.value)),
        ]

    def _if_python(self, stmt: gast.If, staged: list[gast.stmt]) -> list[gast.stmt]:
        """Return the branch for Python values; `staged` is what to do where the test is staged."""
        body, orelse = self._block(stmt.body, False), self._block(stmt.orelse, False)
        guards = self.notes.guards.get(stmt, [])
        if guards:
            cleared, unset = (self._each(guards, check, stmt, gast.And()) for check in ("is False", "is not True"))
            return self._fill("if CLEARED:\n    BODY\nelif UNSET:\n    STAGED", stmt, CLEARED=cleared, UNSET=unset,
                              BODY=body, STAGED=staged)  # fmt: skip
        if is_python(stmt.test, self.notes):
            return [locate(gast.If(test=stmt.test, body=body, orelse=orelse), stmt)]
        test = decide(stmt.test, self.namer, self.notes)
        if test.steps and not orelse:
            return self._if_alone(stmt, test, body, staged)
        then, rest = (test.ask, body), (test.false, orelse)
        if self._leaves(stmt.body):  # the first test is decided fastest
            then, rest = (test.ask_false, orelse), (test.true, body)
        source = "if ASK:\n    THEN\nelif OTHER:\n    REST\nelse:\n    V = VALUE\n    STAGED"
        return self._fill(source, stmt, ASK=then[0](), THEN=then[1], OTHER=rest[0](), REST=rest[1], VALUE=test.value(),
                          STAGED=staged)  # fmt: skip

    def _if_alone(
        self, stmt: gast.If, test: Decision, body: list[gast.stmt], staged: list[gast.stmt]
    ) -> list[gast.stmt]:
        """Return an `if` without `else`, for Python values."""
        source = """
            if MAYBE:
                if SURELY:
                    BODY
                elif OPEN:
                    V = VALUE
                    STAGED
            """
        maybe, surely, left = test.steps
        return self._fill(source, stmt, MAYBE=maybe(), SURELY=surely(), OPEN=left(), BODY=body, VALUE=test.value(),
                          STAGED=staged)  # fmt: skip

    def _leaves(self, body: list[Any]) -> bool:
        """Whether the statements leave the loop or function: then the branch is likely to be the rarer one."""
        return any(isinstance(s, (gast.Raise, gast.Pass)) or s in self.notes.jumps for s in body)

    def _members(self, stmt: gast.If) -> list[gast.If]:
        """The branch, and those that end its branches, and so on: they can share the functions of the later ones."""
        found, waiting = [], [stmt]
        while waiting:
            member = waiting.pop()
            found.append(member)
            last = [block[-1] for block in (member.body, member.orelse) if block]
            waiting += [s for s in last if isinstance(s, gast.If) and id(s) in self.changes and not self._is_pinned(s)]
        return found

    def _chain(
        self, chain: list[gast.If], known: gast.expr | None = None
    ) -> tuple[list[gast.stmt], list[list[gast.stmt]]]:
        """Return the functions of all members, and for each the call that runs it, on a test whose value is `known`."""
        defs: list[gast.stmt] = []
        parts = []
        for member in chain:
            body, orelse = self.namer.new("body"), self.namer.new("orelse")
            before, state = self._state(member)
            defs += before
            parts.append((body, orelse, state))
        outer = self._tails
        self._tails = outer | {id(m): self._run(m, None, *part) for m, part in zip(chain[1:], parts[1:], strict=True)}
        for member, (body, orelse, _) in zip(chain, parts, strict=True):
            defs += self._inner(body, "", member, member.body) + self._inner(orelse, "", member, member.orelse)
        self._tails = outer
        return defs, [self._run(member, known, *part) for member, part in zip(chain, parts, strict=True)]

    def _run(self, stmt: Any, known: gast.expr | None, body: str, orelse: str, state: Any) -> list[gast.stmt]:
        guards = self.notes.guards.get(stmt, [])
        test = self._going(guards, stmt) if guards else known or stmt.test
        return self._call("if_", stmt, [test, *self._names(stmt, body, orelse)], state)

    def _if_staged(self, stmt: gast.If) -> list[gast.stmt]:
        if id(stmt) in self._tails:
            return self._tails[id(stmt)]
        defs, calls = self._chain(self._members(stmt))
        return [*defs, *calls[0]]

    def _if_masked(self, stmt: Any) -> list[gast.stmt]:
        """Return the condition of a generator expression."""
        *before, last = self._block(stmt.body, False)
        value: Any = last.value
        source = """
            if (V := TEST) is True or V is not False and (V := OPS.masking(V, EMPTY)) is True:
                BODY
            elif V is not False:
                BEFORE
                yield OPS.masked(V, lambda: ELEMENT, EMPTY)
            """
        return self._fill(source, stmt, TEST=stmt.test, BODY=[*before, last], BEFORE=before, ELEMENT=value.value,
                          EMPTY=self.namer.prefix + "empty")  # fmt: skip

    def _if_pinned(self, stmt: gast.If) -> list[gast.stmt]:
        if stmt in self.notes.masked:
            return self._if_masked(stmt)
        guards = self.notes.guards.get(stmt, [])
        test = self._python(self._going(guards, stmt) if guards else stmt.test, "if", stmt)
        body, orelse = self._block(stmt.body, False), self._block(stmt.orelse, False)
        return [locate(gast.If(test=test, body=body, orelse=orelse), stmt)]

    def _python(self, value: gast.expr, what: str, at: gast.AST) -> gast.expr:
        if is_python(value, self.notes):
            return value
        form = (
            "OPS.python(X, WHAT)" if what == "for" else "V if (V := X) is True or V is False else OPS.python(V, WHAT)"
        )
        return expression(form, at, OPS=self.namer.operators, X=value, V=self.namer.value, WHAT=constant(what, at))

    # while

    def _while_plain(self, stmt: Any) -> list[gast.stmt]:
        guards = self.notes.guards.get(stmt, [])
        body = self._block(stmt.body, False)
        if not guards and is_python(stmt.test, self.notes):
            return [locate(gast.While(test=stmt.test, body=body, orelse=[]), stmt)]
        test = decide(stmt.test, self.namer, self.notes)
        first = expression("V", stmt, V=self.namer.value)
        staged = self._lifted(lambda: self._while_staged(stmt, first), stmt, self.namer.value)
        clear = self._each(guards, "is False", stmt, gast.And())
        source = f"""
            while {"CLEAR and" if guards else ""} ASK:
                BODY
            else:
                if {"SET or CLEAR and" if guards else ""} FALSE:
                    pass
                else:
                    V = VALUE {"if CLEAR else OPS.untested" if guards else ""}
                    STAGED
            """
        holes = {"CLEAR": clear, "SET": self._each(guards, "is True", stmt, gast.Or()), "STAGED": staged, "BODY": body}
        return self._fill(source, stmt, ASK=test.ask(), FALSE=test.false(), VALUE=test.value(), **holes)

    def _while_staged(self, stmt: Any, first: gast.expr | None = None) -> list[gast.stmt]:
        guards = self.notes.guards.get(stmt, [])
        test, body = self.namer.new("test"), self.namer.new("body")
        before, state = self._state(stmt)
        asked = test
        guarded: list[gast.stmt] = []
        if guards:
            asked = self.namer.new("test")
            guarded = self._fill("def ASKED():\n    return OPS.and_(GOING, TEST)", stmt, ASKED=asked,
                                 GOING=self._going(guards, stmt), TEST=test)  # fmt: skip
        first = first or expression("OPS.untested", stmt, OPS=self.namer.operators)
        return [
            *self._inner(test, "", stmt, [locate(gast.Return(value=stmt.test), stmt)]),
            *guarded,
            *self._inner(body, "", stmt, stmt.body),
            *before,
            *self._call("while_", stmt, [*self._names(stmt, asked, body)], [*state, first]),
        ]

    def _while_pinned(self, stmt: Any) -> list[gast.stmt]:
        test = self._python(stmt.test, "while", stmt)
        loop = gast.While(test=test, body=self._block(stmt.body, False), orelse=self._block(stmt.orelse, False))
        loop.body = [*loop.body, *self._stops(stmt, "while")]
        return [locate(loop, stmt)]

    def _stops(self, stmt: Any, what: str) -> list[gast.stmt]:
        flags = [expression("F", stmt, F=flag) for flag in self.notes.guards.get(stmt, [])]
        return [s for flag in flags
                for s in self._fill("if FLAG:\n    break", stmt, FLAG=self._python(flag, what, stmt))]  # fmt: skip

    # for

    def _for_plain(self, stmt: Any) -> list[gast.stmt]:
        guards = self.notes.guards.get(stmt, [])
        iterable, handed = self.namer.new("items"), self.namer.new("staged")
        helpers = self.namer.helpers
        names: dict[str, Any] = {
            "ITEMS": iterable,
            "HANDED": handed,
            "TYPE": helpers["type"],
            "PLAIN": helpers["plain"],
        }
        turn = self._turn(stmt, guards, names)
        body = self._block(stmt.body, False)
        source = f"""
            ITEMS = ITERABLE
            HANDED = False if TYPE(ITEMS) in PLAIN else OPS.staged_iterable(ITEMS)
            UNROLL
            if not HANDED:
                {"ITEMS = iter(ITEMS)" if guards else "pass"}
                for TARGET in ITEMS:
                    BODY
                    TURN
            if HANDED:
                STAGED
            ITEMS = None
            """
        source = source.replace("                pass\n", "").replace("iter(", "OPS.iter(")
        items = expression("ITEMS", stmt, ITEMS=iterable)
        staged = self._lifted(lambda: self._for_staged(stmt, items), stmt, iterable)
        unroll = "if HANDED:\n    ITEMS = OPS.elements(ITEMS)\n    HANDED = OPS.staged_iterable(ITEMS)"
        names["UNROLL"] = self._fill(unroll, stmt, **names) if stmt in self.notes.unrolled else []
        return self._fill(source, stmt, ITERABLE=stmt.iter, TARGET=stmt.target, BODY=body, TURN=turn, STAGED=staged,
                          **names)  # fmt: skip

    def _turn(self, stmt: Any, guards: list[str], names: dict[str, Any]) -> list[gast.stmt]:
        """Return the end of an iteration: a check of the flags, unless the branches that may stage one do that."""

        def look() -> list[gast.stmt]:
            set_ = self._each(guards, "is not False", stmt, gast.Or())
            unset = self._each(guards, "is not True", stmt, gast.And())
            return self._fill("if SET:\n    HANDED = UNSET\n    break", stmt, SET=set_, UNSET=unset, **names)

        found = ends(stmt.body, set(guards), self.changes, self.notes, self._is_short)
        if found is None:
            return look()
        self._ends.update({id(branch): look for branch in found})
        return []

    def _is_short(self, stmt: gast.If) -> bool:
        return not (self.notes.guards.get(stmt, []) or self._is_pinned(stmt)) and len(self._members(stmt)) <= _SHORT

    def _for_staged(self, stmt: Any, iterable: gast.expr | None = None) -> list[gast.stmt]:
        guards = self.notes.guards.get(stmt, [])
        body, item = self.namer.new("body"), self.namer.prefix + "item"
        assign = gast.Assign(targets=[stmt.target], value=expression("ITEM", stmt, ITEM=item), type_comment=None)
        before, state = self._state(stmt)
        going = "lambda: GOING" if guards else "None"
        extra = expression(going, stmt, GOING=self._going(guards, stmt) if guards else None)
        return [
            *self._inner(body, item, stmt, [locate(assign, stmt.target), *stmt.body]),
            *before,
            *self._call("for_", stmt, [iterable or self._elements(stmt), *self._names(stmt, body), extra], state),
        ]

    def _for_pinned(self, stmt: Any) -> list[gast.stmt]:
        iterable = self._python(self._elements(stmt), "for", stmt)
        body = [*self._block(stmt.body, False), *self._stops(stmt, "for")]
        orelse = self._block(stmt.orelse, False)
        loop = gast.For(target=stmt.target, iter=iterable, body=body, orelse=orelse, type_comment=None)
        return [locate(loop, stmt)]
